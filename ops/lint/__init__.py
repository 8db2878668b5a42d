"""Lint: what is suspicious in a project's declarations, as findings with rule ids."""
