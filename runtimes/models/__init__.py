"""Calling models: what both chant's deciders and radian use."""
