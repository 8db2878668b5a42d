"""Completion scripts for shells, made from the verb table."""
