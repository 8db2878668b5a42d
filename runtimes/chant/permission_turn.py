"""A turn that answers a gate's request: record the answer, then run what follows from it.  Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from actors.turn import (
    AbortStep,
    CancelAsked,
    EndTurn,
    MachineFailed,
    Say,
    StepEnded,
    TurnResult,
    TurnStarted,
)
from protocol.errors import InternalError
from runtimes.chant.items import Remark
from runtimes.chant.leaf import own_step
from runtimes.chant.verb_turn import said

if TYPE_CHECKING:
    from collections.abc import Callable

    from actors.turn import TurnEffect, TurnEvent, TurnMachine
    from actors.work import StepEnd, WorkContext

ANSWER = "(answer)"

Next: TypeAlias = Literal["refuse", "end", "run", "clean_up"]


@dataclass(frozen=True, slots=True)
class AnswerGiven:
    """What came of an answer, and what the turn does next."""

    text: str
    then: Next


class PermissionTurn:
    """Answers one request; ``then`` makes the machine of the run that follows, if one does."""

    def __init__(
        self,
        answer: Callable[[WorkContext], AnswerGiven],
        then: Callable[[AnswerGiven], TurnMachine],
        key: str,
    ) -> None:
        """``key`` begins the turn's message ids; unique in the session."""
        self._answer = answer
        self._then = then
        self._key = key
        self._cancelled = False
        self._over = False
        self._inner: TurnMachine | None = None

    def handle(self, event: TurnEvent) -> list[TurnEffect]:
        """Take one event; see `actors.turn.TurnMachine`."""
        if self._inner is not None:
            return list(self._inner.handle(event))
        if self._over:
            return []
        match event:
            case TurnStarted():
                return [own_step(ANSWER, self._answer)]
            case StepEnded(end) if end.step_id == ANSWER:
                return self._ended(end)
            case CancelAsked():
                first, self._cancelled = not self._cancelled, True
                return [AbortStep(ANSWER)] if first else []
            case MachineFailed():
                return self._end(TurnResult(error=InternalError()))
            case _:
                return []

    def _ended(self, end: StepEnd) -> list[TurnEffect]:
        given = end.value
        if not isinstance(given, AnswerGiven):
            cancelled = TurnResult("cancelled")
            return self._end(cancelled if self._cancelled else TurnResult(error=InternalError()))
        if given.then == "refuse":
            self._over = True
            return said(f"{self._key}/refusal", given.text, "refusal")
        told = Say((Remark(f"{self._key}/answer", f"{given.text}\n"),))
        if self._cancelled:
            return [told, *self._end(TurnResult("cancelled"))]
        if given.then == "end":
            return [told, *self._end(TurnResult("end_turn", {"chant": {"exitCode": 0}}))]
        self._inner = self._then(given)
        return [told, *self._inner.handle(TurnStarted())]

    def _end(self, result: TurnResult) -> list[TurnEffect]:
        self._over = True
        return [EndTurn(result)]
