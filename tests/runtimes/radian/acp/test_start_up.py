"""A client waits for `initialize`, so `radian acp` loads little before its answer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.shared import ROOT

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import os, sys
mark = sys.argv.pop().encode()
sys.argv = ["radian", "acp", "--provider", "play", "--profile", "workspace"]
write = os.write

def spy(fd, data):
    if mark in bytes(data):
        write(2, " ".join(sys.modules).encode())
        os._exit(0)
    return write(fd, data)

os.write = spy
from runtimes.radian.entry import main
main()
"""
WAITING = """
import os, sys, threading
sys.argv = ["radian", "acp"]

def watch():
    while "runtimes.radian.opening" not in sys.modules:
        os.sched_yield()
    os.write(2, b"ready")
    os._exit(0)

threading.Thread(target=watch, daemon=True).start()
from runtimes.radian.entry import main
main()
"""
HELLO = b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}\n'
HEAVY = {"asyncio", "click", "ctypes", "decimal", "http", "httpcore2", "httpx2", "logging",
         "loguru", "pykka.debug", "ssl", "string", "subprocess", "tempfile", "tomllib",
         "tree_sitter", "urllib"}  # fmt: skip
OURS = {"acp_flags", "entry", "flags", "ids", "options", "runtime", "serving", "session_errors"}


LATE = {"decimal", "hashlib", "html.parser", "http", "httpcore2", "ssl", "subprocess", "tempfile",
        "tree_sitter", "urllib.parse"}  # fmt: skip
"""Not needed for a session either, before its first prompt."""


def loaded_before(mark: str, said: bytes, environ: dict[str, str]) -> set[str]:
    """Return the modules that are there when what has ``mark`` in it is about to be written."""
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, mark],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=environ,
    ) as radian:
        assert radian.stdin is not None
        assert radian.stderr is not None
        # Its end would be the end of the connection, and stays open until the answer is there.
        radian.stdin.write(said)
        radian.stdin.flush()
        told = radian.stderr.read().decode()
    return set(told.split("\n")[-1].split())


def test_the_answer_to_initialize_waits_for_nothing_heavy() -> None:
    loaded = loaded_before('"protocolVersion"', HELLO, dict(os.environ))

    assert loaded & HEAVY == set()
    assert not any(name.startswith(("ops", "runtimes.models")) for name in loaded)
    parts = {name.removeprefix("runtimes.radian.") for name in loaded if ".radian." in name}
    assert parts == OURS


def test_a_session_waits_for_nothing_that_only_turns_need(tmp_path: Path) -> None:
    home = tmp_path / "radian"
    home.mkdir()
    home.joinpath("turns.json").write_text('{"calls": [{"text": "hi"}]}')
    home.joinpath("config.toml").write_text(
        '[providers.play]\nkind = "scripted"\nscript = "turns.json"\n'
    )
    params = {"cwd": str(tmp_path), "mcpServers": []}
    new = {"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": params}
    environ = {**os.environ, "RADIAN_HOME": str(home), "HOME": str(tmp_path)}

    loaded = loaded_before('"sessionId"', HELLO + json.dumps(new).encode() + b"\n", environ)

    assert "runtimes.radian.session" in loaded
    assert loaded & LATE == set()
    assert "runtimes.radian.agent_turn" not in loaded


def test_while_the_client_thinks_about_its_session_what_opens_one_is_loaded() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WAITING],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as radian:
        assert radian.stdin is not None
        radian.stdin.write(HELLO)
        radian.stdin.flush()
        assert radian.stderr is not None
        assert radian.stderr.read() == b"ready"
