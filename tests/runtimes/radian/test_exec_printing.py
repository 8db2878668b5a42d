"""What `radian exec` prints without a turn, and what does not go together."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.runtimes.radian.box import Box, make_box, objects
from tests.runtimes.radian.terminal import at_terminal

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def box(tmp_path: Path) -> Box:
    """Two turns in one session."""
    box = make_box(tmp_path)
    box.play({"text": "The sky is blue.", "reasoning": "hm, sky"}, {"text": "Grass is green."})
    box.run("exec", "-p", "what about the sky?", "--session-id", "s1")
    box.play({"text": "Grass is green."})
    box.run("exec", "-p", "and grass?", "--resume", "s1")
    return box


def test_a_list_shows_the_sessions_of_the_workspace(box: Box, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    run = box.run("exec", "--list", "--format", "jsonl")

    (session,) = objects(run.stdout)
    assert (session["session_id"], session["turns"]) == ("s1", 2)
    assert "what about the sky?" in box.run("exec", "--list").stdout
    assert box.run("exec", "--list", "--workspace", str(elsewhere)).stdout == ""


def test_a_search_finds_turns_with_all_words(box: Box) -> None:
    (hit,) = objects(box.run("exec", "--search", "GREEN grass", "--format", "jsonl").stdout)

    assert (hit["session_id"], hit["turn"]) == ("s1", 2)
    assert box.run("exec", "--search", "green sky").stdout == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--list",), "there is no session"),
        (("--search", "sky"), "no turn has all of 'sky' in the sessions"),
    ],
)
def test_a_person_is_told_where_nothing_was_found_and_a_script_is_not(
    box: Box, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    words = (*words, "--workspace", str(elsewhere))
    where = f"{elsewhere}, in {box.home / 'sessions'}"

    run = box.run("exec", *words)
    with at_terminal(box, *words) as terminal:
        shown = terminal.wait_for("\r\n")
        code = terminal.exit_code()

    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
    assert (code, shown) == (0, f"radian exec: {said} of {where}")
    with at_terminal(box, "--list") as terminal:
        assert terminal.wait_for("\r\n").startswith("s1 ")


def test_an_export_is_a_transcript_and_leaves_thoughts_out_unless_asked(box: Box) -> None:
    plain = box.run("exec", "--export", "s1").stdout
    with_thoughts = box.run("exec", "--export", "s1", "--include-reasoning", "--at", "1").stdout

    assert "The sky is blue." in plain
    assert "hm, sky" not in plain
    assert "hm, sky" in with_thoughts
    assert "Grass" not in with_thoughts


def test_an_export_replaces_a_file_only_by_force(box: Box) -> None:
    words = ("exec", "--export", "s1", "--format", "json", "--out", "out.json")

    assert box.run(*words).returncode == 0
    again = box.run(*words)
    assert (again.returncode, again.stderr.count("\n")) == (1, 1)
    assert "exists already" in again.stderr
    assert box.run(*words, "--force").returncode == 0
    assert json.loads((box.workspace / "out.json").read_text())["session_id"] == "s1"


def test_a_fork_has_what_was_before_and_goes_its_own_way(box: Box) -> None:
    forked = box.run("exec", "--fork", "s1", "--at", "1", "--session-id", "s2")

    assert (forked.returncode, forked.stdout) == (0, "s2\n")
    box.play({"text": "Red, at times."})
    run = box.run("exec", "-p", "always?", "--resume", "s2", "--output", "json")
    assert json.loads(run.stdout)["turn"] == 2
    assert len([each for each in box.journal("s1") if each["type"] == "TurnEnded"]) == 2


@pytest.mark.parametrize(
    "words", [["--export", "s1"], ["--fork", "s1"], ["-p", "x", "--resume", "s1"]]
)
def test_a_session_of_another_workspace_is_refused(
    box: Box, tmp_path: Path, words: list[str]
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    run = box.run("exec", *words, "--workspace", str(elsewhere), "--no-trust")

    assert (run.returncode, run.stdout) == (10, "")
    assert f"session s1 belongs to workspace {box.workspace}" in run.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-p", "x", "--list"], "--prompt and --list don't go together"),
        (["--export", "s1", "--fork", "s1"], "--export and --fork don't go together"),
        (["--list", "--at", "1"], "--at needs --export or --fork"),
        (["--search", "x", "--format", "markdown"], "--format must be one of text"),
        (["--fork", "s1", "--resume", "s1"], "--resume and --fork don't go together"),
        (["--list", "--yes"], "--yes and --list don't go together"),
        (["--export", "s1", "--force"], "--force needs --out"),
        (["-p", "x", "--trust", "--no-trust"], "--trust and --no-trust don't go together"),
        (["--export", "s1", "--at", "7"], "is not the end of a turn"),
    ],
)
def test_flags_that_do_not_go_together_are_named(box: Box, words: list[str], said: str) -> None:
    run = box.run("exec", *words)

    assert (run.returncode, run.stdout, run.stderr.count("\n")) == (2, "", 1)
    assert said in run.stderr
