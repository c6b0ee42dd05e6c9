"""Games, one file each, which begins with its rulebook."""
