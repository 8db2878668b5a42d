"""What both products use to call a model.  Knows neither of them."""
