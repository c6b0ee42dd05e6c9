"""Games between planners, and the statistics of their results."""
