"""acpx from npm, a headless client that others wrote, with a new agent process for every turn.

``make acpx`` installs it where Node is.  It takes a session up again by ``session/resume``, or
``session/load`` where an agent has no other.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.processes import marked, wait_until_gone
from tests.node import node_command
from tests.shared import ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence

PROGRAM = ROOT / "tests" / "e2e" / "acpx" / "node_modules" / "acpx" / "dist" / "cli.js"
ABSENT = "NOT TESTED: {} (make acpx brings it)"
DEADLINE_S = 60.0
SOCKETS = Path("/tmp")
AGENT = """\
#!/bin/sh
echo $$ >> {pids}
exec {command}
"""


@dataclass(frozen=True)
class Told:
    """What went over the wire in one turn, both ways, and how it ended."""

    messages: list[dict[str, Any]]

    @property
    def since_prompt(self) -> Told:
        """Without what came before, such as the replay of a session that was loaded."""
        methods = [message.get("method") for message in self.messages]
        return Told(self.messages[methods.index("session/prompt") :])

    @property
    def result(self) -> dict[str, Any]:
        """The answer to ``session/prompt``."""
        (asked,) = self.sent("session/prompt")
        (answer,) = [m for m in self.messages if m.get("id") == asked["id"] and "method" not in m]
        result: dict[str, Any] = answer["result"]
        return result

    @property
    def calls(self) -> dict[str, dict[str, Any]]:
        """Each tool call as it stands at last, by its id, in the order of their beginning."""
        calls: dict[str, dict[str, Any]] = {}
        for update in self.updates:
            if update["sessionUpdate"] in ("tool_call", "tool_call_update"):
                calls.setdefault(update["toolCallId"], {}).update(update)
        return calls

    @property
    def updates(self) -> list[dict[str, Any]]:
        return [message["params"]["update"] for message in self.sent("session/update")]

    @property
    def text(self) -> str:
        chunks = [u for u in self.updates if u["sessionUpdate"] == "agent_message_chunk"]
        return "".join(chunk["content"]["text"] for chunk in chunks)

    def sent(self, method: str) -> list[dict[str, Any]]:
        return [message for message in self.messages if message.get("method") == method]


class Acpx:
    """One kept session of acpx on a folder.  What it starts notes its pid and becomes ``agent``."""

    def __init__(
        self, folder: Path, home: Path, agent: Sequence[str], permissions: str = "--approve-all"
    ) -> None:
        self._folder = folder
        self._home = home
        self._pids = home / "pids"
        self._environment = {**os.environ, "HOME": str(home)}
        self._permissions = permissions
        script = home / "agent"
        command = shlex.join(agent)
        script.write_text(AGENT.format(pids=shlex.quote(str(self._pids)), command=command))
        script.chmod(0o755)
        self._agent = shlex.quote(str(script))
        made = self.call("sessions", "new", "--name", "one")
        self.session = json.loads(made)["acpxRecordId"]
        self.settle()

    @property
    def pids(self) -> list[int]:
        """Every agent that was started, in order."""
        return [int(line) for line in self._pids.read_text().split()]

    def words(self, *words: str) -> list[str]:
        node = node_command()
        if node is None:
            pytest.skip(ABSENT.format("there is no Node"))
        # With hardly any time to live the agent is ended after its turn: each has one of its own.
        flags = ["--cwd", str(self._folder), self._permissions, "--ttl", "0.01"]
        wire = ["--format", "json", "--json-strict"]
        return [*node, str(PROGRAM), *flags, *wire, "--agent", self._agent, *words]

    def call(self, *words: str, codes: tuple[int, ...] = (0,)) -> str:
        done = subprocess.run(
            self.words(*words),
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            check=False,
        )
        assert done.returncode in codes, done.stderr + done.stdout
        return done.stdout

    def cancelled_turn(self, text: str, sign: str) -> Told:
        """Begin a turn, cancel it from another process once acpx has shown ``sign``."""
        seen: list[str] = []
        with subprocess.Popen(
            self.words("prompt", "-s", "one", text),
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        ) as running:
            assert running.stdout is not None
            while not seen or sign not in seen[-1]:
                seen.append(running.stdout.readline())
                assert seen[-1], f"acpx ended before it showed {sign}"
            self.call("cancel", "-s", "one")
            rest, _ = running.communicate(timeout=DEADLINE_S)
        self.settle()
        return messages("".join(seen) + rest)

    def turn(self, text: str, codes: tuple[int, ...] = (0,)) -> Told:
        told = messages(self.call("prompt", "-s", "one", text, codes=codes))
        self.settle()
        return told

    def close(self) -> None:
        """Wait as `settle` does, and remove the folder of sockets that acpx leaves in /tmp."""
        self.settle()
        # It is named after the home alone, wherever temporary files are to be.
        name = hashlib.sha256(str(self._home).encode()).hexdigest()[:10]
        sockets = SOCKETS / f"acpx-{name}"
        shutil.rmtree(sockets, ignore_errors=True)

    def settle(self) -> None:
        """Wait for the end of the agent, and of the process that acpx leaves to hold it."""
        assert wait_until_gone(marked(f"HOME={self._home}"), DEADLINE_S) == set()


def messages(out: str) -> Told:
    return Told([json.loads(line) for line in out.splitlines()])
