"""Sentences that every reader of a run sees alike, in a session and on a terminal.  Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ops.durations import format_duration

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.events import GatePending, PointWaiting, StepRetrying, StepSettled

SECONDS_A_MINUTE = 60

GATE_FACTS = {
    "description": "description",
    "because": "asked again",
    "run_id": "asked by run",
    "since": "since",
    "expires": "expires",
}
"""What people are told of a pending fact, if it is there, and how it is called."""


def retry_text(event: StepRetrying) -> str:
    """Say that an attempt failed and when the next one comes."""
    delay = format_duration(event.delay_s)
    return f"{event.error}; attempt {event.attempt} in {delay}"


def settled_text(event: StepSettled) -> str:
    """Say in one line how a step ended; empty when there is nothing to add to its status."""
    tries = f" after {event.attempts} attempts" if event.attempts > 1 else ""
    match event.status:
        case "ok":
            return f"ok{tries}" if tries else ""
        case "fail":
            return (event.error or "failed") + tries
        case "cancelled":
            return "cancelled"
        case "skipped":
            return "skipped"
        case "not_reached":
            return "not reached"
        case "gated":
            return "waiting at the gate"
        case "waiting":
            return "waiting for an answer"


def gate_text(event: GatePending) -> str:
    """Say what is known of a closed gate and the line that opens it."""
    op = event.fact.get("op", "<op>")
    lines = gate_lines(event.gate, event.fact)
    return "\n".join([*lines, approve_line(op, event.gate)]) + "\n"


def gate_lines(gate: str, fact: Mapping[str, Any]) -> list[str]:
    """Say what is known of a closed gate."""
    op, env = fact.get("op", "<op>"), fact.get("env")
    where = f" in {env}" if env else ""
    lines = [f"gate {gate} of {op}{where} is closed; this run stops here"]
    lines += [f"{said}: {fact[name]}" for name, said in GATE_FACTS.items() if fact.get(name)]
    approvals: list[str] = fact.get("approvals") or []
    quorum: int = fact.get("quorum", 1)
    if quorum > 1:
        by = f" ({', '.join(approvals)})" if approvals else ""
        lines.append(f"approvals: {len(approvals)} of {quorum}{by}")
    if roles := fact.get("roles"):
        lines.append(f"roles: {' or '.join(roles)}")
    return lines


def approve_line(op: str, gate: str) -> str:
    """Return what a person types to open a gate."""
    return f"chant approve {op} {gate} --approver <you>"


def point_text(event: PointWaiting) -> str:
    """Say the open question, what is known of it, and the line that answers it."""
    fact = event.fact
    asked = fact.get("title") or fact.get("question") or event.point
    lines = [f"open question: {asked}"]
    if fact.get("question") and fact["question"] != asked:
        lines.append(f"instructions: {fact['question']}")
    if fact.get("inputs"):
        given = ", ".join(f"{name} = {value}" for name, value in fact["inputs"].items())
        lines.append(f"inputs: {given}")
    if fact.get("steward"):
        lines.append(f"asked by: steward {fact['steward']}")
    lines += [_decider_text(each) for each in fact.get("deciders", ()) if each["kind"] == "model"]
    votes, wanted = fact.get("votes") or (), fact.get("quorum", {}).get("count", 1)
    if votes:
        lines.append(f"answered so far: {', '.join(votes)} ({len(votes)} of {wanted})")
    lines.append(answer_line(fact))
    return "\n".join(lines) + "\n"


def answer_line(fact: Mapping[str, Any]) -> str:
    """Return the line that answers a question, with its possible answers."""
    possible = "|".join(str(each) for each in fact.get("candidates", ())) or "value"
    known = fact.get("id", "<id>")
    return f"chant workspace points answer {known} --answer <{possible}> --by <you>"


def _decider_text(line: Mapping[str, Any]) -> str:
    """Say what came of asking a model."""
    model = f"{line['model']} at {line['provider']}"
    match line["outcome"]:
        case "proposed":
            why = f": {line['reason']}" if line.get("reason") else ""
            return f"proposed by {model}: {line['answer']} ({line['confidence']:.0%} sure){why}"
        case "not sure enough":
            said = f"{line['answer']} ({line['confidence']:.0%} sure)"
            return f"{model} is not sure enough: {said}, {line['threshold']:.0%} is asked for"
        case _:
            return f"{model} was not asked: {line['reason']}"


def verdict_text(record: Mapping[str, Any], took: str = "") -> str:
    """Say in one line how a run ended and why; ``took`` is put behind what happened."""
    op, status = record["op"], record["status"]
    compensation = record.get("compensation", "none")
    cleaned = "" if compensation == "none" else f"; clean-up: {compensation}"
    match status:
        case "ok":
            return f"{op} is done{took}"
        case "fail":
            return f"{op} failed{took}{_cause(record.get('failure'))}{cleaned}"
        case "gated":
            return f"{op} waits at a gate"
        case "waiting":
            return f"{op} waits for an answer"
        case _:
            return f"{op} was {status}{took}{cleaned}"


def duration_text(milliseconds: int) -> str:
    """Write a duration as people read it: ``40 ms``, ``1.3 s``, ``2 m 05 s``."""
    seconds = milliseconds / 1000
    if seconds < 1:
        return f"{milliseconds} ms"
    if seconds < SECONDS_A_MINUTE:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), SECONDS_A_MINUTE)
    return f"{minutes} m {rest:02d} s"


def _cause(failure: Mapping[str, Any] | None) -> str:
    if not failure:
        return ""
    if not failure.get("fn"):
        return f": {failure['error']}"
    step = f"{failure['phase']} / {failure['fn']} ({failure['step_id']})"
    return f" at {step}: {failure['error']}"
