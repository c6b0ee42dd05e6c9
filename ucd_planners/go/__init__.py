"""Knowledge of Go for playouts and untried moves."""
