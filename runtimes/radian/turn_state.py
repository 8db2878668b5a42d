"""What comes next in a turn: another call, tools, or the end.  Pure.

Decides by what the model answered and by what the turn may still spend; cancels are the business
of `runtimes.radian.agent_turn`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from protocol.values import frozen
from runtimes.radian.call_ids import with_new_ids
from runtimes.radian.full_context import is_full
from runtimes.radian.purse import Purse
from runtimes.radian.records import AssistantMessage, TurnEnded
from runtimes.radian.transcript import from_answer

if TYPE_CHECKING:
    from runtimes.models.answer import Answer, CallError
    from runtimes.models.base import ToolUse
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


@frozen
class Compact:
    """Have the conversation summarised, by a call of its own, and then do ``then``.

    ``overflow``: the provider refused a call for its length, in the words ``error``; ``full``: an
    answer ended where the context did; ``due``: it is about to be.
    """

    then: CallModel
    why: Literal["due", "overflow", "full"]
    error: str = ""
    attempt: int = 1
    """Each one asks for a summary of less."""


Next: TypeAlias = CallModel | RunTools | Compact | TurnEnded


@frozen
class Told:
    """An answer, with what was found out about it on the thread that waited for it."""

    answer: Answer
    cost_micros: int | None = None
    price_source: str | None = None
    context_window: int | None = None


class TurnState:
    """The turn's own account.  Asked after each answer and each round of tools."""

    def __init__(
        self,
        turn: int,
        model: str,
        limits: Limits,
        used_ids: set[str],
        purse: Purse | None = None,
    ) -> None:
        """``used_ids``: ids of all calls of the session; those of this turn are added.

        ``purse``: what other conversations of the turn spend from as well.
        """
        self._turn = turn
        self.model = model
        self._limits = limits
        self._used_ids = used_ids
        self._output_tokens = limits.output_tokens
        self._calls = 0
        self._purse = purse or Purse()
        self._continuations = 0
        self._pauses = 0
        self._widened = False
        self._goes_on = False
        self._full = False
        """The last answer ended where the context did."""
        self._compacted = False
        """For a call that was too long; one that was not allows it again."""
        self.compacts_early = True
        """Before the context is full.  False: it was tried, and was no use."""

    def next_call(self) -> Next:
        """Call the model, if there is anything left to spend."""
        return self.call(CallModel(0, self._output_tokens))

    def call(self, call: CallModel) -> Next:
        """Number a call, if there is anything left to spend."""
        spent = self._spent()
        if spent is not None:
            return spent
        return replace(call, call=self._count())

    # --- summaries

    def compact_first(self, call: CallModel) -> Next:
        """Put a summary in front of a call that was not made yet, if there is one left for it."""
        if not self.compacts_early or self._spent() is not None:
            return call
        self._calls -= 1
        self._purse.calls -= 1
        return Compact(replace(call, call=0), "due")

    def compact(self, wanted: Compact) -> Next:
        """Have a summary made, if there is enough left to make use of it."""
        self._compacted = self._compacted or wanted.why != "due"
        return self._spent(calls=2) or wanted

    def summary_call(self) -> int:
        """Number a call for a summary."""
        return self._count()

    def _count(self) -> int:
        self._calls += 1
        self._purse.calls += 1
        return self._calls

    def pay(self, told: Told) -> None:
        """Take down what a call cost."""
        self._purse.micros += told.cost_micros or 0

    # --- answers

    def answered(self, told: Told) -> tuple[AssistantMessage, Next]:
        """Take an answer: return its record and what comes next."""
        self.pay(told)
        answer = with_new_ids(told.answer, self._used_ids)
        number, goes_on = self._calls, self._goes_on
        self._full = is_full(told.answer, told.context_window)
        comes_next = self._after(answer)
        called = comes_next.then if isinstance(comes_next, Compact) else comes_next
        self._goes_on = isinstance(called, CallModel) and called.go_on
        void = isinstance(called, CallModel) and called.again
        message = AssistantMessage(
            turn=self._turn,
            call=number,
            parts=from_answer(answer.parts),
            finish="failed" if answer.error else answer.finish,
            partial=answer.finish == "cancelled",
            continues=goes_on,
            superseded=void,
            error=answer.error.message if answer.error else None,
            model=self.model,
            usage=answer.counted,
            context_window=told.context_window,
            cost_micros=told.cost_micros,
            price_source=told.price_source,
            model_ms=answer.model_ms,
            ttft_ms=answer.ttft_ms,
            payload=answer.sent_usage,
        )
        return message, comes_next

    def _after(self, answer: Answer) -> Next:
        if answer.error is not None:
            return self._failed(answer.error)
        self._compacted = self._compacted and self._full
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

    def _failed(self, error: CallError) -> Next:
        if error.context_overflow and not self._compacted:
            then = CallModel(0, self._output_tokens, again=True, go_on=self._goes_on)
            return self.compact(Compact(then, "overflow", error.message))
        said = error.message
        if error.context_overflow:
            said = f"the conversation is too long for the model, also with a summary: {said}"
        return TurnEnded(
            self._turn, "Failed", origin=error.origin, retryable=error.retryable, error=said
        )

    def _once_more(self, answer: Answer) -> Next:
        """Try again, with more room where room was the trouble."""
        cut = answer.finish == "length"
        if self._full and not self._compacted:
            return self.compact(Compact(CallModel(0, self._output_tokens, again=True), "full"))
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
        return self.call(CallModel(0, self._output_tokens, again=True))

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
        more = CallModel(0, self._output_tokens, go_on=True)
        if self._full and not self._compacted:
            return self.compact(Compact(more, "full"))
        return self.call(more)

    def _resume(self) -> Next:
        if self._pauses == MAX_PAUSES:
            return self._incomplete("unfinished", "the provider paused again and again")
        self._pauses += 1
        return self.call(CallModel(0, self._output_tokens))

    def _spent(self, calls: int = 1) -> TurnEnded | None:
        """Return the end of a turn that can't make so many calls more."""
        limits = self._limits
        if limits.model_calls is not None and self._purse.calls + calls > limits.model_calls:
            return self._incomplete(
                "model_calls", f"the limit of model calls, {limits.model_calls}, is spent"
            )
        if limits.cost_micros is not None and self._purse.micros >= limits.cost_micros:
            return self._incomplete("cost", "the turn's money is spent")
        return None

    def _incomplete(self, reason: IncompleteReason, error: str | None) -> TurnEnded:
        return TurnEnded(self._turn, "Incomplete", reason, error=error)
