"""What the model may do: one tool a file, all of them behind `base.Tool`."""
