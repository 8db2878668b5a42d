"""The measurements of coding agents, each in front of a model that answers at once."""
