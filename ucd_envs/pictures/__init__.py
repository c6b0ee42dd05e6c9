"""Boards as text and pixels."""
