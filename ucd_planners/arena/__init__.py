"""Where planners meet: games between them, and what the results say."""
