"""Lines of ours, told apart by what they say."""

from __future__ import annotations

import pytest

from protocol.acp.line_kinds import LineKind, line_kind
from protocol.errors import InternalError
from protocol.jsonrpc import encode_error, encode_notification, encode_request, encode_result


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (
            encode_notification("session/update", {"update": {"sessionUpdate": "plan"}}),
            LineKind("update", "plan"),
        ),
        (
            encode_request(1, "session/request_permission", {}),
            ("question", "session/request_permission"),
        ),
        (encode_result(1, {"protocolVersion": 1}), LineKind("answer", "initialize")),
        (encode_result(1, {"sessionId": "s"}), LineKind("answer", "session/new")),
        (encode_result(1, {"stopReason": "end_turn"}), LineKind("answer", "session/prompt")),
        (encode_result(1, {}), LineKind("answer", "other")),
        (encode_result(1, None), LineKind("answer", "other")),
        (encode_error(1, InternalError()), LineKind("answer", "error")),
        (b"no JSON\n", LineKind("other", "")),
    ],
)
def test_a_line_is_told_by_what_only_it_has(line: bytes, kind: LineKind) -> None:
    assert line_kind(line) == kind
