"""Benchmarks of games, planners and environments."""
