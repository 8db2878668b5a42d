"""What else goes wrong: crashing parts (B106 to B110), locale (B117), surroundings (B118, B120)."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.e2e.agents import CHANT, ECHO, run_op
from tests.e2e.talk import Talk
from tests.e2e.wire import line
from tests.scripts import script

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.agents import AgentKind

ASCII = {"LC_ALL": "C", "PYTHONIOENCODING": "ascii"}

POINTS = (
    "actor.receive",
    "actor.handled",
    "reader.decoded",
    "session.open",
    "gate.put",
    "gate.take",
    "wire.read",
    "wire.write",
    "outlet.speak",
    "executor.decide",
    "executor.start",
    "guardian.start",
    "guardian.send",
    "step.spawn",
    "step.wait",
    "step.read",
    "step.end",
    "step.call",
    "step.return",
)


def with_fault(folder: Path, fault: str) -> Talk:
    talk = Talk(ECHO, folder, command=(*ECHO.command, "--fault", fault))
    talk.crashes = True
    return talk


@pytest.mark.parametrize("time", [1, 2])
@pytest.mark.parametrize("name", POINTS)
def test_b108_a_part_that_crashes_is_back_and_every_prompt_is_answered(
    tmp_path: Path, name: str, time: int
) -> None:
    with with_fault(tmp_path, f"{name}@{time}") as talk:
        talk.initialize()
        # Whatever crashed: an answer, good or bad, to each request, and the next turn works.
        new = talk.call("session/new", {"cwd": str(tmp_path), "mcpServers": []})
        if "error" in new:
            assert new["error"]["code"] == -32603
            talk.new_session()
        else:
            talk.session = new["result"]["sessionId"]
        for words in ("echo one", "sh echo two", "stream 10 10"):
            turn = talk.turn(words)
            assert turn.answer.get("result") or turn.answer["error"]["code"] == -32603
        talk.turn("sh echo three")  # the fault may have waited for this one
        assert talk.turn("sh echo four").text == "four\n"
        talk.end_input()

        assert talk.exit_code() == 0
        assert talk.alive() == set()


@pytest.mark.parametrize("name", ["wire.read", "reader.decoded"])
def test_b108_a_part_that_always_crashes_ends_the_process_in_bounds(
    tmp_path: Path, name: str
) -> None:
    with with_fault(tmp_path, name) as talk:
        for number in range(5):
            talk.send(line(id=number, method="no/such"))

        assert talk.exit_code() == 70
        assert f"injected at {name}" in talk.stderr()
        assert talk.stderr().count("crashed") < 20


def test_b117_the_locale_does_not_matter(kind: AgentKind, folder: Path) -> None:
    place = folder / "héllo 💫"
    place.mkdir()
    kind.prepare(place)
    with Talk(kind, place, env={**os.environ, **ASCII}) as talk:
        talk.open()
        code = shlex.quote("import sys; sys.stdout.buffer.write('✓'.encode())")

        turn = talk.turn(
            kind.shell(f"echo 'héllo 💫'; touch 'ß 💫'; pwd; {sys.executable} -c {code}")
        )

        assert "héllo 💫\n" in turn.text
        assert str(place) in turn.text
        assert "✓" in turn.text
        assert (place / "ß 💫").exists()


PRINTS = f"{sys.executable} -c \"print('✓ 💫')\""
"""Python takes our variable for its own streams; but these are read as UTF-8."""


@pytest.mark.parametrize(
    "words",
    [
        ("run", "sh", "--param", f"script={PRINTS}", "--json"),
        ("run", "sh", "--param", f"script={PRINTS}", "--progress-json"),
        ("list", "--json"),
    ],
    ids=lambda words: words[-1],
)
def test_b117_documents_of_chant_are_utf8(tmp_path: Path, words: tuple[str, ...]) -> None:
    CHANT.prepare(tmp_path)
    path = tmp_path / "ops" / "sh.op.toml"
    path.write_text(path.read_text().replace("Runs one script", "héllo 💫"), encoding="utf-8")
    printed = subprocess.run(
        [script("chant"), *words],
        cwd=tmp_path,
        env={**os.environ, **ASCII},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    ).stdout.decode()

    assert "💫" in printed
    lines = printed.splitlines() if "--progress-json" in words else [printed]
    assert all(isinstance(json.loads(each), dict) for each in lines)


def test_b117_drive_shows_what_an_agent_says(tmp_path: Path) -> None:
    CHANT.prepare(tmp_path)
    prompt = run_op("sh", PRINTS)
    shown = subprocess.run(
        [script("chantry"), "drive", "--prompt", prompt, "--", *CHANT.command],
        cwd=tmp_path,
        env={**os.environ, **ASCII},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )

    assert (shown.returncode, b"Traceback" in shown.stderr) == (0, False)
    assert "✓ 💫" in shown.stdout.decode()


def test_b118_nothing_in_the_environment(kind: AgentKind, folder: Path) -> None:
    # PATH is what an editor may forget; the interpreter of the console script is absolute.
    with Talk(kind, folder, env={}) as talk:
        talk.open()

        turn = talk.turn(kind.shell("echo still here"))

        assert turn.stop_reason == "end_turn"
        assert "still here" in turn.text


def test_b118_a_home_that_is_not_there(kind: AgentKind, folder: Path) -> None:
    with Talk(kind, folder, env={"PATH": os.environ["PATH"], "HOME": "/no/such/home"}) as talk:
        talk.open()

        assert "fine" in talk.turn(kind.shell("echo fine")).text


def test_b118_a_program_that_is_missing_is_named(talk: Talk) -> None:
    talk.open()

    turn = talk.turn(talk.kind.shell("no-such-program-here"))

    assert turn.stop_reason == "end_turn"
    assert "no-such-program-here" in turn.text


def test_b120_the_environment_is_shown_nowhere(kind: AgentKind, folder: Path) -> None:
    secret = "correct-horse-battery-staple"
    env = {**os.environ, "DEPLOY_TOKEN": secret, "CHANTRY_LOG": "DEBUG"}
    with Talk(kind, folder, env=env) as talk:
        talk.crashes = True
        talk.open()
        seen = [talk.turn(words).messages for words in (kind.quick, kind.wrong, "no such verb")]
        seen.append(talk.turn(kind.shell("exit 3")).messages)
        # What a step itself prints is passed on as it is; an agent of a model has less to print.
        shown = talk.turn(kind.shell("echo $DEPLOY_TOKEN")).text
        talk.end_input()
        talk.exit_code()

        assert (secret in shown) != kind.keeps_secrets
        assert "horse-ba" not in repr(seen)
        assert "horse-ba" not in talk.stderr()
