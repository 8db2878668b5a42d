from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from protocol.owed import OwedTable

if TYPE_CHECKING:
    from protocol.jsonrpc import RequestId

SOME_IDS = st.sampled_from([0, 1, 1.0, "1", "", None])


def test_a_request_goes_from_owed_to_claimed_to_answering_to_gone() -> None:
    table = OwedTable()

    assert table.enter("a", 1)
    assert table.state("a") == "owed"
    assert table.claim("a", "turn-1")
    assert table.state("a") == "claimed"
    assert table.settle("a")
    assert table.state("a") == "answering"
    table.sent("a")
    assert table.state("a") is None


def test_an_id_in_flight_is_refused_and_served_again_after_its_answer() -> None:
    table = OwedTable()
    table.enter(1, 1)

    assert not table.enter(1, 2)
    table.settle(1)
    assert not table.enter(1, 3)
    table.sent(1)
    assert table.enter(1, 4)


def test_ids_that_compare_equal_are_different_requests() -> None:
    table = OwedTable()
    ids: list[RequestId] = [1, 1.0, "1", None, "", 0]

    assert all(table.enter(request_id, seq) for seq, request_id in enumerate(ids))
    assert [type(request_id) for request_id in table.unclaimed()] == [type(i) for i in ids]


def test_settling_works_once() -> None:
    table = OwedTable()
    table.enter(1, 1)

    assert [table.settle(1), table.settle(1)] == [True, False]


def test_what_is_unknown_claimed_or_being_answered_cannot_be_claimed() -> None:
    table = OwedTable()
    for request_id in ("claimed", "answering"):
        table.enter(request_id, 1)
    table.claim("claimed", "turn-1")
    table.settle("answering")

    assert not table.claim("unknown", "turn-2")
    assert not table.claim("claimed", "turn-2")
    assert not table.claim("answering", "turn-2")


def test_a_request_of_no_turn_is_settled_without_a_claim() -> None:
    table = OwedTable()
    table.enter(1, 1)

    assert table.settle(1)


def test_what_a_lost_turn_owes_is_listed_in_order() -> None:
    table = OwedTable()
    for seq, request_id in enumerate(("a", "b", "c", "d", "e")):
        table.enter(request_id, seq)
    table.claim("d", "turn-1")
    table.claim("b", "turn-1")
    table.claim("c", "turn-2")
    table.settle("e")

    assert table.owed_by("turn-1") == ("b", "d")
    assert table.unclaimed() == ("a",)
    assert table.seq("c") == 2
    assert table.seq("gone") is None


def test_answers_without_an_entry_count_until_they_are_sent() -> None:
    table = OwedTable()
    table.enter(1, 1)
    table.enter_anonymous()

    assert table.unanswered == 2
    table.settle(1)
    assert table.unanswered == 2
    table.sent(1)
    table.sent_anonymous()
    assert table.unanswered == 0


def test_sending_what_nobody_owes_changes_nothing() -> None:
    table = OwedTable()

    table.sent("unknown")
    table.sent_anonymous()

    assert table.unanswered == 0


class EachRequestIsAnsweredOnce(RuleBasedStateMachine):
    """Whatever order reader, turns and senders act in, each entry yields one right to answer."""

    def __init__(self) -> None:
        """Start with an empty table and an empty record of it."""
        super().__init__()
        self.table = OwedTable()
        self.rights: dict[tuple[type, RequestId], int] = {}

    @rule(request_id=SOME_IDS)
    def enter(self, request_id: RequestId) -> None:
        key = (type(request_id), request_id)
        assert self.table.enter(request_id, 0) == (key not in self.rights)
        self.rights.setdefault(key, 0)

    @rule(request_id=SOME_IDS, turn=st.sampled_from(["t1", "t2"]))
    def claim(self, request_id: RequestId, turn: str) -> None:
        if self.table.claim(request_id, turn):
            assert request_id in self.table.owed_by(turn)

    @rule(request_id=SOME_IDS)
    def settle(self, request_id: RequestId) -> None:
        if self.table.settle(request_id):
            self.rights[type(request_id), request_id] += 1

    @rule(request_id=SOME_IDS)
    def sent(self, request_id: RequestId) -> None:
        if self.table.state(request_id) == "answering":
            self.table.sent(request_id)
            assert self.rights.pop((type(request_id), request_id)) == 1

    @invariant()
    def counts_agree(self) -> None:
        assert self.table.unanswered == len(self.rights)
        assert all(count <= 1 for count in self.rights.values())


EachRequestIsAnsweredOnce.TestCase.settings = settings(deadline=None, max_examples=60)
TestEachRequestIsAnsweredOnce = EachRequestIsAnsweredOnce.TestCase
