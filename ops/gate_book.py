"""How the questions of an Op's gates stand: asked, answered, used up, out of time.  Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from ops.gate_facts import Answer, Passed, Pending
from ops.run_id import timestamp

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ops.gate_facts import GateFact

CLOCK_SKEW_S = 300.0
"""How far the clocks of two machines that share a ledger may be apart."""

UNATTESTED = "unattested"
"""Whose names came over a channel are one person to a quorum, whatever they are called."""

State: TypeAlias = Literal["pending", "approved", "used", "rejected", "expired", "superseded"]


@dataclass(frozen=True, slots=True)
class Standing:
    """How a pending fact stands; ``why`` says in words what ended it, empty if nothing did."""

    state: State
    approvals: tuple[Answer, ...] = ()
    """One for each person that counts."""
    why: str = ""


class GateBook:
    """The facts of one Op's gates."""

    def __init__(self, facts: Sequence[GateFact]) -> None:
        """Sort ``facts``, which come in the order of the file, by what they are about."""
        self._asked: dict[tuple[str, str], list[Pending]] = {}
        self._about: dict[str, list[Answer | Passed]] = {}
        self._place: dict[str, int] = {}
        for place, fact in enumerate(facts):
            if isinstance(fact, Pending):
                self._asked.setdefault((fact.gate, fact.env), []).append(fact)
                self._place[fact.fact_id] = place
            else:
                self._about.setdefault(fact.pending, []).append(fact)
        for asked in self._asked.values():
            # Where two ledgers were united the file's order is not that of time.
            asked.sort(key=lambda fact: (fact.at_s, self._place[fact.fact_id]))
        self._last_s = _latest_from(facts)

    @property
    def gates(self) -> tuple[str, ...]:
        """The gates that were ever reached, in order of their names."""
        return tuple(sorted({gate for gate, _env in self._asked}))

    def asked(self, gate: str, env: str | None = None) -> list[Pending]:
        """Return the pending facts of a gate, in one environment or in all, oldest first."""
        places = (key for key in self._asked if key[0] == gate and env in {None, key[1]})
        found = [fact for key in places for fact in self._asked[key]]
        return sorted(found, key=lambda fact: (fact.at_s, self._place[fact.fact_id]))

    def known(self, gate: str, env: str | None, now_s: float) -> list[Pending]:
        """Return what `asked` does, but what was asked before the clock went back comes first."""
        asked = self.asked(gate, env)
        return sorted(asked, key=lambda fact: not _future(fact, now_s))

    def open(self, now_s: float) -> list[tuple[Pending, Standing]]:
        """Return what waits, and approvals that no run has used yet, oldest first."""
        every = [fact for gate in self.gates for fact in self.asked(gate)]
        judged = [(fact, self.standing(fact, now_s)) for fact in every]
        return [pair for pair in judged if pair[1].state in {"pending", "approved"}]

    def standing(self, pending: Pending, now_s: float) -> Standing:
        """Judge a pending fact of this book at ``now_s`` (epoch seconds)."""
        about = self._about.get(pending.fact_id, [])
        for each in about:
            if isinstance(each, Passed) and not each.kept:
                return Standing("used", why=f"run {each.run_id} walked through with it")
            if isinstance(each, Answer) and each.verdict != "approved":
                return Standing(each.verdict, why=_ended(each))
        if newer := self._successor(pending, now_s):
            return Standing("superseded", why=f"run {newer.run_id} asked after it")
        if out := self._out_of_time(pending, now_s):
            return Standing("expired", why=out)
        counted = tuple(_counted(about, pending.roles))
        return Standing("approved" if len(counted) >= pending.quorum else "pending", counted)

    def _successor(self, pending: Pending, now_s: float) -> Pending | None:
        """Return the question that took this one's place.

        The same Op with other parameters is another question beside it; an Op that was changed
        is the old question put anew.
        """
        for each in reversed(self._asked[pending.gate, pending.env]):
            if each is pending:
                return None
            changed = each.op_digest != pending.op_digest
            replaces = changed or each.params_digest == pending.params_digest
            if replaces and not _future(each, now_s):
                return each
        return None

    def _out_of_time(self, pending: Pending, now_s: float) -> str:
        """Say why a pending fact is out of time.

        A clock that goes back opens nothing: time has passed at least up to what was written
        after the question.
        """
        if _future(pending, now_s):
            return f"it was asked at {timestamp(pending.at_s)}, and the clock has gone back since"
        if max(now_s, self._last_s[self._place[pending.fact_id]]) >= pending.expires_s:
            return f"it expired at {timestamp(pending.expires_s)}"
        return ""


def has_role(held: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    """Tell whether someone who holds the roles ``held`` may speak where ``wanted`` ones are."""
    return not wanted or not set(wanted).isdisjoint(held)


def person(name: str, *, attested: bool) -> str:
    """Return who someone is to a quorum."""
    return f"name:{name.strip().casefold()}" if attested else UNATTESTED


def _future(pending: Pending, now_s: float) -> bool:
    return pending.at_s > now_s + CLOCK_SKEW_S


def _latest_from(facts: Sequence[GateFact]) -> list[float]:
    """Return for each place the latest moment that was written there or later."""
    latest: list[float] = []
    moment_s = 0.0
    for fact in reversed(facts):
        moment_s = max(moment_s, fact.at_s)
        latest.append(moment_s)
    return latest[::-1]


def _counted(about: Sequence[Answer | Passed], roles: tuple[str, ...]) -> Iterator[Answer]:
    seen: set[str] = set()
    for each in about:
        if isinstance(each, Answer) and has_role(each.roles, roles):
            who = person(each.approver, attested=each.attested)
            if who not in seen:
                seen.add(who)
                yield each


def _ended(fact: Answer) -> str:
    note = f": {fact.row['note']}" if fact.row.get("note") else ""
    did = "rejected" if fact.verdict == "rejected" else "ended"
    return f"{fact.approver} {did} it at {timestamp(fact.at_s)}{note}"
