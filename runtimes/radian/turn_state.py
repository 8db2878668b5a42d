"""What comes next in a turn: another call, tools, or the end.  Pure.

Decides by what the model answered and by what the turn may still spend; cancels are the business
of `runtimes.radian.agent_turn`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from protocol.values import frozen
from runtimes.models.base import ToolUse
from runtimes.radian.records import AssistantMessage, TurnEnded
from runtimes.radian.transcript import from_answer

if TYPE_CHECKING:
    from runtimes.models.answer import Answer
    from runtimes.radian.records import IncompleteReason

MAX_CONTINUATIONS = 3
"""How often an answer that was cut off is continued."""
MAX_PAUSES = 20
"""How often a provider may ask to be called again before it is taken for broken."""


@frozen
class Limits:
    """What one turn may spend.  None: as much as it likes."""

    model_calls: int | None = None
    cost_micros: int | None = None
    output_tokens: int | None = None
    """Of one call; None leaves it to the model."""
    time_s: float | None = None
    model_output_tokens: int | None = None
    """The most that the model can answer, where it is known."""


@frozen
class CallModel:
    """Call the model, number ``call`` of the turn."""

    call: int
    output_tokens: int | None = None
    again: bool = False
    """The last answer is void; this attempt takes its place."""
    go_on: bool = False
    """The last answer was cut off: ask for the rest."""


@frozen
class RunTools:
    """Run the calls of the answer."""

    calls: tuple[ToolUse, ...]


Next: TypeAlias = CallModel | RunTools | TurnEnded


@frozen
class Told:
    """An answer, with what was found out about it on the thread that waited for it."""

    answer: Answer
    cost_micros: int | None = None
    price_source: str | None = None
    context_window: int | None = None


class TurnState:
    """The turn's own account.  Asked after each answer and each round of tools."""

    def __init__(self, turn: int, model: str, limits: Limits, used_ids: set[str]) -> None:
        """``used_ids``: ids of all calls of the session; those of this turn are added."""
        self._turn = turn
        self._model = model
        self._limits = limits
        self._used_ids = used_ids
        self._output_tokens = limits.output_tokens
        self._calls = 0
        self._micros = 0
        self._continuations = 0
        self._pauses = 0
        self._widened = False
        self._goes_on = False

    def next_call(self) -> Next:
        """Call the model, if there is anything left to spend."""
        return self._call(CallModel(0, self._output_tokens))

    def answered(self, told: Told) -> tuple[AssistantMessage, Next]:
        """Take an answer: return its record and what comes next."""
        self._micros += told.cost_micros or 0
        answer = self._with_new_ids(told.answer)
        number, goes_on = self._calls, self._goes_on
        comes_next = self._after(answer)
        self._goes_on = isinstance(comes_next, CallModel) and comes_next.go_on
        void = isinstance(comes_next, CallModel) and comes_next.again
        message = AssistantMessage(
            turn=self._turn,
            call=number,
            parts=from_answer(answer.parts),
            finish="failed" if answer.error else answer.finish,
            partial=answer.finish == "cancelled",
            continues=goes_on,
            superseded=void,
            error=answer.error.message if answer.error else None,
            model=self._model,
            usage=answer.usage,
            context_window=told.context_window,
            cost_micros=told.cost_micros,
            price_source=told.price_source,
            model_ms=answer.model_ms,
            ttft_ms=answer.ttft_ms,
        )
        return message, comes_next

    def _after(self, answer: Answer) -> Next:
        if answer.error is not None:
            error = answer.error
            return TurnEnded(
                self._turn,
                "Failed",
                origin=error.origin,
                retryable=error.retryable,
                error=error.message,
            )
        match answer.finish:
            case "cancelled":
                return TurnEnded(self._turn, "Interrupted")
            case "refused":
                return self._incomplete("refused", answer.detail or None)
            case "broken":
                return self._incomplete("unfinished", f"unknown finish {answer.detail!r}")
            case _ if answer.dropped or (answer.finish == "length" and not answer.text.strip()):
                return self._once_more(answer)
            case _ if answer.calls:
                self._continuations = self._pauses = 0
                return RunTools(answer.calls)
            case "length":
                return self._continue()
            case "pause":
                return self._resume()
            case "tools" if not answer.text.strip():
                return self._incomplete("unfinished", "it announced calls and made none")
            case _:
                return TurnEnded(self._turn, "Completed")

    def _once_more(self, answer: Answer) -> Next:
        """Try again, with more room where room was the trouble."""
        cut = answer.finish == "length"
        why = "cut off inside a call" if answer.dropped and cut else "cut off before any answer"
        end = (
            self._incomplete("truncated", why)
            if cut
            else self._incomplete("unfinished", "the arguments of a call are no JSON object")
        )
        if self._widened:
            return end
        self._widened = True
        if cut:
            wider = self._wider(answer)
            if wider is not None and wider == self._output_tokens:
                return end
            self._output_tokens = wider
        return self._call(CallModel(0, self._output_tokens, again=True))

    def _wider(self, answer: Answer) -> int | None:
        """Double what one call may answer, as far as the model can; None: nothing is known."""
        spent = answer.usage.output_tokens if answer.usage else 0
        base = self._output_tokens or spent
        if not base:
            return None
        most = self._limits.model_output_tokens
        return 2 * base if most is None else max(min(2 * base, most), self._output_tokens or 0)

    def _continue(self) -> Next:
        if self._continuations == MAX_CONTINUATIONS:
            return self._incomplete("truncated", "cut off, also after it was continued")
        self._continuations += 1
        return self._call(CallModel(0, self._output_tokens, go_on=True))

    def _resume(self) -> Next:
        if self._pauses == MAX_PAUSES:
            return self._incomplete("unfinished", "the provider paused again and again")
        self._pauses += 1
        return self._call(CallModel(0, self._output_tokens))

    def _call(self, call: CallModel) -> Next:
        limits = self._limits
        if limits.model_calls is not None and self._calls >= limits.model_calls:
            return self._incomplete("model_calls", f"{limits.model_calls} model calls are spent")
        if limits.cost_micros is not None and self._micros >= limits.cost_micros:
            return self._incomplete("cost", "the turn's money is spent")
        self._calls += 1
        return replace(call, call=self._calls)

    def _incomplete(self, reason: IncompleteReason, error: str | None) -> TurnEnded:
        return TurnEnded(self._turn, "Incomplete", reason, error=error)

    def _with_new_ids(self, answer: Answer) -> Answer:
        """Give each call an id of its own: some servers number anew in each answer."""
        return replace(
            answer,
            parts=tuple(
                replace(part, call_id=self._new_id(part.call_id))
                if isinstance(part, ToolUse)
                else part
                for part in answer.parts
            ),
        )

    def _new_id(self, call_id: str) -> str:
        base = call_id or "call"
        fresh, number = base, 1
        while fresh in self._used_ids:
            number += 1
            fresh = f"{base}-{number}"
        self._used_ids.add(fresh)
        return fresh
