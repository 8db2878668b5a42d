"""`radian login`, `logout` and `trust`, as a person uses them."""

from __future__ import annotations

import json
import stat
from typing import TYPE_CHECKING

import pytest

from tests.runtimes.radian.box import Box, make_box

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return make_box(tmp_path)


def test_a_key_is_stored_for_its_owner_alone_and_removed_again(box: Box) -> None:
    box.configure('\n[providers.local]\nkind = "anthropic"\n')
    run = box.run("login", "local", stdin="sk-very-secret-1\nmore\n")

    path = box.home / "credentials" / "local.json"
    assert (run.returncode, run.stderr) == (0, "")
    assert "very-secret" not in run.stdout
    assert json.loads(path.read_text()) == {"key": "sk-very-secret-1"}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert box.run("logout", "local").stdout == "The key local is removed.\n"
    assert not path.exists()


def test_a_key_that_no_provider_takes_is_stored_with_a_word_about_it(box: Box) -> None:
    box.configure('\n[providers.far]\nkind = "anthropic"\ncredential = "shared"\n')

    slip = box.run("login", "anthropc", stdin="sk-very-secret-1\n")
    assert slip.stdout == "The key anthropc is stored.\n"
    assert slip.stderr.endswith("no provider takes a key anthropc yet; did you mean anthropic?\n")
    assert "known: " in box.run("login", "zzz", stdin="sk-very-secret-1\n").stderr
    for taken in ("far", "shared", "openai"):
        assert box.run("login", taken, stdin="sk-very-secret-1\n").stderr == ""


@pytest.mark.parametrize("typed", ["", "\n", "two words\n"])
def test_what_is_no_key_is_refused_and_not_repeated(box: Box, typed: str) -> None:
    run = box.run("login", "local", stdin=typed)

    assert (run.returncode, run.stdout) == (2, "")
    assert "words" not in run.stderr
    assert not (box.home / "credentials").exists()


def test_trust_is_given_shown_and_taken_back(box: Box) -> None:
    (box.home / "trust.json").unlink()
    here = str(box.workspace)

    assert "is not trusted: it is not listed" in box.run("trust", "--show").stdout
    assert box.run("trust").stdout == f"{here} is trusted from now on.\n"
    assert box.run("trust", "--show").stdout == f"{here} is trusted.\n"
    assert box.run("trust", "--no", here).stdout == f"{here} is not trusted from now on.\n"
    assert box.run("trust", "--forget").stdout == f"{here} is forgotten.\n"
    assert box.run("trust", "nowhere").returncode == 2


def test_a_call_without_a_key_says_how_to_store_one(box: Box) -> None:
    box.configure('\n[providers.far]\nkind = "anthropic"\ndefault_model = "m"\n')

    run = box.run("exec", "-p", "x", "--provider", "far", "--output", "json")

    result = json.loads(run.stdout)
    assert (run.returncode, result["exit_code"], result["status"]) == (11, 11, "failed")
    assert "radian login far" in result["error"]
