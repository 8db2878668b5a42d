"""Verbs in a session that is cancelled while a remote says nothing."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from runtimes.chant.parsing import parse
from runtimes.chant.verbs.table import VERBS
from runtimes.chant.verbs.verb import Invocation, Surroundings
from tests.ops.silent_remote import SilentRemote
from tests.runtimes.chant.stewards import make_box
from tests.runtimes.chant.talk import Silent, chant
from tests.runtimes.chant.test_approve import GATED

if TYPE_CHECKING:
    from pathlib import Path

POINTS = ("workspace", "points")
SHARED = """
[ledger]
remote = "ssh://nowhere.invalid/box"
push = "try"

[[resource]]
name = "project"
reader = "file"
path = "chant.toml"
"""


def around(folder: Path, remote: SilentRemote) -> Surroundings:
    """Have a cancel come as soon as the remote is being talked to."""

    class Heeded(Silent):
        def is_set(self) -> bool:
            return remote.is_set()

    return Surroundings(str(folder), os.environ, Heeded())


@pytest.fixture
def box(tmp_path: Path) -> Path:
    """With a gate and a question that wait, and from now on a remote."""
    folder = make_box(tmp_path / "box")
    (folder / "ops/gated.op.toml").write_text(GATED)
    assert chant(folder, "run", "gated").code == chant(folder, "run", "release").code
    asked = chant(folder, *POINTS, "ask", "ship-it", "--input", "risk=known", "--json").document
    assert chant(folder, *POINTS, "answer", asked["id"], "--answer", "yes", "--by", "ann").code == 0
    toml = folder / "chant.toml"
    toml.write_text(toml.read_text() + SHARED)
    return folder


@pytest.mark.parametrize(
    "words",
    [
        "approve gated window",
        "workspace points answer {question} --answer yes --by ann",
        "workspace points retract {answered} --by ann",
        "workspace points ask ship-it --input risk=odd",
        "lifecycle snapshot",
    ],
)
def test_a_cancel_is_heard_while_the_remote_says_nothing(
    box: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    """Each waited out the remote's minutes, and its ssh outlived the answer."""
    points = chant(box, *POINTS, "--json").document["questions"]
    ids = {"answered" if each["state"] == "answered" else "question": each["id"] for each in points}
    remote = SilentRemote(tmp_path)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(remote.command))
    monkeypatch.setattr("ops.git.HURRY_S", 0.0)
    invocation = parse(words.format(**ids).split(), VERBS)
    assert isinstance(invocation, Invocation)

    outcome = invocation.verb.handler(invocation, around(box, remote))

    assert outcome.document["pushed"] is False
    assert outcome.warnings != ()
    for warning in outcome.warnings:
        assert warning.endswith("was given up, since nobody waits for it any more")
    assert remote.is_gone()
