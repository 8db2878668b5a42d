"""The settings of docs/editors.md: they can be read, and start what there is."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from runtimes.radian.flags import CONVERSATION
from tests.shared import ROOT

GUIDE = (ROOT / "docs" / "editors.md").read_text("utf-8")
FILES = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", GUIDE, re.DOTALL)]
AGENTS = {"radian", "chant"}


@pytest.mark.parametrize("settings", FILES, ids=[next(iter(each)) for each in FILES])
def test_a_file_of_settings_starts_both_agents(settings: dict[str, Any]) -> None:
    (agents,) = settings.values()

    assert agents.keys() == AGENTS
    for name, started in agents.items():
        words = started.get("argv") or [started["command"], *started["args"]]
        assert words[0].rpartition("/")[2] == name
        assert words[1:] == ["acp"]


@pytest.mark.parametrize("language", ["lua", "elisp"])
def test_code_of_an_editor_is_balanced_and_names_both_agents(language: str) -> None:
    blocks = re.findall(rf"```{language}\n(.*?)```", GUIDE, re.DOTALL)

    assert blocks
    for block in blocks:
        assert all(f'"{name}"' in block or f"{name} =" in block for name in AGENTS)
        for opening, closing in ("()", "{}"):
            assert block.count(opening) == block.count(closing)


def test_flags_that_the_guide_names_are_flags_of_the_agent() -> None:
    named = set(re.findall(r'"(--[a-z-]+)"', GUIDE))

    assert named
    assert named <= {flag.name for flag in CONVERSATION}
