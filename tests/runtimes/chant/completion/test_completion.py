"""Completion, as the shells themselves do it."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from runtimes.chant.completion.words import places
from runtimes.chant.verbs.table import VERBS
from tests.runtimes.chant.projects import RELEASE, make_project
from tests.runtimes.chant.talk import chant, prompt
from tests.scripts import script

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

BASH = """
source {file}
COMP_WORDS=({words}) COMP_CWORD={place}
_chant
printf '%s\\n' "${{COMPREPLY[@]}}"
"""

ZSH = """
function compdef {{ : }}
function _files {{ ls }}
function _describe {{ printf '%s\\n' "${{(@)choices%%:*}}"; }}
function compadd {{ printf '%s\\n' $names; }}
source {file}
words=({words}) CURRENT={place}+1
_chant
"""

FISH = """
source {file}
complete -C '{line}'
"""


def shell(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def asked(folder: Path, name: str, text: str) -> list[str]:
    """Return what a shell prints for a program, with our own chant on its path."""
    env = {**os.environ, "PATH": f"{os.path.dirname(script('chant'))}:{os.environ['PATH']}"}
    argv = {
        "bash": ["--norc", "--noprofile", "-c"],
        "zsh": ["-f", "-c"],
        "fish": ["--no-config", "-c"],
    }
    ran = subprocess.run(
        [shell(name), *argv[name], text],
        cwd=folder,
        env={**env, "HOME": str(folder)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return ran.stdout.splitlines()


def by_bash(folder: Path, line: str) -> set[str]:
    words = line.split(" ")
    quoted = " ".join(f"'{word}'" for word in words)
    file = script_file(folder, "bash")
    return set(asked(folder, "bash", BASH.format(file=file, words=quoted, place=len(words) - 1)))


def by_zsh(folder: Path, line: str) -> set[str]:
    """What zsh would offer before it leaves out what does not begin like the last word."""
    words = line.split(" ")
    quoted = " ".join(f"'{word}'" for word in words)
    file = script_file(folder, "zsh")
    said = asked(folder, "zsh", ZSH.format(file=file, words=quoted, place=len(words) - 1))
    return {each for each in said if each.startswith(words[-1])}


def by_fish(folder: Path, line: str) -> set[str]:
    said = asked(folder, "fish", FISH.format(file=script_file(folder, "fish"), line=line))
    return {each.split("\t")[0] for each in said}


def script_file(folder: Path, name: str) -> Path:
    file = folder.parent / f"chant.{name}"
    file.write_text(chant(folder, "completion", name).out)
    return file


@pytest.fixture
def box(tmp_path: Path) -> Path:
    return make_project(tmp_path / "box", release=RELEASE)


@pytest.mark.parametrize("by", [by_bash, by_zsh, by_fish])
def test_verbs_flags_and_ops_are_completed(box: Path, by: Callable[[Path, str], set[str]]) -> None:
    assert {"run", "lifecycle", "list"} <= by(box, "chant ")
    assert by(box, "chant lifecycle s") == {"show", "snapshot"}
    assert {"--live", "--exit-code"} <= by(box, "chant lifecycle diff --")
    assert by(box, "chant run rel") == {"release"}
    assert "--param" in by(box, "chant run release --env local --")
    assert "release" in by(box, "chant run --env local ")
    assert by(box, "chant run cancel rel") == {"release"}
    assert by(box, "chant run report rel") == {"release"}
    assert {"bash", "zsh", "fish"} <= by(box, "chant completion ")
    assert {"chant.toml", "ops"} <= {
        each.rstrip("/") for each in by(box, "chant run report x --out ")
    }


def test_places_know_what_a_verb_and_what_a_group_takes() -> None:
    found = {place.path: place for place in places(VERBS)}

    assert [choice.word for choice in found["lifecycle",].words] == [
        "diff",
        "log",
        "plan",
        "show",
        "snapshot",
    ]
    assert found["lifecycle",].flags == ()
    assert found["run",].ops
    assert "list" in {choice.word for choice in found["run",].words}
    assert found["init",].files


def test_every_verb_is_a_place() -> None:
    assert {verb.path for verb in VERBS} <= {place.path for place in places(VERBS)}


def test_a_session_and_json_get_the_script_too(box: Path) -> None:
    code, document = prompt(box, "completion bash")

    assert code == 0
    assert document["script"] == chant(box, "completion", "bash").out
    assert chant(box, "completion", "csh").code == 2


def test_the_names_of_ops_are_all_that_is_printed(box: Path) -> None:
    (box / "ops/broken.op.toml").write_text("name = \n")

    said = chant(box, "list", "--names")

    assert (said.out, said.err) == ("release\n", "")
