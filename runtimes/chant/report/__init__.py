"""Reports of a run, made from its record alone."""
