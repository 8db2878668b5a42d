"""Stewards as documents and text: their declaration, and what they wait on."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from ops.ledger import NoLedger, open_ledger
from ops.project import choose_environment
from runtimes.chant.waiting import open_gates, open_questions, waiting_runs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ops.ledger import Ledger
    from ops.project import Project, Steward


def steward_document(project: Project, steward: Steward) -> dict[str, Any]:
    """Return a steward's declaration and the runs of its own that stopped, with a reason."""
    env = steward.environment or choose_environment(project, None)
    opened = open_ledger(project.root, project.ledger)
    waiting = [] if isinstance(opened, NoLedger) else _waiting(opened, env)
    return {
        "name": steward.name,
        "environment": env,
        "ops": list(steward.ops),
        "capabilities": list(steward.capabilities),
        "schedule": [{"op": op, "cron": cron} for op, cron in steward.schedule],
        "waiting": [each for each in waiting if each["steward"] == steward.name],
    }


def _waiting(ledger: Ledger, env: str) -> list[dict[str, Any]]:
    gates, questions = open_gates(ledger, env, time.time()), open_questions(ledger)
    return waiting_runs(ledger.newest_of_each(env), gates, questions)


def steward_lines(document: Mapping[str, Any]) -> Iterator[str]:
    """Return a steward for people."""
    yield f"{document['name']} in {document['environment']}"
    for name in ("ops", "capabilities"):
        yield f"  {name}: {', '.join(document[name]) or 'none'}"
    for each in document["schedule"]:
        yield f"  schedule: {each['op']} at {each['cron']}"
    for each in document["waiting"]:
        yield f"  waits: {each['op']} {each['status']} at {each['at']} since {each['since']}"
