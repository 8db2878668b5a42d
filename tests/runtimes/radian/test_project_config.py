"""What a trusted project may configure, and what it may not."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from runtimes.radian.config import ConfigError
from runtimes.radian.project_config import read_project_config

if TYPE_CHECKING:
    from pathlib import Path


def configured(folder: Path, text: str) -> str:
    folder.joinpath(".radian").mkdir()
    folder.joinpath(".radian", "config.toml").write_text(text)
    return str(folder)


def test_a_project_without_a_file_says_nothing(tmp_path: Path) -> None:
    assert read_project_config(str(tmp_path)).tables == {}


def test_what_would_redirect_the_agent_is_passed_over_and_told(tmp_path: Path) -> None:
    text = (
        'default_provider = "x"\n[mcp_servers.db]\ncommand = "db"\n[providers.x]\nkind = "gemini"'
    )

    read = read_project_config(configured(tmp_path, text))

    assert dict(read.tables) == {"mcp_servers": {"db": {"command": "db"}}}
    assert [each.split(": ")[1].split()[0] for each in read.warnings] == [
        "'default_provider'",
        "'providers'",
    ]


@pytest.mark.parametrize("text", ["[", "a = 1\na = 2", "x" * (2 << 20)])
def test_a_file_that_can_not_be_read_is_named(tmp_path: Path, text: str) -> None:
    workspace = configured(tmp_path, text)

    with pytest.raises(ConfigError, match=r"\.radian/config\.toml"):
        read_project_config(workspace)


def test_a_pipe_in_its_place_holds_nobody_up(tmp_path: Path) -> None:
    tmp_path.joinpath(".radian").mkdir()
    os.mkfifo(tmp_path / ".radian" / "config.toml")

    with pytest.raises(ConfigError, match="no plain file"):
        read_project_config(str(tmp_path))
