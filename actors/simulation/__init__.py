"""The deterministic runtime: the same actors, one task at a time, on a clock that jumps.

One seed is one trace.  Nothing here is imported by a server.
"""
