"""The record of a question: votes, quorum, roles, retraction; and what is not taken."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ops.errors import LedgerError
from ops.points_asking import people_only
from ops.points_book import (
    PointRefused,
    answer_path,
    fact_of,
    is_open,
    read_record,
    retracted,
    voted,
    written,
)
from tests.ops.questions import NOW_S, SHIP_IT, asker, point, voice


def question(count: int = 1, *roles: str, steward: str | None = None) -> dict[str, Any]:
    text = SHIP_IT.replace("count = 1", f"count = {count}")
    asked = point(text.replace("roles = []", f"roles = {json.dumps(roles)}"))
    return dict(people_only(asked, {"risk": "odd"}, asker(steward), NOW_S).record)


def answer(record: dict[str, Any], value: str, *voices: Any) -> dict[str, Any]:
    return voted(record, voices, value, "", NOW_S)


def refused(code: str, record: dict[str, Any], value: str, *voices: Any) -> PointRefused:
    with pytest.raises(PointRefused) as caught:
        answer(record, value, *voices)
    assert caught.value.code == code
    return caught.value


def test_one_word_answers_where_one_is_enough() -> None:
    answered = answer(question(), "yes", voice("ann"))

    assert answered["state"] == "answered"
    assert answered["answer"] == "yes"
    assert answered["by"] == ["ann"]
    assert not is_open(answered)


def test_a_quorum_needs_that_many_people_who_say_the_same() -> None:
    one = answer(question(2), "yes", voice("ann"))
    other = answer(one, "no", voice("bob"))
    done = answer(other, "yes", voice("cid"))

    assert is_open(one)
    assert is_open(other)
    assert (done["answer"], done["by"]) == ("yes", ["ann", "cid"])


def test_two_names_in_one_command_count_as_two_people() -> None:
    assert answer(question(2), "yes", voice("ann"), voice("bob"))["by"] == ["ann", "bob"]


def test_a_name_counts_once_however_it_is_spelled() -> None:
    twice = answer(question(2), "yes", voice("Ann"), voice(" ann "))

    assert is_open(twice)
    assert len(twice["votes"]) == 1


def test_who_speaks_again_changes_their_mind() -> None:
    changed = answer(answer(question(2), "yes", voice("ann")), "no", voice("ann"))
    done = answer(changed, "no", voice("bob"))

    assert done["answer"] == "no"


def test_names_that_are_only_claimed_are_one_person_to_a_quorum() -> None:
    claimed = [voice(name, attested=False) for name in ("ann", "bob", "cid")]

    assert is_open(answer(question(2), "yes", *claimed))


def test_only_holders_of_a_role_have_a_say_where_roles_are_named() -> None:
    wanted = question(1, "release-manager")

    refused("role-missing", wanted, "yes", voice("ann"))
    refused("role-missing", wanted, "yes", voice("bob", "release-manager", attested=False))
    assert answer(wanted, "yes", voice("bob", "release-manager"))["by"] == ["bob"]


def test_the_steward_that_asked_does_not_answer() -> None:
    error = refused("own-question", question(steward="box-steward"), "yes", voice("Box-Steward"))

    assert "does not answer its own question" in str(error)


def test_an_answer_must_be_a_candidate() -> None:
    error = refused("answer-not-candidate", question(), "maybe", voice("ann"))

    assert "possible: yes, no" in str(error)


def test_an_answered_question_is_not_answered_again() -> None:
    answered = answer(question(), "yes", voice("ann"))

    error = refused("already-answered", answered, "no", voice("bob"))

    assert "yes, by ann; retract it first" in str(error)


def test_a_retracted_answer_opens_the_question_and_stays_in_its_history() -> None:
    answered = answer(question(), "yes", voice("ann"))

    reopened = retracted(answered, voice("bob"), "too early", NOW_S + 60)

    assert is_open(reopened)
    assert reopened["votes"] == []
    (past,) = reopened["history"]
    assert past["answer"] == "yes"
    assert past["by"] == ["ann"]
    assert past["retracted"]["by"] == "bob"
    assert past["retracted"]["note"] == "too early"


def test_there_is_nothing_to_retract_from_a_question_nobody_answered() -> None:
    with pytest.raises(PointRefused, match="not-answered"):
        retracted(question(), voice("bob"), "", NOW_S)


def test_a_record_is_read_as_it_was_written() -> None:
    record = answer(question(), "yes", voice("ann"))

    assert read_record(written(record), "x") == record
    assert fact_of(record)["by"] == "ann"


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"{",
        b"[]",
        b'{"version": 2}',
        written({**question(), "state": "done"}),
        written({**question(), "state": "answered", "answer": "maybe", "by": ["x"]}),
        b"[" * 100_000,
        written({**question(), "quorum": {}}),
        written({**question(), "inputs": 7}),
        written({**question(), "inputs": ["risk"]}),
        written({**question(), "title": None}),
        written({**question(), "asked": {"at": 7, "steward": None}}),
        written({**question(), "deciders": [7]}),
        written({**question(), "votes": [{"by": "ann"}]}),
        written({**question(), "proposal": {"answer": "yes"}}),
        written({**question(), "state": "answered", "answer": "yes", "by": []}),
        written({name: value for name, value in question().items() if name != "votes"}),
    ],
)
def test_a_record_that_cannot_be_told_is_an_error_and_never_an_answer(damage: bytes) -> None:
    with pytest.raises(LedgerError, match=r"_answers/x\.json on the ledger's branch can't be read"):
        read_record(damage, "_answers/x.json")


@pytest.mark.parametrize("name", ["", "..", "a/b", "../x", "A-b", "ship it", "x.json", "a\n", "é"])
def test_what_can_be_no_id_is_no_path(name: str) -> None:
    with pytest.raises(PointRefused, match="question-unknown"):
        answer_path(name)
