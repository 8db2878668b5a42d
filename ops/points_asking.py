"""Putting a question to its deciders, in order: the table, a model, people.  Pure.

Each decider leaves a line in the record that says what came of it.  Whoever hosts this calls the
model, if one is wanted, and comes back with what it said.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from ops.points import ModelDecider, TableDecider
from ops.points_book import decided, new_question

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ops.points import Answer, Point
    from ops.points_book import Asker


@dataclass(frozen=True, slots=True)
class Settled:
    """The record as it is to be written: answered, or open for people."""

    record: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ModelWanted:
    """A model is to be asked; `after_model` goes on with what it said."""

    decider: ModelDecider
    place: int
    record: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Undecided:
    """The step fails: a model could not be reached, and the point says that this is a failure."""

    reason: str


@dataclass(frozen=True, slots=True)
class Said:
    """What a model proposed; ``confidence`` is from 0 to 1."""

    answer: Answer
    confidence: float
    reason: str = ""


@dataclass(frozen=True, slots=True)
class NotReached:
    """A model gave nothing that can be used, and why."""

    reason: str


Asked: TypeAlias = Settled | ModelWanted | Undecided


def ask(
    point: Point,
    inputs: Mapping[str, Any],
    asker: Asker,
    capabilities: Sequence[str],
    now_s: float,
) -> Asked:
    """Ask what was not asked before; ``capabilities`` are what the turn's steward names."""
    record = new_question(point, inputs, asker, now_s)
    return _from(0, point, record, barred(point, asker.steward, capabilities), now_s)


def people_only(point: Point, inputs: Mapping[str, Any], asker: Asker, now_s: float) -> Settled:
    """Ask where no model can be called: outside of a run."""
    bar = "only a run in a steward's turn calls a model"
    went = _from(0, point, new_question(point, inputs, asker, now_s), bar, now_s)
    assert isinstance(went, Settled)  # noqa: S101 - nobody else is left
    return went


def after_model(point: Point, wanted: ModelWanted, said: Said | NotReached, now_s: float) -> Asked:
    """Go on with what the model said: a proposal, or the next decider."""
    decider, record = wanted.decider, wanted.record
    line = {"kind": "model", "provider": decider.provider, "model": decider.model}
    if isinstance(said, NotReached):
        if decider.unreachable == "fail":
            return Undecided(f"{decider.model} at {decider.provider}: {said.reason}")
        record = _with_line(record, {**line, "outcome": "not reached", "reason": said.reason})
        return _from(wanted.place + 1, point, record, None, now_s)
    told = {"answer": said.answer, "confidence": said.confidence, "reason": said.reason}
    if said.confidence < decider.threshold:
        below = {**line, "outcome": "not sure enough", **told, "threshold": decider.threshold}
        return _from(wanted.place + 1, point, _with_line(record, below), None, now_s)
    proposed = _with_line(record, {**line, "outcome": "proposed", **told})
    return Settled({**proposed, "state": "proposed", "proposal": {**line, **told}})


def barred(point: Point, steward: str | None, capabilities: Sequence[str]) -> str | None:
    """Say why no model may be called for this question; None if one may."""
    if steward is None:
        return "this is no steward's turn, and only a steward's capability reaches a model"
    if point.capability not in capabilities:
        return f"steward {steward} does not name the capability {point.capability!r}"
    return None


def _from(
    place: int, point: Point, record: Mapping[str, Any], bar: str | None, now_s: float
) -> Asked:
    """Ask the deciders from ``place`` on."""
    for at, decider in enumerate(point.deciders[place:], start=place):
        if isinstance(decider, TableDecider):
            answer = decider.answer(record["inputs"])
            if answer is not None:
                line = {"kind": "table", "outcome": "answered", "answer": answer}
                return Settled(decided(_with_line(record, line), answer, ["table"], now_s))
            record = _with_line(record, {"kind": "table", "outcome": "no row fits"})
        elif isinstance(decider, ModelDecider):
            if bar is None:
                return ModelWanted(decider, at, record)
            line = {"kind": "model", "provider": decider.provider, "model": decider.model}
            record = _with_line(record, {**line, "outcome": "not reached", "reason": bar})
    return Settled(_with_line(record, {"kind": "quorum", "outcome": "escalated"}))


def _with_line(record: Mapping[str, Any], line: Mapping[str, Any]) -> dict[str, Any]:
    return {**record, "deciders": [*record["deciders"], dict(line)]}
