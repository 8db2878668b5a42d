"""What a turn came to: its text, its cost and its metrics, from its own records.  Pure.

Records of other turns change nothing.  Retries are not recorded: whoever saw them gives their
number.  The keys of the metrics are those of ``Result.run_metrics``.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeAlias

from protocol.values import frozen
from runtimes.models.base import Text
from runtimes.radian.healing import calls_of
from runtimes.radian.records import (
    AssistantMessage,
    Compacted,
    JobStarted,
    PermissionDecided,
    QuestionAnswered,
    ToolResult,
    TurnEnded,
    TurnStarted,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from runtimes.models.base import Usage
    from runtimes.radian.records import Entry, Record

Call: TypeAlias = AssistantMessage | Compacted
"""A record that a call of a model left."""
Price: TypeAlias = "Callable[[Call], int | None]"
"""Prices a call now, in micros: for records that were written without a price."""


@frozen
class Cost:
    """The fee of the calls that have a price.

    ``incomplete``: others have none.  ``estimated``: some were priced now, not as they came.
    """

    micros: int
    incomplete: bool = False
    estimated: bool = False


@frozen
class Denial:
    """A call that was refused."""

    call_id: str
    tool: str
    reason: str


@frozen
class Metrics:
    """Counts, milliseconds and tokens of a turn.  None: absent."""

    model_calls: int = 0
    retries: int = 0
    tool_calls: int = 0
    tool_failures: int = 0
    tool_denials: int = 0
    compactions: int = 0
    wall_ms: int = 0
    model_ms: int | None = None
    ttft_ms: int | None = None
    tool_ms: int | None = None
    wait_ms: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None
    usage_missing_calls: int | None = None
    context_tokens: int | None = None
    context_window: int | None = None
    subagent_calls: int | None = None
    subagent_model_calls: int | None = None
    jobs_started: int | None = None

    def as_table(self) -> dict[str, int]:
        """Return the metrics without the absent ones."""
        values = ((each.name, getattr(self, each.name)) for each in fields(self))
        return {name: value for name, value in values if value is not None}


@frozen
class TurnFold:
    """What a turn came to.  ``end``: a turn without an end was interrupted."""

    turn: int
    end: TurnEnded
    text: str
    cost: Cost | None
    metrics: Metrics
    denials: tuple[Denial, ...] = ()


def fold_turn(
    entries: Iterable[Entry], turn: int, *, retries: int = 0, price: Price | None = None
) -> TurnFold:
    """Fold the records of ``turn``; ``entries`` may hold others."""
    own = [each for each in entries if getattr(each.record, "turn", None) == turn]
    records = [each.record for each in own]
    ends = [each for each in records if isinstance(each, TurnEnded) and each.agent is None]
    end = ends[-1] if ends else TurnEnded(turn, "Interrupted")
    wall_ms = _lasted(own) if end.wall_ms is None else end.wall_ms
    return TurnFold(
        turn=turn,
        end=end,
        text=last_text(records),
        cost=cost_of(records, price),
        metrics=_metrics(records, retries, wall_ms),
        denials=tuple(_denials(records)),
    )


def turns_of(entries: Iterable[Entry]) -> list[int]:
    """Return the numbers of all turns, in order."""
    records = (each.record for each in entries)
    begun = (each for each in records if isinstance(each, TurnStarted) and each.agent is None)
    return sorted({each.turn for each in begun})


def cost_of(records: Iterable[Record], price: Price | None = None) -> Cost | None:
    """Return what the calls among ``records`` cost; None when none of them has a price."""
    total, priced, unpriced, estimated = 0, 0, 0, False
    for record in records:
        if not isinstance(record, AssistantMessage | Compacted):
            continue
        micros = record.cost_micros
        if micros is None and price is not None and record.usage is not None:
            micros = price(record)
            estimated = estimated or micros is not None
        if micros is None:
            unpriced += 1
        else:
            total, priced = total + micros, priced + 1
    return Cost(total, incomplete=unpriced > 0, estimated=estimated) if priced else None


def cost_table(cost: Cost | None) -> dict[str, Any] | None:
    """Return a cost as the object that all surfaces show; None: no call had a price."""
    if cost is None:
        return None
    return {"micros": cost.micros, "incomplete": cost.incomplete, "estimated": cost.estimated}


def last_text(records: Iterable[Record], agent: str | None = None) -> str:
    """Return the text of the last answer; pieces of one that was cut off count as one.

    An answer that only calls tools has none.  A call that failed before anything came is no
    answer, nor is one whose place another attempt took.  ``agent``: that subagent's answer
    instead of the turn's own.
    """
    pieces: list[str] = []
    for record in records:
        if not isinstance(record, AssistantMessage) or record.agent != agent:
            continue
        if _is_answer(record):
            if not record.continues:
                pieces.clear()
            pieces += (part.text for part in record.parts if isinstance(part, Text))
    return "".join(pieces)


def _is_answer(message: AssistantMessage) -> bool:
    if message.superseded:
        return False
    return bool(message.parts) or message.finish not in {"broken", "failed", "cancelled"}


def _metrics(records: Sequence[Record], retries: int, wall_ms: int) -> Metrics:
    calls = [each for each in records if isinstance(each, AssistantMessage | Compacted)]
    own = [each for each in calls if each.agent is None]
    begun = [each for each in records if isinstance(each, TurnStarted)]
    agents = {each.agent for each in (*calls, *begun)} - {None}
    results = [each for each in records if isinstance(each, ToolResult) and each.agent is None]
    tool_calls = _tool_calls(records)
    jobs = sum(isinstance(each, JobStarted) for each in records)
    denied = sum(1 for each in records if isinstance(each, PermissionDecided) and _is_denial(each))
    last = next((each for each in reversed(own) if isinstance(each, AssistantMessage)), None)
    messages = [each for each in own if isinstance(each, AssistantMessage)]
    used = None if last is None else last.usage
    return Metrics(
        model_calls=len(own),
        retries=retries,
        tool_calls=tool_calls,
        tool_failures=sum(each.status == "failed" for each in results),
        tool_denials=denied,
        compactions=sum(isinstance(each, Compacted) for each in own),
        wall_ms=wall_ms,
        model_ms=sum(each.model_ms or 0 for each in own) if own else None,
        ttft_ms=messages[0].ttft_ms if messages else None,
        tool_ms=sum(each.ms or 0 for each in results) if tool_calls else None,
        wait_ms=_sum(_waits(records)),
        **_tokens([each.usage for each in calls]),
        usage_missing_calls=sum(each.usage is None for each in calls) or None,
        context_tokens=None if used is None else used.input_tokens + used.output_tokens,
        context_window=None if last is None else last.context_window,
        subagent_calls=len(agents) or None,
        subagent_model_calls=(len(calls) - len(own)) or None,
        jobs_started=jobs or None,
    )


def _tokens(usages: Sequence[Usage | None]) -> dict[str, int | None]:
    known = [each for each in usages if each is not None]
    return {
        "input_tokens": _sum(each.input_tokens for each in known),
        "output_tokens": _sum(each.output_tokens for each in known),
        "cache_read_tokens": _sum(each.cache_read_tokens for each in known),
        "cache_write_tokens": _sum(each.cache_write_tokens for each in known),
        "reasoning_tokens": _sum(each.reasoning_tokens for each in known),
    }


def _sum(values: Iterable[int | None]) -> int | None:
    """Add up what is known; None when nothing is."""
    known = [each for each in values if each is not None]
    return sum(known) if known else None


def _waits(records: Iterable[Record]) -> Iterable[int | None]:
    asked = (PermissionDecided, QuestionAnswered)
    return (each.wait_ms for each in records if isinstance(each, asked))


def _tool_calls(records: Iterable[Record]) -> int:
    """Count calls that got as far as a decision or a result; a crash may cut off either.

    By number, not by id alone: some servers number anew in each answer.
    """
    decided, ended = Counter[str](), Counter[str]()
    for record in records:
        if isinstance(record, PermissionDecided) and record.agent is None:
            decided[record.call_id] += 1
        elif isinstance(record, ToolResult) and record.agent is None:
            ended[record.call_id] += 1
    return (decided | ended).total()


def _is_denial(decided: PermissionDecided) -> bool:
    return decided.decision == "deny" and decided.agent is None


def _denials(records: Sequence[Record]) -> Iterable[Denial]:
    tools: dict[str, str] = {}
    for record in records:
        if isinstance(record, AssistantMessage):
            tools.update((call.call_id, call.name) for call in calls_of(record))
        elif isinstance(record, PermissionDecided) and _is_denial(record):
            reason = record.reason or f"denied by {record.source}"
            yield Denial(record.call_id, tools.get(record.call_id, ""), reason)


def _lasted(entries: Sequence[Entry]) -> int:
    """Return how long a turn lasted that nobody ended, by the times of its records."""
    import datetime as dt

    try:
        times = [dt.datetime.fromisoformat(each.ts) for each in (entries[0], entries[-1])]
        return max(0, round((times[1] - times[0]).total_seconds() * 1000))
    except (IndexError, ValueError, TypeError):
        return 0
