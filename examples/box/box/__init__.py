"""A service that knows which boxes are in stock."""
