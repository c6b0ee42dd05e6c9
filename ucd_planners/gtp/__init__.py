"""GTP, the Go Text Protocol: planners as engines, and other programs as opponents."""
