"""Exports and pictures of searched graphs."""
