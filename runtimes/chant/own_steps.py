"""What a run calls its own steps and timers.  No Op can use such names: ids have no brackets."""

from __future__ import annotations

MARK = "(mark compensation)"
GATE = "(gate) "
"""Looks a gate up; the gate's step follows."""
POINT = "(point) "
"""Asks a point, or writes its answer down; the point's step follows."""

MODEL_KEY = "model:"
"""Timers that end a call which takes too long; the call follows."""
