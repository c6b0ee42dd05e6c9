"""Tournaments, ratings with intervals, and the rated ladder."""
