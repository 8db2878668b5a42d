"""The lines of ``_gates/<op>.jsonl``: who asked at a gate, who answered, who walked through.  Pure.

A file that holds one line we can't read is not read at all: it may be the line that shut the gate.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from ops.errors import LedgerError
from ops.json_in import read_json
from ops.run_id import timestamp

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.run_values import Origin

FACT_VERSION = 1
Verdict: TypeAlias = Literal["approved", "rejected", "expired"]
VERDICTS: dict[str, Verdict] = {each: each for each in ("approved", "rejected", "expired")}


@dataclass(frozen=True, slots=True)
class GateAsk:
    """What a run says when it reaches a gate."""

    op: str
    gate: str
    env: str
    run_id: str
    step_id: str
    op_digest: str
    params_digest: str
    params: Mapping[str, Any]
    description: str
    timeout_s: float
    quorum: int
    roles: tuple[str, ...]
    reuse: bool
    channel: Origin
    actor: str = ""
    steward: str | None = None

    def pending(self, now_s: float, because: str) -> dict[str, Any]:
        """Return the pending fact; ``because`` says why it is asked anew, empty at first."""
        return {
            "version": FACT_VERSION,
            "kind": "pending",
            "id": f"{self.run_id}/{self.step_id}",
            "op": self.op,
            "gate": self.gate,
            "env": self.env,
            "run_id": self.run_id,
            "op_digest": self.op_digest,
            "params_digest": self.params_digest,
            "params": dict(self.params),
            "since": timestamp(now_s),
            "expires": timestamp(now_s + self.timeout_s),
            "description": self.description,
            "quorum": self.quorum,
            "roles": list(self.roles),
            "reuse": self.reuse,
            "channel": self.channel,
            "actor": self.actor,
            "steward": self.steward,
            "because": because,
        }


@dataclass(frozen=True, slots=True)
class Pending:
    """A run asked at a gate.  Times are epoch seconds; ``row`` is the line as it is."""

    fact_id: str
    op: str
    gate: str
    env: str
    run_id: str
    op_digest: str
    params_digest: str
    at_s: float
    expires_s: float
    quorum: int
    roles: tuple[str, ...]
    reuse: bool
    channel: str
    row: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Answer:
    """Someone's word on a pending fact."""

    verdict: Verdict
    pending: str
    approver: str
    attested: bool
    """Whether the name was typed at the machine; one that came over a channel is a claim."""
    roles: tuple[str, ...]
    channel: str
    at_s: float
    row: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Passed:
    """A run walked through; unless it is ``kept``, the approval is used up."""

    pending: str
    run_id: str
    kept: bool
    at_s: float
    row: Mapping[str, Any] = field(repr=False)


GateFact: TypeAlias = Pending | Answer | Passed


def read_facts(content: bytes, path: str) -> tuple[GateFact, ...]:
    """Return the facts of a file, oldest first.

    Raises:
        LedgerError: A line can't be read; names it.

    """
    facts: list[GateFact] = []
    asked: dict[str, Pending] = {}
    for number, line in enumerate(content.split(b"\n"), start=1):
        if not line:
            continue
        try:
            facts.append(_fact(line))
            _check_id(facts[-1], asked)
        except (ValueError, KeyError, TypeError) as error:
            msg = f"line {number} of {path} on the ledger's branch can't be read: {_why(error)}"
            raise LedgerError(msg) from error
    return tuple(facts)


def with_fact(content: bytes, row: Mapping[str, Any]) -> bytes:
    """Return ``content`` with one more line."""
    text = json.dumps(row, separators=(",", ":"), ensure_ascii=False)
    return content + text.encode(errors="replace") + b"\n"


def _fact(line: bytes) -> GateFact:
    row: Any = read_json(line)
    if not isinstance(row, dict):
        msg = "it is no object"
        raise TypeError(msg)
    if row["version"] != FACT_VERSION:
        msg = f"its version is {row['version']!r}, and this chant knows {FACT_VERSION}"
        raise ValueError(msg)
    read = _Row(cast("dict[str, Any]", row))
    kind = read.text("kind")
    match kind:
        case "pending":
            return read.pending()
        case "passed":
            return read.passed()
        case _ if kind in VERDICTS:
            return read.answer(VERDICTS[kind])
        case _:
            msg = f"its kind is {kind!r}"
            raise ValueError(msg)


def _check_id(fact: GateFact, asked: dict[str, Pending]) -> None:
    """Let no two questions have one id: an answer to the one would open the other."""
    if isinstance(fact, Pending) and asked.setdefault(fact.fact_id, fact) != fact:
        msg = f"its id, {fact.fact_id}, is that of another question above"
        raise ValueError(msg)


class _Row:
    """One line, read strictly: a member of another type makes the line unreadable."""

    def __init__(self, row: dict[str, Any]) -> None:
        self._row = row

    def pending(self) -> Pending:
        return Pending(
            self._name("id"),
            self.text("op"),
            self.text("gate"),
            self.text("env"),
            self._name("run_id"),
            self.text("op_digest"),
            self.text("params_digest"),
            self._time("since"),
            self._time("expires"),
            self._number("quorum"),
            self._texts("roles"),
            self._flag("reuse"),
            self.text("channel"),
            self._checked(),
        )

    def answer(self, verdict: Verdict) -> Answer:
        return Answer(
            verdict,
            self.text("pending"),
            self._name("approver"),
            self._flag("attested"),
            self._texts("roles"),
            self.text("channel"),
            self._time("at"),
            self._row,
        )

    def passed(self) -> Passed:
        return Passed(
            self.text("pending"),
            self.text("run_id"),
            self._flag("kept"),
            self._time("at"),
            self._row,
        )

    def text(self, name: str) -> str:
        value = self._row[name]
        if not isinstance(value, str):
            raise TypeError(_wrong(name))
        return value

    def _name(self, name: str) -> str:
        """Read what people are shown as a name: nothing in it may move a terminal's cursor."""
        value = self.text(name)
        if not value.isprintable():
            msg = f"{name} is no name"
            raise ValueError(msg)
        return value

    def _checked(self) -> dict[str, Any]:
        if not isinstance(self._row.get("params", {}), dict):
            raise TypeError(_wrong("params"))
        return self._row

    def _texts(self, name: str) -> tuple[str, ...]:
        value = self._row[name]
        if not isinstance(value, list):
            raise TypeError(_wrong(name))
        items = cast("list[object]", value)
        if not all(isinstance(item, str) for item in items):
            raise TypeError(_wrong(name))
        return tuple(cast("list[str]", items))

    def _flag(self, name: str) -> bool:
        value = self._row[name]
        if not isinstance(value, bool):
            raise TypeError(_wrong(name))
        return value

    def _number(self, name: str) -> int:
        value = self._row[name]
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise TypeError(_wrong(name))
        return value

    def _time(self, name: str) -> float:
        import datetime as dt

        moment = dt.datetime.fromisoformat(self.text(name))
        if moment.tzinfo is None:
            raise ValueError(_wrong(name))
        return moment.timestamp()


def _wrong(name: str) -> str:
    return f"{name} has another type"


def _why(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError | UnicodeDecodeError):
        return "it is no JSON"
    return f"{error.args[0]} is missing" if isinstance(error, KeyError) else str(error)
