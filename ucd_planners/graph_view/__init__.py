"""Searched graphs for other programs, and their pictures."""
