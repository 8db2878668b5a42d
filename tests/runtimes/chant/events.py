"""Events of a run with what a test doesn't care about filled in."""

from __future__ import annotations

from typing import Any

from ops.events import StepSettled

RUN_ID = "20261130-101500123-9f3a2c1b"


def settled(status: Any = "ok", **given: Any) -> StepSettled:
    """Step ``pack`` of phase Build, settled."""
    usual: dict[str, Any] = {
        "run_id": RUN_ID,
        "step_id": "pack",
        "seq": 7,
        "time": 0.0,
        "phase": "Build",
        "fn": "shell",
        "title": "Build / shell",
        "args": {"cmd": "make"},
        "status": status,
        "attempts": 1,
        "duration_ms": 40,
        "exit_code": None,
        "error": None,
        "outcomes": {},
        "approval": None,
        "output": {},
        "output_digest": "",
        "output_bytes": 0,
        "compensates": False,
    }
    return StepSettled(**{**usual, **given})
