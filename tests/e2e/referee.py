"""Judges each line an agent writes, by itself and against what was sent before.

Every end-to-end test gets these rules for free: pure JSON-RPC lines, the published schema, at most
one answer a request, no update outside a turn or of a session that the client was not told of, tool
calls opened before they are updated or asked about and none left open when their turn is answered,
whole paths, short lines, and no method but the two that every client has.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from typing import Any, NoReturn, TypeAlias

from tests.protocol.judge import judge_call, judge_error, judge_result
from tests.shared import shared_folder

SCHEMA_FILE = ("acp-schema", "v1-sdk-2.4.0.json")
OUTSIDE_TURNS = frozenset({"available_commands_update"})
SHOWING = frozenset({"session/prompt", "session/load"})
"""Methods that bring updates before their answer: what happens, or what has happened."""
OPEN = frozenset({"pending", "in_progress"})
STOP_REASONS = frozenset(
    {"end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled", "waiting"}
)
ALL_JUDGED = 200
ONE_IN = 97
LONGEST_JUDGED = 1 << 20
"""Bytes; the judge is slow on long texts."""
LONGEST_CALL = 60 * 1024
"""Bytes of an update or a question of ours: some clients break on a line of 64 KiB (P19)."""
OURS = frozenset({"session/update", "session/request_permission"})
"""What an agent may send to a client that has no capability (P12), and ours to every client."""
OPENING = frozenset({"session/new", "session/load", "session/resume"})

Message: TypeAlias = dict[str, Any]


class Referee:
    """Knows what was asked on one connection."""

    def __init__(self) -> None:
        self._unended = bytearray()
        self._owed: Counter[str] = Counter()
        self._methods: dict[str, list[Message]] = defaultdict(list)
        self._answerable = 0
        """Lines that were not answered yet, with or without an id."""
        self._turns: dict[str, Counter[str]] = defaultdict(Counter)
        self._tools: dict[str, dict[str, str]] = defaultdict(dict)
        self._asked: set[str] = set()
        self._named: set[str] = set()
        """Sessions that an answer has named."""
        self._replayed: Counter[str] = Counter()
        """Sessions whose `session/load` is not answered."""
        self._updates = 0
        self.own_turns = False
        """Whether the agent may show turns that no request asked for."""
        self.longest = 0
        """Bytes of the longest line received."""
        self._has_schema = shared_folder().joinpath(*SCHEMA_FILE).exists()

    def sent(self, data: bytes) -> None:
        """Note what the client asks; lines that are no JSON at all are fine here."""
        *ended, rest = data.split(b"\n")
        for piece in ended:
            self._note(bytes(self._unended + piece))
            self._unended.clear()
        self._unended += rest

    def _note(self, line: bytes) -> None:
        self._answerable += bool(line.strip())
        try:
            message = json.loads(line.removeprefix(b"\xef\xbb\xbf"))
        except (ValueError, RecursionError):
            return
        if not isinstance(message, dict) or not isinstance(
            message.get("id"), str | int | float | None
        ):
            return
        if "id" not in message:
            return
        key = _key(message["id"])
        self._owed[key] += 1
        self._methods[key].append(message)
        session_id = _session_of(message)
        if message.get("method") in SHOWING and session_id is not None:
            self._turns[session_id][key] += 1
            self._replayed[session_id] += message["method"] == "session/load"

    def received(self, line: bytes) -> Message:
        """Take one line without its LF; raise AssertionError for a breach of any rule."""
        self.longest = max(self.longest, len(line))
        assert b"\r" not in line, line[:200]
        message = json.loads(line.decode("utf-8"), parse_constant=_no_constant)
        assert isinstance(message, dict), line[:200]
        assert message.get("jsonrpc") == "2.0", line[:200]
        if "method" in message:
            assert len(line) <= LONGEST_CALL, f"{len(line)} bytes: {line[:200]!r}"
            self._call(message, judged=len(line) <= LONGEST_JUDGED)
        else:
            self._answer(message)
        return message

    def _call(self, message: Message, *, judged: bool) -> None:
        if "id" in message:
            assert isinstance(message["id"], str | int), message
            key = _key(message["id"])
            assert key not in self._asked, f"an id of ours came twice: {message}"
            self._asked.add(key)
        self._updates += 1
        judged = judged and (self._updates <= ALL_JUDGED or self._updates % ONE_IN == 0)
        if self._has_schema and judged:
            judge_call(message)
        assert message["method"] in OURS, message
        params = message["params"]
        session_id = params["sessionId"]
        told = session_id in self._named or self._replayed[session_id]
        assert told, f"of a session that no answer has named: {message}"
        if message["method"] == "session/update":
            self._update(session_id, params["update"])
        else:
            self._question(session_id, params)

    def _question(self, session_id: str, params: Message) -> None:
        ids = [option["optionId"] for option in params["options"]]
        assert len(set(ids)) == len(ids) > 0, params
        assert params["toolCall"]["toolCallId"] in self._tools[session_id], params
        _check_paths(params["toolCall"])

    def _update(self, session_id: str, update: Message) -> None:
        kind = update["sessionUpdate"]
        if kind in OUTSIDE_TURNS:
            return
        in_turn = self._turns[session_id].total() or self.own_turns
        assert in_turn, f"an update outside any turn: {update}"
        if kind.endswith("_chunk"):
            assert update.get("messageId"), update
        if kind == "usage_update":
            assert type(update["used"]) is type(update["size"]) is int, update
        if kind.startswith("tool_call"):
            _check_paths(update)
        tools = self._tools[session_id]
        if kind == "tool_call":
            assert update["toolCallId"] not in tools, f"opened twice: {update}"
            tools[update["toolCallId"]] = update.get("status", "pending")
        if kind == "tool_call_update":
            assert tools.get(update["toolCallId"]) in OPEN, f"not open: {update}"
            tools[update["toolCallId"]] = update.get("status", tools[update["toolCallId"]])

    def _answer(self, message: Message) -> None:
        assert ("result" in message) != ("error" in message), message
        key = _key(message["id"])
        request: Message | None = None
        if self._owed[key]:
            self._owed[key] -= 1
            request = self._methods[key].pop(0)
        else:
            assert message["id"] is None, f"an answer that nobody asked for: {message}"
        assert self._answerable, f"more answers than lines: {message}"
        self._answerable -= 1
        if "error" in message:
            self._error(message)
        if request is not None:
            self._end(key, request, message)

    def _error(self, message: Message) -> None:
        if self._has_schema:
            judge_error(message)
        text = message["error"]["message"]
        assert len(text) <= 500, text
        assert "\n" not in text, text
        assert "Traceback" not in text, text

    def _end(self, key: str, request: Message, message: Message) -> None:
        method, session_id = request.get("method"), _session_of(request)
        if "result" in message:
            assert isinstance(method, str), message
            # An extension of ours for clients that send this notification with an id.
            if self._has_schema and method != "session/cancel":
                judge_result(method, _closed_stop_reason(message))
        if method in OPENING and "result" in message:
            self._named.add(message["result"].get("sessionId", session_id))
        if method not in SHOWING or session_id is None:
            return
        self._replayed[session_id] -= method == "session/load"
        self._turns[session_id][key] -= 1
        if "result" in message and method == "session/prompt":
            assert message["result"]["stopReason"] in STOP_REASONS, message
        if not self._turns[session_id].total():
            left = {name for name, status in self._tools[session_id].items() if status in OPEN}
            assert not left, f"tool calls left open at the end of the turn: {left}"


def _closed_stop_reason(message: Message) -> Message:
    """``waiting`` is chant's own word, and the only one that the schema may miss."""
    result = message["result"]
    if result.get("stopReason") == "waiting":
        return {**message, "result": {**result, "stopReason": "end_turn"}}
    return message


def _check_paths(call: Message) -> None:
    """Hold the places and changes of a tool call to whole paths and lines from 1 (P17)."""
    changes = [part for part in call.get("content") or () if part["type"] == "diff"]
    for place in [*(call.get("locations") or ()), *changes]:
        assert place["path"].startswith("/"), call
        assert place.get("line") is None or place["line"] >= 1, call


def _session_of(message: Message) -> str | None:
    params = message.get("params")
    session_id = params.get("sessionId") if isinstance(params, dict) else None
    return session_id if isinstance(session_id, str) else None


def _key(request_id: object) -> str:
    """Tell 1 from 1.0 from "1"; half a surrogate pair comes back as a replacement mark."""
    if isinstance(request_id, str):
        request_id = re.sub("[\ud800-\udfff]", "\ufffd", request_id)
    return repr(request_id)


def _no_constant(name: str) -> NoReturn:
    message = f"{name} is not JSON"
    raise AssertionError(message)
