from __future__ import annotations

import pytest
from hypothesis import given, settings

from protocol.acp.cutting import MAX_UPDATE_BYTES
from protocol.acp.permissions import (
    CancelledOutcome,
    Malformed,
    PermissionOption,
    Selected,
    parse_permission_outcome,
    permission_request,
)
from protocol.acp.updates import ToolCallUpdate
from protocol.jsonrpc import encode_request
from tests.protocol.json_values import VALUES


def test_a_selection_is_read() -> None:
    answer = {"outcome": {"outcome": "selected", "optionId": "yes", "_meta": {}}, "_meta": None}

    assert parse_permission_outcome(answer) == Selected("yes")
    assert parse_permission_outcome(answer, {"yes", "no"}) == Selected("yes")


def test_an_option_that_was_not_offered_is_no_selection() -> None:
    answer = {"outcome": {"outcome": "selected", "optionId": "root"}}

    assert parse_permission_outcome(answer, ("yes", "no")) == Malformed()


def test_a_cancelled_outcome_is_read() -> None:
    assert parse_permission_outcome({"outcome": {"outcome": "cancelled"}}) == CancelledOutcome()


@pytest.mark.parametrize(
    "answer",
    [
        None,
        {},
        [],
        "yes",
        True,
        {"outcome": None},
        {"outcome": "selected"},
        {"outcome": {}},
        {"outcome": {"outcome": "selected"}},
        {"outcome": {"outcome": "selected", "optionId": None}},
        {"outcome": {"outcome": "selected", "optionId": 1}},
        {"outcome": {"outcome": "SELECTED", "optionId": "yes"}},
        {"outcome": {"outcome": ["selected"], "optionId": "yes"}},
        {"outcome": {"optionId": "yes"}},
        {"outcome": "selected", "optionId": "yes"},
        {"optionId": "yes"},
    ],
)
def test_whatever_is_no_clear_selection_is_a_refusal(answer: object) -> None:
    assert parse_permission_outcome(answer) == Malformed()


@settings(deadline=None)
@given(answer=VALUES)
def test_no_answer_raises_or_grants_by_chance(answer: object) -> None:
    assert not isinstance(parse_permission_outcome({"outcome": answer}, {"yes"}), Selected)


def test_a_question_with_a_huge_tool_call_still_fits_one_line() -> None:
    call = ToolCallUpdate(tool_call_id="t", raw_input={"text": "x" * 3_000_000})
    options = [PermissionOption("yes", "Yes", "allow_once")]

    line = encode_request(1, "session/request_permission", permission_request("s", call, options))

    assert len(line) <= MAX_UPDATE_BYTES
    assert b"left out" in line
