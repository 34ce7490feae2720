"""The Python side of solar: tracers, and workers that run the user's program."""
