"""docs/reference says what the tables in the code say."""

from __future__ import annotations

import os
import re

import pytest

from runtimes.chant.reference import main, pages
from runtimes.chant.verbs.table import VERBS
from tests.shared import ROOT

FOLDER = ROOT / "docs" / "reference"


@pytest.mark.parametrize("name", sorted(pages()))
def test_a_page_is_as_it_would_be_made_now(name: str) -> None:
    assert (FOLDER / name).read_text() == pages()[name], "`make reference` makes it anew"


def test_nothing_else_lies_there() -> None:
    assert sorted(os.listdir(FOLDER)) == sorted(pages())


def test_every_verb_has_a_section_that_the_list_links_to() -> None:
    text = pages()["verbs.md"]

    for verb in VERBS:
        assert f"\n## chant {verb.name}\n" in text
        assert f"(#chant-{'-'.join(verb.path)})" in text


def test_links_lead_to_pages() -> None:
    linked = set(re.findall(r"\]\(([^)#]+)\)", pages()["README.md"]))

    assert linked == pages().keys() - {"README.md"}


def test_a_page_that_is_no_longer_made_is_removed(tmp_path: object) -> None:
    folder = str(tmp_path)
    with open(os.path.join(folder, "old.md"), "w", encoding="utf-8") as page:
        page.write("old")

    main(folder)

    assert sorted(os.listdir(folder)) == sorted(pages())
