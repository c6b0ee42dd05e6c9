"""Files of game records."""
