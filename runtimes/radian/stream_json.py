"""The events of a turn as ``--output jsonl``: one object a line, absent keys are not known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO, TextIO

from runtimes.models.json_text import encode
from runtimes.radian import events

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SCHEMA = 1


def event_table(event: events.Event) -> dict[str, Any]:
    """Return an event as an object."""
    match event:
        case events.Text(turn, call, delta):
            return {"type": "Text", "turn": turn, "call": call, "delta": delta}
        case events.Reasoning(turn, call, delta):
            return {"type": "Reasoning", "turn": turn, "call": call, "delta": delta}
        case events.ToolOutput(turn, call_id, delta):
            return {"type": "ToolOutput", "turn": turn, "call_id": call_id, "delta": delta}
        case _:
            return _rarer(event)


def _rarer(event: events.Event) -> dict[str, Any]:
    match event:
        case events.SessionStarted():
            return {
                "type": "SessionStarted",
                "schema": SCHEMA,
                "session_id": event.session_id,
                "workspace": event.workspace,
                "provider": event.provider,
                "model": event.model,
                "profile": event.profile,
                "trusted": event.trusted,
                "resumed": event.resumed,
                "version": event.version,
                **({"mcp_servers": list(event.mcp_servers)} if event.mcp_servers else {}),
            }
        case events.TurnStarted(turn, origin):
            return {"type": "TurnStarted", "turn": turn, "origin": origin}
        case events.ToolCall():
            return _tool_call(event)
        case events.ToolResult(turn, call_id, status, output, reason, agent):
            table = {"turn": turn, "call_id": call_id, "status": status, "output": output}
            return {"type": "ToolResult", **table, **_known(reason=reason, agent=agent)}
        case events.Permission(turn, call_id, decision, source, reason, agent):
            table = {"turn": turn, "call_id": call_id, "decision": decision, "source": source}
            return {"type": "Permission", **table, **_known(reason=reason, agent=agent)}
        case events.Usage():
            return _usage(event)
        case events.Retry(turn, call, attempt, delay_ms, cause, http_status):
            table = {"turn": turn, "call": call, "attempt": attempt, "delay_ms": delay_ms}
            return {"type": "Retry", **table, "cause": cause, **_known(http_status=http_status)}
        case events.Compaction(turn, tokens_before, tokens_after):
            table = {"turn": turn, "tokens_before": tokens_before}
            return {"type": "Compaction", **table, **_known(tokens_after=tokens_after)}
        case events.Warning(message):
            return {"type": "Warning", "message": message}
        case events.Job(job_id, state, exit_code):
            table = {"job_id": job_id, "state": state}
            return {"type": "Job", **table, **_known(exit_code=exit_code)}
        case events.TurnEnded(turn, end, reason, error):
            known = _known(reason=reason, error=error)
            return {"type": "TurnEnded", "turn": turn, "end": end, **known}
        case _:
            raise TypeError(event)


def _tool_call(event: events.ToolCall) -> dict[str, Any]:
    return {
        "type": "ToolCall",
        "turn": event.turn,
        "call_id": event.call_id,
        "name": event.name,
        "title": event.title,
        "kind": event.kind,
        "locations": [{"path": place.path, **_known(line=place.line)} for place in event.locations],
        "input": event.input,
        **_known(agent=event.agent),
    }


def _usage(event: events.Usage) -> dict[str, Any]:
    tokens = event.tokens
    return {
        "type": "Usage",
        "turn": event.turn,
        "call": event.call,
        "input_tokens": tokens.input_tokens,
        "output_tokens": tokens.output_tokens,
        **_known(
            cache_read_tokens=tokens.cache_read_tokens,
            cache_write_tokens=tokens.cache_write_tokens,
            reasoning_tokens=tokens.reasoning_tokens,
            context_window=event.context_window,
        ),
    }


def _known(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


class JsonLines:
    """Writes each event as it comes, and the result last; to ``err`` what people must know."""

    def __init__(self, out: BinaryIO, err: TextIO) -> None:
        self._out = out
        self._err = err

    def show(self, items: Sequence[events.Event]) -> None:
        """Write events; may wait for whoever reads."""
        unsaid = (events.Asked, events.Compacting)
        shown = [item for item in items if not isinstance(item, unsaid)]
        self._out.write(b"".join(encode(event_table(item)) + b"\n" for item in shown))
        self._out.flush()
        _tell_people(items, self._err)

    def result(self, table: Mapping[str, Any]) -> None:
        """Write the last object."""
        self._out.write(encode(table) + b"\n")
        self._out.flush()


class JsonResult:
    """Writes the result alone; to ``err`` what people must know."""

    def __init__(self, out: BinaryIO, err: TextIO) -> None:
        self._out = out
        self._err = err

    def show(self, items: Sequence[events.Event]) -> None:
        """Write to ``err`` alone: warnings, questions, and why a turn did not complete."""
        _tell_people(items, self._err)

    def result(self, table: Mapping[str, Any]) -> None:
        """Write the object."""
        self._out.write(encode(table) + b"\n")
        self._out.flush()


def _tell_people(items: Sequence[events.Event], err: TextIO) -> None:
    """Tell people, too, who see a failed command and not what a program reads."""
    for item in items:
        match item:
            case events.Asked(text):
                err.write(text)
                err.flush()
            case events.Warning() | events.TurnEnded(end="Incomplete" | "Interrupted" | "Failed"):
                from runtimes.radian.stream_text import line_of

                err.write(f"{line_of(item)}\n")
                err.flush()
            case _:
                pass
