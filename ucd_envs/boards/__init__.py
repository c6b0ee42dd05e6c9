"""What games of stones on a square grid share: chains, superko, and how points are written."""
