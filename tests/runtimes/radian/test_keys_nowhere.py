"""A key goes to its provider and to nobody else: every process and every byte is looked at."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from runtimes.radian.hook_config import EVENTS
from tests.actors.stepping import MARK, survivors, wait_gone
from tests.judges.far import everything_kept
from tests.runtimes.models.servers import chat, events, model_server, status, stream
from tests.runtimes.radian.box import Box, make_box, objects
from tests.runtimes.radian.hooking import Hooks
from tests.runtimes.radian.mcp.serving import STUB
from tests.scripts import script

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator

    from tests.runtimes.models.servers import ModelServer

KEY = "sk-zQ7vXw3Kp9LmT2rBnY"
TOKEN = "tok-Hd83jWcVb2xGqUeS"
PIECE = 8
VARIABLE = "BOX_MODEL"
"""Its name doesn't look like that of a secret."""
FULL = ("--profile", "full")


def pieces(secret: str) -> list[str]:
    return [secret[at : at + PIECE] for at in range(len(secret) - PIECE + 1)]


PIECES = [*pieces(KEY), *pieces(TOKEN)]


def found(text: str) -> list[str]:
    """Return the pieces of a secret that stand in ``text``."""
    return [each for each in PIECES if each in text]


def called(*calls: tuple[str, dict[str, Any]]) -> bytes:
    """Return an answer that calls tools."""
    told = [
        {
            "index": index,
            "id": f"c{index}",
            "function": {"name": name, "arguments": json.dumps(values)},
        }
        for index, (name, values) in enumerate(calls)
    ]
    return events(chat({"tool_calls": told}), chat(finish="tool_calls"))


class Look:
    """Looks at all processes of the agent, and then answers with all that it was told."""

    def __init__(self, mark: str) -> None:
        self.agent: queue.Queue[int] = queue.Queue()
        self.arguments: dict[int, str] = {}
        self.environments: dict[int, str] = {}
        self._mark = mark

    def __call__(self, sock: socket.socket, server: ModelServer) -> None:
        agent = self.agent.get(timeout=60)
        for pid in survivors(self._mark):
            self.arguments[pid] = part_of(pid, "cmdline")
            if pid != agent:  # in its own, a person may have put the key
                self.environments[pid] = part_of(pid, "environ")
        headers = server.requests[-1].headers
        message = f"I don't know {headers['authorization']}, nor {headers['x-box-token']}"
        status(401, {"error": {"message": message, "headers": headers}})(sock, server)


def part_of(pid: int, name: str) -> str:
    """Return a file of a process, empty once it has ended."""
    try:
        return Path(f"/proc/{pid}/{name}").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


@pytest.fixture
def mark() -> Iterator[str]:
    name = uuid4().hex
    yield name
    wait_gone(name)


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return make_box(tmp_path)


def configure(box: Box, url: str, mark: str, credential: str) -> None:
    hooks = Hooks(box.home, box.workspace / "noted.jsonl")
    box.configure(
        f"""
[providers.far]
kind = "openai-compatible"
base_url = "{url}"
default_model = "m"
headers = {{ X-Box-Token = "{TOKEN}" }}
{credential}

[mcp_servers.db]
command = {json.dumps(sys.executable)}
args = [{json.dumps(STUB)}, "good"]
env = {{ {MARK} = "{mark}" }}

"""
        + "".join(hooks.add(event) for event in EVENTS)
    )
    box.run("login", "far", stdin=KEY)


@pytest.mark.parametrize("credential", ["", f'credential_env = "{VARIABLE}"'])
def test_a_key_is_in_no_other_process_and_in_nothing_that_is_said_or_kept(
    box: Box, mark: str, credential: str
) -> None:
    look = Look(mark)
    job = {"command": "exec sleep 600", "background": True}
    answers = (
        stream(called(("shell", job), ("shell", {"command": "env; cat /proc/$$/environ"}))),
        stream(called(("mcp__db__env", {}), ("grep", {"pattern": "a"}))),
        look,
    )
    with model_server(*answers) as server:
        configure(box, server.url, mark, credential)
        words = ("-p", "go", "--provider", "far", "--session-id", "s1", "--output", "jsonl", *FULL)
        logged = ("--log-level", "trace", "--log-file", "log.txt")
        with subprocess.Popen(
            [script("radian"), "exec", *words, *logged],
            cwd=box.workspace,
            env={**box.environ, MARK: mark, **({VARIABLE: KEY} if credential else {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            look.agent.put(process.pid)
            stdout, stderr = process.communicate(timeout=60)
        assert {each.headers["authorization"] for each in server.requests} == {f"Bearer {KEY}"}

    assert (process.returncode, len(server.requests)) == (11, 3), stdout + stderr
    results = [each for each in objects(stdout) if each["type"] == "ToolResult"]
    assert [each["status"] for each in results] == ["completed"] * 4, results
    # The guardian, the job, and the server of MCP, beside the agent.
    assert len(look.environments) >= 3, look.arguments
    assert any("sleep 600" in each.replace("\0", " ") for each in look.arguments.values())
    assert found(repr(look.arguments)) == []
    leaks = {pid: each for pid, each in look.environments.items() if found(each)}
    assert not leaks, "\n".join(look.arguments[pid] for pid in leaks)
    kept = everything_kept(box, stdout, stderr).replace(config_of(box), "")
    assert "noted.jsonl" in os.listdir(box.workspace)
    assert "PATH=" in kept
    assert found(kept) == []


def config_of(box: Box) -> str:
    """Return what a person wrote."""
    return (box.home / "config.toml").read_text()
