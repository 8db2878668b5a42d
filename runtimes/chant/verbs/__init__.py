"""The verbs of chant, one a file, and the table of them all."""
