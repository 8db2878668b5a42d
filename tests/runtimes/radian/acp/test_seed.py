"""Every sentence of the page that `radian acp` was made from has tests, named after its heading."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.runtimes.radian.acp.seed_index import SENTENCES
from tests.seed import sentences, words_of
from tests.shared import ROOT, shared_path

if TYPE_CHECKING:
    from tests.runtimes.radian.acp.seed_index import Row

FOLDER = ROOT / "tests" / "runtimes" / "radian" / "acp"
ROWS = [
    pytest.param(heading, row, id=f"{words_of(heading)}: {row.gist}")
    for heading, rows in SENTENCES.items()
    for row in rows.values()
]


@pytest.mark.parametrize(("heading", "row"), ROWS)
def test_a_sentence_has_tests_that_name_its_heading(heading: str, row: Row) -> None:
    assert row.tests
    source = FOLDER.joinpath(f"{row.module}.py").read_text(encoding="utf-8")
    for rest in row.tests:
        name = f"test_{words_of(row.see or heading)}_{rest}"
        assert f"def {name}(" in source, name


def test_every_sentence_has_a_row_and_every_row_a_sentence() -> None:
    page = shared_path("spec", "radian-acp.seed.txt").read_text(encoding="utf-8")
    asked = {(each.heading, each.fingerprint): each.text for each in sentences(page)}
    held = {(heading, each) for heading, rows in SENTENCES.items() for each in rows}

    assert {key: text for key, text in asked.items() if key not in held} == {}
    assert held - asked.keys() == set()
