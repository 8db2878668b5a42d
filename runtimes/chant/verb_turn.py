"""Turns that run no Op: any other verb, help, and prompts that are refused.  Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from actors.turn import (
    AbortStep,
    CancelAsked,
    EndTurn,
    MachineFailed,
    Say,
    StartStep,
    StepEnded,
    TurnResult,
    TurnStarted,
)
from actors.work import CallableWork
from protocol.errors import InternalError
from runtimes.chant.items import Remark, VerbOutput
from runtimes.chant.leaf import logged

if TYPE_CHECKING:
    from collections.abc import Callable

    from actors.turn import TurnEffect, TurnEvent, TurnMachine
    from actors.work import StepEnd, Stream, WorkContext

VERB = "(verb)"


class VerbTurn:
    """One verb as one callable step; what it prints streams while it runs.

    ``run`` prints through its context and returns the verb's exit code, or why it was refused.
    """

    def __init__(self, name: str, run: Callable[[WorkContext], int | str], key: str) -> None:
        """``key`` begins the turn's message ids; unique in the session."""
        self._name = name
        self._run = run
        self._key = key
        self._cancelled = False
        self._over = False

    def handle(self, event: TurnEvent) -> list[TurnEffect]:
        """Take one event; see `actors.turn.TurnMachine`."""
        if self._over:
            return []
        match event:
            case TurnStarted():
                return [self._start()]
            case StepEnded(end) if end.step_id == VERB:
                return self._ended(end)
            case CancelAsked():
                first, self._cancelled = not self._cancelled, True
                return [AbortStep(VERB)] if first else []
            case MachineFailed():
                self._over = True
                return [EndTurn(TurnResult("refusal", error=InternalError()))]
            case _:
                return []

    def _start(self) -> TurnEffect:
        return StartStep(
            VERB, CallableWork(self._name, logged(self._name, self._run)), self._render
        )

    def _render(self, stream: Stream, text: str) -> tuple[VerbOutput, ...]:
        return (VerbOutput(f"{self._key}/{stream}", text),)

    def _ended(self, end: StepEnd) -> list[TurnEffect]:
        self._over = True
        if self._cancelled:
            return [EndTurn(TurnResult("cancelled"))]
        match end.value:
            case int(code):
                return [EndTurn(TurnResult("end_turn", {"chant": {"exitCode": code}}))]
            case str(reason):
                return said(f"{self._key}/refusal", reason, "refusal")
            case _:
                return [EndTurn(TurnResult("refusal", error=InternalError()))]


class SaidTurn:
    """A turn that is over as soon as it starts: it says one text and runs nothing."""

    def __init__(self, text: str, stop_reason: str, key: str) -> None:
        """``stop_reason`` is ``refusal`` for a prompt that no verb can be made of."""
        self._effects = said(f"{key}/{stop_reason}", text, stop_reason)

    def handle(self, event: TurnEvent) -> list[TurnEffect]:
        """Answer the first event."""
        effects, self._effects = self._effects, []
        cancelled = isinstance(event, CancelAsked) and effects
        return [EndTurn(TurnResult("cancelled"))] if cancelled else effects


class RemarkedTurn:
    """Another turn with something to say before its own first word."""

    def __init__(self, inner: TurnMachine, text: str, key: str) -> None:
        """Say ``text`` when ``inner`` starts."""
        self._inner = inner
        self._said = Say((Remark(f"{key}/note", f"{text}\n"),))

    def handle(self, event: TurnEvent) -> list[TurnEffect]:
        """Pass events on; see `actors.turn.TurnMachine`."""
        effects = list(self._inner.handle(event))
        return [self._said, *effects] if isinstance(event, TurnStarted) else effects


def said(message_id: str, text: str, stop_reason: str) -> list[TurnEffect]:
    """Say one text and end the turn."""
    return [Say((Remark(message_id, f"{text}\n"),)), EndTurn(TurnResult(stop_reason))]
