"""`radian acp` with acpx, which loads the session into a new process for every turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.e2e.acpx_client import ABSENT, PROGRAM, Acpx
from tests.runtimes.radian.acp.client import call
from tests.runtimes.radian.box import Box, make_box
from tests.scripts import script

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Make = Callable[..., Acpx]

pytestmark = pytest.mark.slow

GUARDED = ".radian/note"
WRITES = {"tool_calls": [call("write", path=GUARDED, content="x")]}
DENIED = (0, 5)
"""How acpx ends a turn in which it allowed nothing that was asked."""


@pytest.fixture
def box(tmp_path: Path) -> Box:
    """A person's home and a workspace that is trusted."""
    if not PROGRAM.is_file():
        pytest.skip(ABSENT.format("acpx is not installed"))
    made = make_box(tmp_path)
    made.play()
    return made


@pytest.fixture
def make(box: Box, tmp_path: Path) -> Iterator[Make]:
    """Open a session with acpx, whose flag says what it allows."""
    opened: list[Acpx] = []

    def client(permissions: str = "--approve-all") -> Acpx:
        home = tmp_path / f"acpx-{len(opened)}"
        home.mkdir()
        agent = ["/usr/bin/env", f"RADIAN_HOME={box.home}", script("radian"), "acp"]
        opened.append(Acpx(box.workspace, home, agent, permissions))
        return opened[-1]

    yield client
    for each in opened:
        each.close()


def test_a_session_of_several_turns_each_in_a_process_of_its_own(box: Box, make: Make) -> None:
    client = make()
    box.play({"text": "First.", "when": "hello"}, {"text": "Second.", "when": "again"})

    first, second = client.turn("hello"), client.turn("and again")

    for turn, text in ((first, "First."), (second, "Second.")):
        assert turn.result["stopReason"] == "end_turn"
        assert turn.result["_meta"]["radian"]["text"] == text
        assert turn.since_prompt.text == text
        (loaded,) = turn.sent("session/load")
        assert loaded["params"]["sessionId"] == client.session
        assert turn.sent("session/new") == []
    assert len(set(client.pids)) == 3
    said = [each["type"] for each in box.journal(client.session)]
    assert said.count("UserMessage") == 2


def test_what_acpx_is_asked_it_allows_or_denies_as_it_was_told(box: Box, make: Make) -> None:
    allowing, denying = make(), make("--deny-all")
    box.play(WRITES, {"text": "Done."})
    allowed = allowing.turn("go")
    box.play(WRITES, {"text": "Then not."})
    denied = denying.turn("go", DENIED)

    for turn, status, text in ((allowed, "completed", "Done."), (denied, "failed", "Then not.")):
        assert len(turn.sent("session/request_permission")) == 1
        assert [each["status"] for each in turn.calls.values()] == [status]
        assert (turn.result["stopReason"], turn.text) == ("end_turn", text)


def test_a_cancel_in_mid_command_ends_it_and_the_session_goes_on(box: Box, make: Make) -> None:
    client = make()
    box.play({"tool_calls": [call("shell", command="echo ready; exec sleep 600")]})
    told = client.cancelled_turn("go", '"text":"ready')
    box.play({"text": "Still here."})
    after = client.turn("and now?")

    assert told.result["stopReason"] == "cancelled"
    assert [each["status"] for each in told.calls.values()] == ["failed"]
    assert after.since_prompt.text == "Still here."
