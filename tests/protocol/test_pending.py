from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from protocol.pending import PendingTable

if TYPE_CHECKING:
    from protocol.jsonrpc import RequestId


def test_each_question_gets_a_fresh_integer() -> None:
    table: PendingTable[str] = PendingTable()

    first = table.issue("a", "turn")
    table.take(first)

    assert [first, table.issue("b", "turn"), table.issue("c", "turn")] == [1, 2, 3]


def test_answers_in_any_order_find_their_question_once() -> None:
    table: PendingTable[str] = PendingTable()
    first, second = table.issue("a", "turn"), table.issue("b", "turn")

    assert table.take(second) == "b"
    assert table.take(first) == "a"
    assert table.take(first) is None
    assert len(table) == 0


@pytest.mark.parametrize("request_id", [2, 0, -1, "1", 1.0, True, None])
def test_an_answer_to_an_unknown_id_finds_nothing(request_id: RequestId) -> None:
    table: PendingTable[str] = PendingTable()
    table.issue("a", "turn")

    assert table.take(request_id) is None
    assert len(table) == 1


def test_an_ended_turn_drops_its_own_questions_only() -> None:
    table: PendingTable[str] = PendingTable()
    table.issue("a", "turn-1")
    kept = table.issue("b", "turn-2")
    table.issue("c", "turn-1")

    assert table.drop_owner("turn-1") == ((1, "a"), (3, "c"))
    assert table.take(1) is None
    assert table.take(kept) == "b"
