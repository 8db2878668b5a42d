"""``chant approve OP GATE``: open a gate that a run stopped at, or shut it for good."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runtimes.chant.verbs.verb import (
    OK,
    REFUSED,
    USAGE,
    Flag,
    Invocation,
    Outcome,
    Param,
    Surroundings,
    Verb,
)

if TYPE_CHECKING:
    from ops.gate_facts import Verdict
    from ops.gate_ledger import Answered
    from ops.gates import GateAnswer

PLACEHOLDER = "<you>"
"""What the line that a run prints has in place of a name."""


def answer(invocation: Invocation, around: Surroundings) -> Outcome:
    """Record what someone says of a gate."""
    import time

    from runtimes.chant.answer_gate import answer_gate

    given = answer_of(invocation, around)
    answered = answer_gate(around.cwd, around.environ, given, time.time(), stop=around.cancel)
    return Outcome(OK, document(answered), text(answered), answered.warnings)


def answer_of(invocation: Invocation, around: Surroundings) -> GateAnswer:
    """Read the words into an answer.

    Raises:
        ParamInvalid: Two flags exclude each other, or a value can't be used.

    """
    from ops.gates import GateAnswer
    from ops.step_env import channel_of

    channel = channel_of(around.environ)
    return GateAnswer(
        op=invocation.param("OP"),
        gate=invocation.param("GATE"),
        verdict=_verdict(invocation),
        approver=_approver(invocation, around),
        channel=channel,
        attested=channel == "cli",
        env=invocation.value("--env"),
        run_id=invocation.value("--run"),
        note=invocation.value("--note") or "",
        url=_url(invocation.value("--url") or ""),
    )


def document(answered: Answered) -> dict[str, Any]:
    """Return what --json prints."""
    from ops.gates import run_command, with_standing

    pending, standing = answered.pending, answered.standing
    return {
        "answer": dict(answered.line),
        "gate": with_standing(pending, standing),
        "state": standing.state,
        "missing": max(0, pending.quorum - len(standing.approvals)),
        "run": run_command(pending.op, pending.env, pending.row.get("params")),
        "pushed": answered.pushed,
    }


def text(answered: Answered) -> str:
    """Say what was recorded and what comes next."""
    shown, pending = document(answered), answered.pending
    gate = f"gate {pending.gate} of {pending.op} in {pending.env}"
    asked = f"asked by run {pending.run_id}"
    by = answered.line["approver"]
    match answered.standing.state:
        case "approved":
            return f"{gate} is open, approved by {by} ({asked})\nnext: {shown['run']}"
        case "pending":
            count = f"{len(shown['gate']['approvals'])} of {pending.quorum}"
            return f"{gate} is approved by {by} ({asked}); {count} people so far"
        case state:
            return f"{gate} is {state} by {by} ({asked}); a run that comes to it asks again"


def _verdict(invocation: Invocation) -> Verdict:
    from ops.errors import ParamInvalid

    if invocation.on("--reject") and invocation.on("--expire"):
        message = "--reject and --expire exclude each other"
        raise ParamInvalid(message)
    if invocation.on("--reject"):
        return "rejected"
    return "expired" if invocation.on("--expire") else "approved"


def _approver(invocation: Invocation, around: Surroundings) -> str:
    from ops.errors import ParamInvalid
    from ops.facts import actor_of

    given = invocation.value("--approver")
    name = actor_of(around.environ) if given is None else given.strip()
    if not name or name == PLACEHOLDER or not name.isprintable():
        message = f"--approver needs a name, not {(given or '')[:80]!r}"
        raise ParamInvalid(message)
    return name


def _url(url: str) -> str:
    from urllib.parse import urlsplit

    from ops.errors import ParamInvalid

    try:
        parts = urlsplit(url)
        usable = not url or (parts.scheme in {"http", "https"} and bool(parts.hostname))
    except ValueError:
        usable = False
    if not usable:
        message = f"--url needs an absolute http or https address, not {url[:80]!r}"
        raise ParamInvalid(message)
    return url


APPROVE = Verb(
    path=("approve",),
    summary="Open a gate that a run stopped at, reject it, or let it expire",
    handler=answer,
    document=(
        '{"answer": the recorded fact, "gate": the pending fact with its "approvals", "state":'
        ' "pending"|"approved"|"rejected"|"expired", "missing": people still needed, "run": the'
        ' line that comes next, "pushed"}'
    ),
    params=(
        Param("OP", "the Op whose run stopped"),
        Param("GATE", "the gate that it stopped at"),
    ),
    own_flags=(
        Flag("--approver", "who says so; your login name when absent", "NAME"),
        Flag("--note", "why, kept with the answer", "TEXT"),
        Flag("--url", "where it was discussed, kept with the answer", "URL"),
        Flag("--reject", "shut the gate until a run asks again"),
        Flag("--expire", "end the question without a verdict, an unused approval too"),
        Flag("--env", "the environment; needed when the gate waits in several", "ENV"),
        Flag("--run", "the run that asked; needed when it waits with several parameters", "ID"),
    ),
    exit_codes=(OK, USAGE, REFUSED),
)
