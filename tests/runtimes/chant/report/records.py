"""Records of runs for reports: one that failed and was rolled back, with hostile values."""

from __future__ import annotations

from typing import Any

EVIL = '<img src="https://evil.example/x" onerror=alert(1)>"\'`|*'


def step(
    step_id: str, status: str = "ok", *, start_ms: int | None = 0, **more: Any
) -> dict[str, Any]:
    ran = start_ms is not None
    return {
        "id": step_id,
        "fn": "shell",
        "status": status,
        "attempts": int(ran),
        "start_ms": start_ms,
        "duration_ms": 1000 if ran else 0,
        "exit_code": None,
        "error": None,
        "outcome": None,
        "approval": None,
        **more,
    }


def failed_run() -> dict[str, Any]:
    approval = {"by": [{"approver": "ann"}, {"approver": "bob"}]}
    return {
        "version": 1,
        "id": "20261130-101500123-9f3a2c1b",
        "op": "release",
        "env": "prod",
        "actor": EVIL,
        "origin": "cli",
        "steward": None,
        "host": "box",
        "git": {"commit": "0123456789abcdef", "dirty": True},
        "params": {"version": EVIL},
        "started": "2026-11-30T10:15:00.123Z",
        "ended": "2026-11-30T10:15:10.123Z",
        "status": "fail",
        "compensation": "ok",
        "labels": {"team": "box"},
        "outcomes": {"artifact": "box.tar.gz"},
        "failure": {
            "kind": "fail",
            "error": EVIL,
            "step_id": "copy",
            "phase": "Deploy",
            "fn": "shell",
            "exit_code": 7,
        },
        "phases": [
            {
                "name": "Build",
                "status": "ok",
                "on_failure": False,
                "steps": [
                    step("pack", duration_ms=4000),
                    step("test", start_ms=4000, duration_ms=2000, attempts=2),
                ],
            },
            {
                "name": "Deploy",
                "status": "fail",
                "on_failure": False,
                "steps": [
                    step("ask", start_ms=6000, duration_ms=0, approval=approval),
                    step("copy", "fail", start_ms=6000, duration_ms=2000, error=EVIL),
                    step("tell", "skipped", start_ms=None),
                ],
            },
            {
                "name": "Rollback",
                "status": "ok",
                "on_failure": True,
                "steps": [step("undo", start_ms=8000, duration_ms=2000)],
            },
        ],
        "gate": None,
        "point": None,
        "not_run": [],
    }
