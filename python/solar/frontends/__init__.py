"""Frontends: one package per framework."""
