"""Questions on a real branch: asked once, answered by compare-and-swap, refused without a trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ops.errors import LedgerError
from ops.ledger import Ledger, open_ledger
from ops.points_asking import people_only
from ops.points_book import PointRefused, is_open
from ops.points_ledger import PointLedger
from ops.project import LedgerSettings
from tests.fakes import Running
from tests.ops.projects import git, repository
from tests.ops.questions import NOW_S, asker, point, voice

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ops.points_asking import Settled
    from ops.run_values import Origin

REF = "refs/heads/chant/lifecycle"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return repository(tmp_path / "repo")


@pytest.fixture
def questions(folder: Path) -> PointLedger:
    opened = open_ledger(str(folder), LedgerSettings())
    assert isinstance(opened, Ledger)
    return PointLedger(opened)


def asked(risk: str = "odd", channel: Origin = "cli") -> Settled:
    return people_only(point(), {"risk": risk}, asker(None, channel), NOW_S)


def ident(risk: str = "odd") -> str:
    return point().question_id({"risk": risk})


def tip(folder: Path) -> str:
    return git(folder, "rev-parse", REF)


def test_a_question_is_one_file_on_the_branch_and_nowhere_in_the_checkout(
    folder: Path, questions: PointLedger
) -> None:
    questions.keep(asked())

    assert git(folder, "ls-tree", "-r", "--name-only", REF) == f"_answers/{ident()}.json"
    assert git(folder, "status", "--porcelain") == ""


def test_the_same_question_is_asked_once(folder: Path, questions: PointLedger) -> None:
    questions.keep(asked())
    before = tip(folder)

    again = questions.keep(asked(channel="acp"))

    assert again.record["asked"]["channel"] == "cli"
    assert tip(folder) == before


def test_an_answer_that_came_meanwhile_is_what_a_second_asker_gets(questions: PointLedger) -> None:
    questions.keep(asked())
    questions.answer(ident(), [voice("ann")], "yes", "", NOW_S)

    assert questions.keep(asked()).record["answer"] == "yes"


def test_many_at_once_ask_once_and_lose_no_vote(questions: PointLedger) -> None:
    voters = [f"voter {number}" for number in range(8)]
    started = [Running(lambda: questions.keep(asked())) for _ in voters]
    for each in started:
        each.result(60)

    def vote(name: str) -> Callable[[], object]:
        def run() -> object:
            try:
                return questions.answer(ident(), [voice(name)], "yes", "", NOW_S)
            except PointRefused as error:
                return error.code

        return run

    said = [Running(vote(name)) for name in voters]
    codes = [each.result(60) for each in said]

    assert codes.count("already-answered") == len(voters) - 1
    found = questions.find(ident())
    assert found is not None
    assert found["answer"] == "yes"


@pytest.mark.parametrize(
    ("said", "code"),
    [
        (("", "ann", "perhaps"), "answer-not-candidate"),
        (("ship-it-000000000000", "ann", "yes"), "question-unknown"),
        (("../x", "ann", "yes"), "question-unknown"),
        (("", " ", "yes"), "name-missing"),
    ],
)
def test_a_refusal_leaves_the_branch_where_it_was(
    folder: Path, questions: PointLedger, said: tuple[str, str, str], code: str
) -> None:
    question_id, name, value = said
    questions.keep(asked())
    before = tip(folder)

    with pytest.raises(PointRefused) as caught:
        questions.answer(question_id or ident(), [voice(name)], value, "", NOW_S)

    assert caught.value.code == code
    assert tip(folder) == before


def test_a_retraction_is_recorded_and_one_of_nothing_is_not(
    folder: Path, questions: PointLedger
) -> None:
    questions.keep(asked())
    before = tip(folder)
    with pytest.raises(PointRefused, match="not-answered"):
        questions.retract(ident(), voice("bob"), "", NOW_S)
    assert tip(folder) == before
    questions.answer(ident(), [voice("ann")], "yes", "", NOW_S)

    reopened = questions.retract(ident(), voice("bob"), "no", NOW_S)

    assert is_open(reopened.record)
    assert [each["id"] for each in questions.open()[0]] == [ident()]


def test_a_damaged_question_is_told_and_hides_no_other(
    folder: Path, questions: PointLedger
) -> None:
    questions.keep(asked())
    branch = questions._ledger.branch
    branch.change("_answers/bad-000000000000.json", lambda _: b"{", "damage")

    records, damaged = questions.every()

    assert [each["id"] for each in records] == [ident()]
    assert len(damaged) == 1
    with pytest.raises(LedgerError, match="can't be read"):
        questions.find("bad-000000000000")
    assert git(folder, "status", "--porcelain") == ""
