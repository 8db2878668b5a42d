"""What a project may tell the agent, and what pictures may be."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import pytest

from tests.runtimes.radian.box import Box, make_box

if TYPE_CHECKING:
    from pathlib import Path

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@pytest.fixture
def box(tmp_path: Path) -> Box:
    box = make_box(tmp_path)
    box.play({"text": "ok"}, then="repeat-last")
    return box


@pytest.mark.parametrize("name", ["AGENTS.md", ".radian/config.toml"])
def test_a_project_that_nobody_trusts_is_told_of_in_one_line(box: Box, name: str) -> None:
    (box.home / "trust.json").unlink()
    (box.workspace / name).parent.mkdir(exist_ok=True)
    (box.workspace / name).write_text("")

    run = box.run("exec", "-p", "x")

    assert (run.returncode, run.stdout) == (0, "ok\n")
    assert run.stderr.count("\n") == 1
    assert "not trusted" in run.stderr


def test_nothing_is_said_of_a_folder_that_brings_nothing(box: Box) -> None:
    (box.home / "trust.json").unlink()
    (box.workspace / ".radian").mkdir()
    (box.workspace / "README.md").write_text("# Box")

    run = box.run("exec", "-p", "x", "--session-id", "s1")

    assert (run.returncode, run.stdout, run.stderr) == (0, "ok\n", "")
    assert box.journal("s1")[1]["trusted"] is False


def test_a_trust_file_that_is_broken_is_told_of_wherever_one_is(box: Box) -> None:
    (box.home / "trust.json").write_text("{")

    run = box.run("exec", "-p", "x")

    assert run.returncode == 0
    assert "no project is trusted" in run.stderr


def test_piped_input_tells_of_trust_in_an_empty_folder_too(box: Box) -> None:
    (box.home / "trust.json").unlink()

    run = box.run("exec", stdin="x")

    assert (run.returncode, run.stdout) == (0, "ok\n")
    assert run.stderr.count("not trusted") == 1


@pytest.mark.parametrize("flag", ["--trust", "--no-trust"])
def test_a_flag_decides_on_trust_for_one_process(box: Box, flag: str) -> None:
    (box.home / "trust.json").unlink()

    run = box.run("exec", "-p", "x", flag, "--session-id", "s1")

    assert run.stderr == ""
    assert box.journal("s1")[1]["trusted"] is (flag == "--trust")
    assert not (box.home / "trust.json").exists()


def test_a_picture_is_known_by_its_content_and_kept_beside_the_journal(box: Box) -> None:
    (box.workspace / "pixel.txt").write_bytes(PIXEL)

    run = box.run("exec", "-p", "what is it?", "--image", "pixel.txt", "--session-id", "s1")

    assert run.returncode == 0
    asked = next(each for each in box.journal("s1") if each["type"] == "UserMessage")
    assert asked["content"][1]["mime_type"] == "image/png"
    (kept,) = (box.home / "sessions" / "s1.files").iterdir()
    assert kept.read_bytes() == PIXEL


def test_what_is_no_picture_is_refused_before_any_call(box: Box) -> None:
    (box.workspace / "a.png").write_text("not at all")

    run = box.run("exec", "-p", "x", "--image", "a.png")

    assert (run.returncode, run.stdout) == (2, "")
    assert "a.png is no picture" in run.stderr
    assert not (box.home / "sessions").exists()


def test_a_model_that_can_not_see_gets_no_pictures(box: Box) -> None:
    box.configure("\n[providers.play.models.script]\nimages = false\n")
    (box.workspace / "a.png").write_bytes(PIXEL)

    run = box.run("exec", "-p", "x", "--image", "a.png")

    assert (run.returncode, run.stdout) == (2, "")
    assert "can't see pictures" in run.stderr
