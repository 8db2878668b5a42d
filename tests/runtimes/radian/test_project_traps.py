"""A repository full of traps, opened by the real commands: whatever they touch is noted.

Looking at names is the trust look-up; to open a file, list a folder, start a program or connect to
anybody is more than that.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from runtimes.radian.hook_config import EVENTS
from tests.e2e.agents import RADIAN
from tests.e2e.talk import Talk
from tests.runtimes.radian.box import Box, make_box
from tests.shared import ROOT

if TYPE_CHECKING:
    from pathlib import Path

STARTS = {"subprocess.Popen", "os.posix_spawn", "os.exec", "os.fork", "os.forkpty", "os.system"}
WATCHED = """\
import json, os, sys

STARTS = {starts!r}
CONNECTS = {{"socket.connect", "socket.sendto", "socket.getaddrinfo", "socket.gethostbyname"}}
OPENS = {{"open", "os.listdir", "os.scandir"}}
notes = os.open({notes!r}, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
inside = {workspace!r}

def note(event, arguments):
    if event in OPENS:
        if not isinstance(arguments[0], (str, bytes)):
            return
        path = os.path.join(inside, os.fsdecode(arguments[0]))
        if path == inside or path.startswith(inside + os.sep):
            os.write(notes, (json.dumps([event, os.path.relpath(path, inside)]) + "\\n").encode())
    elif event in STARTS | CONNECTS:
        os.write(notes, (json.dumps([event, repr(arguments[:2])]) + "\\n").encode())

sys.addaudithook(note)
from runtimes.radian.entry import main
sys.exit(main())
"""
HOOK = '[[hooks]]\nevent = "{event}"\ncommand = ["HERE/trap.sh"]\n'
CONFIG = """\
default_provider = "play"

[providers.play]
kind = "openai-compatible"
base_url = "http://127.0.0.1:1/v1"
credential = "none"

[mcp_servers.trap]
command = "HERE/trap.sh"

[profiles.loose]
extends = "workspace"
allow = ["shell(*)"]

"""
TEXTS = {
    ".radian/config.toml": CONFIG + "".join(HOOK.format(event=event) for event in EVENTS),
    ".radian/skills/trap/SKILL.md": "Do as I say.",
    ".radian/agents/trap.md": "Do as I say.",
    ".mcp.json": '{"mcpServers": {"trap": {"command": "HERE/trap.sh"}}}',
    ".git/config": '[core]\n\tfsmonitor = "HERE/trap.sh"\n\tpager = "HERE/trap.sh"\n',
    ".git/hooks/post-checkout": "#!/bin/sh\ntouch HERE/sprung\n",
    ".env": "OPENAI_BASE_URL=http://127.0.0.1:1\n",
    ".envrc": "touch HERE/sprung\n",
    ".rgignore": "*",
    "AGENTS.md": "Do as I say.",
    "CLAUDE.md": "Do as I say.",
    "chant.toml": "",
    "orjson.py": "raise SystemExit('a trap')\n",
    "sitecustomize.py": "raise SystemExit('a trap')\n",
    "usercustomize.py": "raise SystemExit('a trap')\n",
    "trap.sh": "#!/bin/sh\ntouch HERE/sprung\n",
}


@pytest.fixture
def box(tmp_path: Path) -> Box:
    box = make_box(tmp_path)
    box.play({"text": "Hello."}, then="repeat-last")
    for name, text in TEXTS.items():
        path = box.workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("HERE", str(box.workspace)))
        path.chmod(0o755)
    return box


def command(box: Box, *words: str) -> tuple[str, ...]:
    """Return ``radian`` as a program that notes what it touches."""
    program = WATCHED.format(starts=STARTS, notes=str(notes_of(box)), workspace=str(box.workspace))
    return (sys.executable, "-P", "-c", program, *words)


def notes_of(box: Box) -> Path:
    return box.home.parent / "notes.jsonl"


def touched(box: Box) -> list[list[str]]:
    """Return what was noted since the last look."""
    notes = [json.loads(line) for line in notes_of(box).read_text().splitlines()]
    notes_of(box).unlink()
    return notes


def watched(box: Box, *words: str, stdin: str = "") -> list[list[str]]:
    """Run ``radian`` to a good end; return what it touched."""
    run = subprocess.run(
        command(box, *words),
        cwd=box.workspace,
        env={**box.environ, "PYTHONPATH": str(ROOT)},
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert "Hello." in run.stdout, run.stderr
    return touched(box)


def served(box: Box, *flags: str) -> list[list[str]]:
    """Have a prompt answered by ``radian acp``; return what it touched."""
    env = {**box.environ, "PYTHONPATH": str(ROOT)}
    words = command(box, "acp", *flags)
    with Talk(RADIAN, box.workspace, command=words, env=env, cwd=str(box.workspace)) as client:
        client.open()
        assert client.turn("go").text == "Hello."
        client.end_input()
        assert client.exit_code() == 0
    return touched(box)


@pytest.mark.parametrize("listed", [None, False], ids=["unlisted", "refused"])
def test_exec_opens_starts_and_calls_nothing_where_nobody_trusts(
    box: Box, *, listed: bool | None
) -> None:
    box.trust(trusted=False)
    if listed is None:
        (box.home / "trust.json").unlink()

    for flags in ((), ("--yes",), ("--profile", "full"), ("--output", "jsonl")):
        assert watched(box, "exec", "-p", "go", *flags) == [], flags
    assert watched(box, "exec", stdin="go") == []
    assert not (box.workspace / "sprung").exists()


def test_exec_takes_a_refusal_by_flag_for_an_answer(box: Box) -> None:
    assert watched(box, "exec", "-p", "go", "--no-trust") == []


def test_acp_opens_starts_and_calls_nothing_where_nobody_trusts(box: Box) -> None:
    assert served(box, "--no-trust") == []
    box.trust(trusted=False)
    assert served(box) == []
    (box.home / "trust.json").unlink()
    assert served(box, "--profile", "full") == []
    assert not (box.workspace / "sprung").exists()


def test_the_notes_have_what_a_trusted_project_brings(box: Box) -> None:
    notes = watched(box, "exec", "-p", "go", "--trust")

    assert ["open", ".radian/config.toml"] in notes
    assert ["open", "AGENTS.md"] in notes
    assert {event for event, _ in notes} & STARTS
    assert (box.workspace / "sprung").exists()
