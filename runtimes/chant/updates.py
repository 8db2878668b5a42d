"""What a turn says into the updates that a client sees.  Pure, and without memory.

Ids are made from the run's and the step's, so they are unique in a session and the same whoever
asks: a tool call is ``<run>/<step>``, a message ``<run>/<step>/<stream>``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias, assert_never

from ops.events import (
    CompensationStarted,
    GatePending,
    PointWaiting,
    RunSettled,
    RunStarted,
    StepOutput,
    StepRetrying,
    StepSettled,
    StepStarted,
)
from protocol.acp.cutting import TEXT_PIECE_BYTES, cut_text, shorten_raw, shorten_text
from protocol.acp.updates import AgentMessageChunk, ToolCall, ToolCallUpdate, ToolText
from runtimes.chant.items import PlanAnnounced, RecordWritten, Remark, VerbOutput
from runtimes.chant.json_text import json_line, plain
from runtimes.chant.wording import gate_text, point_text, retry_text, settled_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from protocol.acp.updates import ToolContent, ToolStatus
    from runtimes.chant.items import Item

Update: TypeAlias = AgentMessageChunk | ToolCall | ToolCallUpdate

_FINAL: dict[str, ToolStatus] = {"fail": "failed", "cancelled": "failed"}
"""Step status to tool call status; the others are over without a fault, so ``completed``."""

_NEVER_RAN = {"skipped", "not_reached"}

_OUTPUT_BYTES = 8 * 1024
"""Streamed output in one message.  A client that stops reading leaves 64 of them waiting: half a
MiB, where messages of 56 KiB would hold seven times that."""

_RAW_BYTES = 24 * 1024
_TEXT_BYTES = 8 * 1024
"""What raw values and texts of a tool call keep: together they stay in a line of 60 KiB, which is
all that some clients can read.  Output has been streamed in full."""


def updates_of(item: Item) -> Iterator[Update]:
    """Say ``item`` in the protocol's words, cut so that no line gets too long."""
    match item:
        case StepOutput(run_id=run_id, step_id=step_id, stream=stream, text=text):
            yield from _chunks(f"{run_id}/{step_id}/{stream}", text, _OUTPUT_BYTES)
        case VerbOutput(message_id, text) | Remark(message_id, text):
            yield from _chunks(message_id, text, _OUTPUT_BYTES)
        case PlanAnnounced(run_id, plan):
            for step in plan.steps:
                yield _opened(f"{run_id}/{step.step_id}", step.title, "pending", step.args)
        case StepStarted():
            yield _started(item)
        case StepRetrying():
            yield ToolCallUpdate(tool_call_id=_call(item), content=_content(retry_text(item)))
        case StepSettled():
            yield _settled(item)
        case GatePending():
            yield from _chunks(f"{item.run_id}/gate", gate_text(item))
        case PointWaiting():
            yield from _chunks(f"{item.run_id}/point", point_text(item))
        case CompensationStarted(run_id=run_id, phases=phases):
            yield from _chunks(f"{run_id}/on_failure", f"on_failure: {', '.join(phases)}\n")
        case RecordWritten(run_id, record):
            yield from _chunks(f"{run_id}/record", json_line(record))
        case RunStarted() | RunSettled():
            return
        case _:
            assert_never(item)


def _chunks(
    message_id: str, text: str, limit_bytes: int = TEXT_PIECE_BYTES
) -> Iterator[AgentMessageChunk]:
    for piece in cut_text(text, limit_bytes):
        yield AgentMessageChunk(piece, message_id)


def _call(event: StepStarted | StepRetrying | StepSettled) -> str:
    return f"{event.run_id}/{event.step_id}"


def _opened(call: str, title: str, status: ToolStatus, args: Mapping[str, Any]) -> ToolCall:
    raw_input = shorten_raw(plain(args), _RAW_BYTES)
    return ToolCall(
        tool_call_id=call, title=title, kind="execute", status=status, raw_input=raw_input
    )


def _started(event: StepStarted) -> ToolCall | ToolCallUpdate:
    if event.compensates:  # no plan announced it
        return _opened(_call(event), event.title, "in_progress", event.args)
    return ToolCallUpdate(tool_call_id=_call(event), status="in_progress")


def _settled(event: StepSettled) -> ToolCall | ToolCallUpdate:
    text, status = settled_text(event), _FINAL.get(event.status, "completed")
    content = _content(text)
    if event.compensates and event.status in _NEVER_RAN:  # and nothing opened it either
        call = _opened(_call(event), event.title, status, event.args)
        return replace(call, content=content, raw_output=_raw_output(event))
    return ToolCallUpdate(
        tool_call_id=_call(event), status=status, content=content, raw_output=_raw_output(event)
    )


def _content(text: str) -> tuple[ToolContent, ...] | None:
    return (ToolText(shorten_text(text, _TEXT_BYTES)),) if text else None


def _raw_output(event: StepSettled) -> Any:
    """Return the facts of the ledger's step line, those that are there, and the output."""
    facts = {
        "status": event.status,
        "attempts": event.attempts,
        "duration_ms": event.duration_ms,
        "exit_code": event.exit_code,
        "error": event.error,
        "outcomes": event.outcomes or None,
        "approval": event.approval,
        "output": event.output or None,
        "output_bytes": event.output_bytes or None,
        "output_digest": event.output_digest or None,
    }
    known = {name: value for name, value in facts.items() if value is not None}
    return shorten_raw(plain(known), _RAW_BYTES)
