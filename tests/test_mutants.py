"""The known wrong changes still apply, and a few of them are caught right here."""

from __future__ import annotations

import pytest

from tests.mutants.catalog import MUTANTS
from tests.mutants.mutant import Mutant, Pytest, Simulate
from tests.mutants.workshop import Workshop, changed
from tests.shared import ROOT

FAST = [mutant for mutant in MUTANTS if mutant.fast]


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    return Workshop(tmp_path_factory.mktemp("mutants"))


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_changes_code_that_is_still_there(mutant: Mutant) -> None:
    source = (ROOT / mutant.file).read_text(encoding="utf-8")

    compile(changed(mutant, source), mutant.file, "exec")


@pytest.mark.parametrize("source", ["", "a = 1\na = 1\n"])
def test_code_that_is_gone_or_there_twice_is_told(source: str) -> None:
    mutant = Mutant("m", "f.py", "a = 1\n", "a = 2\n", ())

    with pytest.raises(ValueError, match=r"mutant m: f\.py has its text [02] times, not once"):
        changed(mutant, source)


@pytest.mark.parametrize("mutant", FAST, ids=lambda mutant: mutant.name)
def test_a_mutant_is_caught(mutant: Mutant, workshop: Workshop) -> None:
    workshop.apply(mutant)

    outcome = workshop.ask(mutant.caught_by[0])

    workshop.undo(mutant)
    assert outcome == "failed", workshop.said


def test_without_a_mutant_the_tests_pass_there(workshop: Workshop) -> None:
    assert workshop.ask(FAST[0].caught_by[0]) == "passed", workshop.said


def test_every_test_that_shall_catch_something_exists() -> None:
    for mutant in MUTANTS:
        for catcher in mutant.caught_by:
            assert isinstance(catcher, Simulate) or (ROOT / catcher.path).is_file()
            assert isinstance(catcher, Simulate | Pytest)
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)
