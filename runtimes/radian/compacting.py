"""A conversation is shortened in the middle of a turn: one call for the summary.  Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from protocol.values import frozen
from runtimes.models.answer import CallError
from runtimes.radian import events
from runtimes.radian.compaction import text_tokens, tokens_of
from runtimes.radian.records import AssistantMessage, Compacted, TurnEnded
from runtimes.radian.summary_request import finished, request_text, room_for

if TYPE_CHECKING:
    from runtimes.radian.compaction import Plan
    from runtimes.radian.records import Entry, Record
    from runtimes.radian.turn_state import Compact, Next, Told, TurnState

MAX_ATTEMPTS = 3
"""To have a summary written of ever less, where the model takes no more."""

EMPTY = CallError("the model wrote no summary")
NOTHING_OLD = CallError("there is nothing before the last message to summarise")


@frozen
class Summarised:
    """What a call for a summary came to."""

    records: tuple[Record, ...]
    events: tuple[events.Event, ...]
    comes_next: Next


class Compacting:
    """One call for a summary, until its answer is there."""

    def __init__(
        self, turn: int, state: TurnState, wanted: Compact, plan: Plan, window: int | None
    ) -> None:
        """``window``: tokens that the model takes; None: nobody knows."""
        self._turn = turn
        self._state = state
        self._wanted = wanted
        self._plan = plan
        self._window = window
        self.call = state.summary_call()
        """Its number in the turn."""

    def ask(self) -> str:
        """Return what the model is asked.  Takes a while where much has to be cut."""
        return request_text(self._plan, room_for(self._plan, self._window, self._wanted.attempt))

    def ended(self, told: Told) -> Summarised:
        """Take the answer.  A failed call leaves the conversation as it is.

        So does an empty answer, unless the conversation can't be sent as it is: then what was
        said, and what an earlier summary has, take its place.
        """
        self._state.pay(told)
        answer = told.answer
        if answer.finish == "cancelled" or answer.error is not None:
            return self._failed(told, answer.error)
        if not answer.text.strip() and self._wanted.why == "due":
            return self._failed(told, EMPTY)
        record = self._record(told)
        tokens_after = self._tokens_after(record)
        said = events.Compaction(self._turn, self._plan.tokens_before, tokens_after)
        return Summarised((record,), (said,), self._state.call(self._wanted.then))

    def _failed(self, told: Told, error: CallError | None) -> Summarised:
        wanted = self._wanted
        if error is None:
            comes_next: Next = TurnEnded(self._turn, "Interrupted")
        elif error.context_overflow and wanted.attempt < MAX_ATTEMPTS:
            comes_next = self._state.compact(replace(wanted, attempt=wanted.attempt + 1))
        else:
            comes_next = not_compacted(self._turn, self._state, wanted, error)
        said = () if error is None or wanted.why != "due" else (_warning(error),)
        nothing = error is None and told.answer.usage is None
        return Summarised(() if nothing else (self._void(told, error),), said, comes_next)

    def _void(self, told: Told, error: CallError | None) -> AssistantMessage:
        """Record that there was a call, which is no part of the conversation."""
        answer = told.answer
        return AssistantMessage(
            turn=self._turn,
            call=self.call,
            parts=(),
            finish="cancelled" if error is None else "failed",
            superseded=True,
            error=None if error is None else error.message,
            model=self._state.model,
            usage=answer.counted,
            cost_micros=told.cost_micros,
            price_source=told.price_source,
            model_ms=answer.model_ms,
            payload=answer.sent_usage,
        )

    def _record(self, told: Told) -> Compacted:
        answer = told.answer
        return Compacted(
            turn=self._turn,
            summary=finished(answer.text, self._plan, self._window),
            first_kept_seq=self._plan.first_kept_seq,
            tokens_before=self._plan.tokens_before,
            call=self.call,
            model=self._state.model,
            usage=answer.counted,
            cost_micros=told.cost_micros,
            price_source=told.price_source,
            model_ms=answer.model_ms,
        )

    def _tokens_after(self, record: Compacted) -> int:
        """Estimate: instructions and tools stay, and so does what was measured but not known."""
        plan = self._plan
        gone = plan.tokens_removed + sum(tokens_of(each.record) for each in _summaries(plan))
        left = plan.tokens_before - gone
        return max(left, plan.tokens_kept) + text_tokens(record.summary)


def not_compacted(
    turn: int, state: TurnState, wanted: Compact, error: CallError = NOTHING_OLD
) -> Next:
    """Return how a turn goes on whose conversation is as long as before."""
    if error.retryable or error.origin == "credential":
        said = f"the conversation could not be summarised: {error.message}"
        return TurnEnded(turn, "Failed", origin=error.origin, retryable=error.retryable, error=said)
    match wanted.why:
        case "due":
            state.compacts_early = False
            return state.call(wanted.then)
        case "full":
            said = f"the model's context is full: {error.message}"
            return TurnEnded(turn, "Incomplete", "truncated", error=said)
        case "overflow":
            said = f"the conversation is too long for the model: {wanted.error}; {error.message}"
            return TurnEnded(turn, "Failed", origin="model", retryable=False, error=said)


def _summaries(plan: Plan) -> list[Entry]:
    return [each for each in plan.head if isinstance(each.record, Compacted)]


def _warning(error: CallError) -> events.Warning:
    return events.Warning(f"the conversation could not be summarised: {error.message}")
