"""Board kernels that several games share: chains, superko, rings, hexagons, and names of points."""
