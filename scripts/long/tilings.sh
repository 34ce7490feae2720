#!/usr/bin/env bash
# tilings.sh [NESTS]: traffic curves of random small einsums against every tiling, an integer program and a simulator;
# 2,000 of each kind unless given.
set -u
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/built.sh"
SOLAR_TILINGS=${1:-2000} exec build/ci/solar_bound_test --gtest_filter='Curve.*ExhaustiveSearchAndReplay'
