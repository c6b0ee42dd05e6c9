"""How a move is chosen in the graph, and what a finished simulation teaches the graph."""
