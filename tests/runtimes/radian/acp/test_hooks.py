"""Hooks behind the protocol: the same rules, and nothing of theirs on stdout."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.runtimes.radian.acp.client import Client, call
from tests.runtimes.radian.hooking import Hooks, answer

if TYPE_CHECKING:
    from pathlib import Path

    from tests.runtimes.radian.box import Box


@pytest.fixture
def hooks(box: Box, tmp_path: Path) -> Hooks:
    return Hooks(box.home, tmp_path / "notes.jsonl")


def test_methods_a_hook_error_answers_refusal_with_its_text_in_meta(box: Box, hooks: Hooks) -> None:
    box.configure(hooks.add("user_prompt", "raise RuntimeError('broken')", required=True))
    with Client(box) as client:
        client.open()
        turn = client.finish(client.prompt("go"))

        assert turn.stop_reason == "refusal"
        error = turn.answer["result"]["_meta"]["radian"]["error"]
        assert "RuntimeError: broken" in error

        # The next prompt is judged anew.
        assert client.finish(client.prompt("go")).stop_reason == "refusal"
    assert len(hooks.noted()) == 2


def test_what_hooks_print_and_the_notice_of_trust_are_on_stderr_only_b001(
    box: Box, hooks: Hooks
) -> None:
    box.home.joinpath("trust.json").unlink()
    settings = box.workspace / ".radian" / "config.toml"
    settings.parent.mkdir()
    settings.write_text("unknown_key = 1\n")
    box.configure(hooks.add("before_tool", "print('hello')"))
    box.play({"tool_calls": [call("glob", pattern="*")]}, {"text": "Done."})
    with Client(box) as client:
        client.open()
        turn = client.turn("go")
        said = client.stderr()

    assert (turn.stop_reason, turn.text) == ("end_turn", "Done.")
    notice, warning = said.splitlines()
    assert "not trusted" in notice
    assert warning.startswith("radian: warning: the before_tool hook ")
    assert "'hello'" in warning


def test_a_question_shows_the_input_that_a_hook_rewrote(box: Box, hooks: Hooks) -> None:
    box.play({"tool_calls": [call("write", path=".radian/a", content="x")]}, {"text": "Done."})
    values = {"path": ".radian/b", "content": "y"}
    box.configure(hooks.add("before_tool", answer(decision="allow", input=values)))
    with Client(box) as client:
        client.open()
        running = client.prompt("go")
        question = client.question()

        assert question["params"]["toolCall"]["rawInput"]["path"] == ".radian/b"
        assert "a hook rewrote its input" in str(question["params"])
        client.choose(question, "allow_once")
        client.finish(running)
    assert box.workspace.joinpath(".radian/b").read_text() == "y"


def test_a_cancel_reaches_a_hook_and_all_that_it_started(box: Box, hooks: Hooks) -> None:
    running = box.home.parent / "running"
    os.mkfifo(running)
    wait = f"open({str(running)!r}, 'w').close(); os.system('sleep 600')"
    box.configure(hooks.add("before_stop", wait, required=True))
    with Client(box) as client:
        client.open()
        turn = client.prompt("go")
        with open(running):  # until the hook is there
            client.cancel()
            assert client.finish(turn).stop_reason == "cancelled"


def test_the_last_hooks_run_when_the_client_leaves(box: Box, hooks: Hooks) -> None:
    box.configure(hooks.add("session_start") + hooks.add("session_end", "print('hello')"))
    with Client(box) as client:
        client.open()
        client.finish(client.prompt("go"))
        client.end_input()
        assert client.process.wait(20) == 0

    assert [note["event"] for note in hooks.noted()] == ["session_start", "session_end"]


def test_a_session_without_a_turn_has_no_hooks_to_run(box: Box, hooks: Hooks) -> None:
    box.configure(hooks.add("session_start") + hooks.add("session_end"))
    with Client(box) as client:
        client.open()

    assert hooks.noted() == []
