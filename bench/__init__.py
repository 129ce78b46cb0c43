"""Measures speed and memory: `python -m bench` runs every `bench_*.py`, `python -m bench scoring` one of them."""
