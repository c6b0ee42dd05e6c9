"""Selections: kernels that choose actions and back values up."""
