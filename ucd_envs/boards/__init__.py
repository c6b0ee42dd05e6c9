"""Mechanics of boards, which know no game: geometry, names, and kernels such as chains, rings, rotations and mills."""
