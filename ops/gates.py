"""The rules of gates: what lets a run through, and what answers are taken.  Pure.

No proof, no passage.  An approval answers one pending fact, which binds the Op as it was declared,
its parameters and the environment.  The run that walks through uses it up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ops.errors import OpsError
from ops.gate_book import has_role, person
from ops.gate_facts import FACT_VERSION
from ops.run_id import timestamp

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ops.gate_book import GateBook, Standing
    from ops.gate_facts import GateAsk, Pending, Verdict
    from ops.run_values import Origin

NOTHING_PENDING = "nothing-pending"
EXPIRED = "expired"
AMBIGUOUS = "ambiguous"
SAME_ORIGIN = "same-origin"
ROLE_MISSING = "role-missing"
ALREADY_APPROVED = "already-approved"
IN_STEWARD_TURN = "gate-in-steward-turn"
"""Why an answer is not taken, for programs."""


@dataclass(frozen=True, slots=True)
class Reached:
    """What a run is told at a gate, and the line to write before it acts on that, if any."""

    state: Literal["approved", "pending"]
    fact: Mapping[str, Any]
    line: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class GateAnswer:
    """What someone says of a gate."""

    op: str
    gate: str
    verdict: Verdict
    approver: str
    channel: Origin
    attested: bool = True
    """Whether the name was given at the machine; over a channel it is only a claim."""
    roles: tuple[str, ...] = ()
    """Those that the project gives the approver."""
    env: str | None = None
    """None: wherever something is pending."""
    run_id: str | None = None
    """The run that asked; None: whichever did."""
    note: str = ""
    url: str = ""
    asked_by_us: bool = False
    """It answers a request that chant put to this client, so its channel may be the run's own."""


class GateRefused(OpsError):  # noqa: N818 - the tree names what happened
    """An answer that is not taken; nothing was written.  ``code`` is for programs."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(f"{code}: {reason}")
        self.code = code


def reach(book: GateBook, ask: GateAsk, now_s: float) -> Reached:
    """Decide for a run that reached a gate: go through, or stop and ask."""
    asked = book.known(ask.gate, ask.env, now_s)
    wanted = ask.op_digest, ask.params_digest
    same = [each for each in asked if (each.op_digest, each.params_digest) == wanted]
    for pending in same[-1:]:
        found = book.standing(pending, now_s)
        if found.state == "approved":
            line = _passed(pending, ask, found, now_s)
            return Reached("approved", _approval(pending, found), line)
        if found.state == "pending":
            return Reached("pending", with_standing(pending, found), None)
    line = ask.pending(now_s, _because(book, asked, ask, now_s))
    return Reached("pending", {**line, "approvals": []}, line)


def answer(book: GateBook, given: GateAnswer, now_s: float) -> dict[str, Any]:
    """Return the line that records an answer.

    Raises:
        GateRefused: Nothing is pending, it has expired, it is not clear what is meant, or this
            person may not say so.

    """
    pending = _chosen(book, given, now_s)
    _check_channel(pending, given)
    if given.verdict == "approved":
        _check_approver(pending, book.standing(pending, now_s), given)
    return {
        "version": FACT_VERSION,
        "kind": given.verdict,
        "pending": pending.fact_id,
        "op": pending.op,
        "gate": pending.gate,
        "env": pending.env,
        "run_id": pending.run_id,
        "op_digest": pending.op_digest,
        "params_digest": pending.params_digest,
        "approver": given.approver,
        "attested": given.attested,
        "roles": list(given.roles),
        "channel": given.channel,
        "at": timestamp(now_s),
        "note": given.note,
        "url": given.url,
    }


def with_standing(pending: Pending, found: Standing) -> dict[str, Any]:
    """Return a pending fact as people are shown it: with who has approved so far."""
    return {**pending.row, "approvals": [each.approver for each in found.approvals]}


def run_command(op: str, env: str | None = None, params: Mapping[str, Any] | None = None) -> str:
    """Return the line that runs an Op."""
    import shlex

    from ops.params import param_text

    words = ["chant", "run", op, *(["--env", env] if env else [])]
    for name, value in (params or {}).items():
        words += ["--param", f"{name}={param_text(value)}"]
    return shlex.join(words)


# --- a run at a gate


def _passed(pending: Pending, ask: GateAsk, found: Standing, now_s: float) -> dict[str, Any]:
    return {
        "version": FACT_VERSION,
        "kind": "passed",
        "pending": pending.fact_id,
        "op": ask.op,
        "gate": ask.gate,
        "env": ask.env,
        "run_id": ask.run_id,
        "at": timestamp(now_s),
        "approvers": [each.approver for each in found.approvals],
        "kept": pending.reuse,
    }


def _approval(pending: Pending, found: Standing) -> dict[str, Any]:
    """Return what the run's record says of the approval that it used."""
    told = ("approver", "attested", "channel", "at", "note", "url")
    by = [{name: each.row.get(name) for name in told} for each in found.approvals]
    return {"pending": pending.fact_id, "kept": pending.reuse, "by": by}


def _because(book: GateBook, asked: Sequence[Pending], ask: GateAsk, now_s: float) -> str:
    """Say why what was asked before does not help this run; empty if it has done its duty."""
    if not asked:
        return ""
    last = asked[-1]
    found = book.standing(last, now_s)
    if found.state == "used":
        return ""
    if last.op_digest != ask.op_digest:
        lost = "; its approval does not count for the new plan" if found.approvals else ""
        return f"the plan changed since run {last.run_id} asked{lost}"
    if last.params_digest != ask.params_digest:
        return f"run {last.run_id} asked with other parameters"
    return f"run {last.run_id} asked before, but {found.why}"


# --- an answer


def _chosen(book: GateBook, given: GateAnswer, now_s: float) -> Pending:
    """Find the one pending fact that is meant."""
    asked = book.known(given.gate, given.env, now_s)
    meant = [each for each in asked if given.run_id in {None, each.run_id}]
    judged = [(each, book.standing(each, now_s)) for each in meant]
    takes = {"pending"} if given.verdict == "approved" else {"pending", "approved"}
    found = [each for each, how in judged if how.state in takes]
    if not found:
        raise _nothing_to_answer(book, given, judged)
    if len(found) > 1:
        raise _ambiguous(given, found)
    return found[0]


def _nothing_to_answer(
    book: GateBook, given: GateAnswer, judged: Sequence[tuple[Pending, Standing]]
) -> GateRefused:
    if not judged:
        where = f" in {given.env}" if given.env else ""
        known = f" (gates that were reached: {', '.join(book.gates)})" if book.gates else ""
        reason = f"nothing is pending at gate {given.gate} of {given.op}{where}{known}"
        return GateRefused(NOTHING_PENDING, f"{reason}; {run_command(given.op, given.env)} asks")
    last, how = judged[-1]
    run = run_command(last.op, last.env, last.row.get("params"))
    asked = f"gate {last.gate} of {last.op} in {last.env}, asked by run {last.run_id},"
    if how.state == "approved":
        by = ", ".join(each.approver for each in how.approvals)
        reason = f"{asked} is approved by {by} already; {run} walks through"
        return GateRefused(NOTHING_PENDING, reason)
    code = EXPIRED if how.state == "expired" else NOTHING_PENDING
    return GateRefused(code, f"{asked} is not pending any more: {how.why}; {run} asks again")


def _ambiguous(given: GateAnswer, found: Sequence[Pending]) -> GateRefused:
    envs = sorted({each.env for each in found})
    if len(envs) > 1:
        choices = ", ".join(f"--env {env}" for env in envs)
    else:
        choices = ", ".join(f"--run {each.run_id}" for each in found)
    reason = f"gate {given.gate} of {given.op} waits more than once; say which: {choices}"
    return GateRefused(AMBIGUOUS, reason)


def _check_channel(pending: Pending, given: GateAnswer) -> None:
    if given.channel == "acp" and pending.channel == "acp" and not given.asked_by_us:
        reason = (
            f"run {pending.run_id} reached gate {pending.gate} over acp, so no command over acp"
            " may answer it; answer it at a terminal"
        )
        raise GateRefused(SAME_ORIGIN, reason)


def _check_approver(pending: Pending, found: Standing, given: GateAnswer) -> None:
    if not has_role(given.roles if given.attested else (), pending.roles):
        wanted = " or ".join(pending.roles)
        reason = f"gate {pending.gate} asks for the role {wanted}, which {given.approver} has not"
        raise GateRefused(ROLE_MISSING, f"{reason}; [roles] in chant.toml says who has it")
    who = person(given.approver, attested=given.attested)
    if any(person(each.approver, attested=each.attested) == who for each in found.approvals):
        reason = (
            f"{given.approver} has approved already; gate {pending.gate} needs"
            f" {pending.quorum} people and has {len(found.approvals)}"
        )
        raise GateRefused(ALREADY_APPROVED, reason)
