"""One file a game; each reads like its rulebook."""
