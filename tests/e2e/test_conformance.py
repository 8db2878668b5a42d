"""Every row of the conformance list has a test on both agents."""

from __future__ import annotations

import re

import pytest

from tests.e2e.agents import CHANT, RADIAN, AgentKind
from tests.e2e.conformance import covering
from tests.shared import ROOT, shared_path

ROW = r"^\| ([A-Z]\d\d[a-z]?(?:, [A-Z]\d\d)*) \|"

both = pytest.mark.parametrize("agent", [CHANT, RADIAN], ids=lambda agent: agent.name)


@both
def test_every_row_of_the_list_is_tried(agent: AgentKind) -> None:
    page = shared_path("spec", "protocol.md").read_text(encoding="utf-8")
    _, _, section = page.partition("## 15 Conformance list")
    listed = section.partition("\n## ")[0]
    ids = [each for row in re.findall(ROW, listed, re.MULTILINE) for each in row.split(", ")]
    tried = covering(agent)

    assert len(ids) > 100
    # A letter behind the number is a case of a row.
    assert [each for each in ids if each[:3] not in tried] == []


@both
def test_every_test_that_is_named_exists(agent: AgentKind) -> None:
    for tests in covering(agent).values():
        for name in tests:
            path, _, function = name.partition("::")
            assert f"def {function}(" in (ROOT / "tests" / path).read_text(encoding="utf-8"), name
