"""A headless client that others wrote: acpx from npm, with a new agent process for every turn.

``make acpx`` installs it where Node is.  It takes a session up again by ``session/resume``.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.agents import CHANT
from tests.e2e.processes import marked, wait_until_gone
from tests.node import node_command
from tests.runtimes.chant.test_approve import GATED
from tests.scripts import script
from tests.shared import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Make = Callable[..., "Acpx"]

pytestmark = pytest.mark.slow

PROGRAM = ROOT / "tests" / "e2e" / "acpx" / "node_modules" / "acpx" / "dist" / "cli.js"
ABSENT = "NOT TESTED: {} (make acpx brings it)"
DEADLINE_S = 60.0
ASKED = (0, 5)
"""How acpx ends: it allowed what was asked, or the turn was over first and it took the question
for cancelled."""
AGENT = """\
#!/bin/sh
echo $$ >> {pids}
exec {command} "$@"
"""


@dataclass(frozen=True)
class Told:
    """What went over the wire in one turn, both ways, and how it ended."""

    messages: list[dict[str, Any]]

    @property
    def result(self) -> dict[str, Any]:
        """The answer to ``session/prompt``."""
        (asked,) = self.sent("session/prompt")
        (answer,) = [m for m in self.messages if m.get("id") == asked["id"] and "method" not in m]
        result: dict[str, Any] = answer["result"]
        return result

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
    """One kept session of acpx on a project.  ``agent`` starts ``chant acp`` and notes its pid."""

    def __init__(self, folder: Path, home: Path, *flags: str) -> None:
        self._folder = folder
        self._home = home
        self._pids = home / "pids"
        self._environment = {**os.environ, "HOME": str(home)}
        agent = home / "agent"
        command = shlex.join(CHANT.command)
        agent.write_text(AGENT.format(pids=shlex.quote(str(self._pids)), command=command))
        agent.chmod(0o755)
        self._agent = shlex.join([str(agent), *flags])
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
        flags = ["--cwd", str(self._folder), "--approve-all", "--ttl", "0.01"]
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

    def start(self, text: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.words("prompt", "-s", "one", text),
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )

    def turn(self, text: str, codes: tuple[int, ...] = (0,)) -> Told:
        told = messages(self.call("prompt", "-s", "one", text, codes=codes))
        self.settle()
        return told

    def settle(self) -> None:
        """Wait for the end of the agent, and of the process that acpx leaves to hold it."""
        assert wait_until_gone(marked(f"HOME={self._home}"), DEADLINE_S) == set()


def messages(out: str) -> Told:
    return Told([json.loads(line) for line in out.splitlines()])


@pytest.fixture
def box(tmp_path: Path) -> Path:
    if not PROGRAM.is_file():
        pytest.skip(ABSENT.format("acpx is not installed"))
    folder = tmp_path / "box"
    folder.mkdir()
    CHANT.prepare(folder)
    (folder / "ops" / "gated.op.toml").write_text(GATED)
    return folder


@pytest.fixture
def make(box: Path, tmp_path: Path) -> Iterator[Make]:
    """Open a session of an agent with flags."""
    opened: list[Acpx] = []

    def client(*flags: str) -> Acpx:
        home = tmp_path / "home"
        home.mkdir()
        opened.append(Acpx(box, home, *flags))
        return opened[-1]

    yield client
    for each in opened:
        each.settle()


def statuses(told: Told) -> list[str]:
    """Return how each tool call stood at last, in the order in which they were announced."""
    calls: dict[str, str] = {}
    for update in told.updates:
        if update["sessionUpdate"] in ("tool_call", "tool_call_update"):
            calls[update["toolCallId"]] = update.get("rawOutput", {}).get("status", "")
    return list(calls.values())


def test_a_run_stops_at_a_gate_and_goes_through_with_a_new_process_for_each_turn(
    box: Path, make: Make
) -> None:
    client = make()

    stopped = client.turn("run gated")
    refused = client.turn("approve gated window --approver robot")
    person = [script("chant"), "approve", "gated", "window", "--approver", "ann"]
    subprocess.run(person, cwd=box, check=True, capture_output=True)
    passed = client.turn("chant run gated")

    assert stopped.result["stopReason"] == "end_turn"
    assert stopped.result["_meta"]["chant"]["exitCode"] == 3
    assert "chant approve gated window --approver <you>\n" in stopped.text
    assert statuses(stopped) == ["ok", "gated", "skipped"]
    assert refused.result["stopReason"] == "refusal"
    assert "same-origin" in refused.text
    assert passed.result["_meta"]["chant"]["status"] == "ok"
    assert statuses(passed) == ["ok", "ok", "ok"]
    assert (box / "log").read_text().split() == ["one", "one", "two"]
    for turn in (stopped, refused, passed):
        (resumed,) = turn.sent("session/resume")
        assert resumed["params"]["sessionId"] == client.session
        assert turn.sent("session/new") == []
    assert len(set(client.pids)) == 4


def test_a_cancel_in_mid_step_cleans_up(box: Path, make: Make) -> None:
    client = make()
    wait = "run undo --param 'script=echo ready; sleep 600'"

    with client.start(wait) as running:
        assert running.stdout is not None
        seen: list[str] = []
        while not seen or '"text":"ready' not in seen[-1]:
            seen.append(running.stdout.readline())
            assert seen[-1], "acpx ended before the step was ready"
        client.call("cancel", "-s", "one")
        rest, _ = running.communicate(timeout=DEADLINE_S)
    told = messages("".join(seen) + rest)
    client.settle()

    assert told.result["stopReason"] == "cancelled"
    assert (box / "undone").read_text() == "undone\n"
    assert not (box / "never").exists()


def test_a_client_that_allows_everything_opens_no_gate(box: Path, make: Make) -> None:
    client = make("--durable-requests", "--strict-stop-reasons")

    stopped = client.turn("run gated", ASKED)
    again = client.turn("run gated", ASKED)

    (asked,) = stopped.sent("session/request_permission")
    answers = [m for m in stopped.messages if m.get("id") == asked["id"] and "result" in m]
    assert len(answers) == 1
    assert stopped.result["_meta"]["chant"]["state"] == "waiting"
    assert statuses(again) == ["ok", "gated", "skipped"]
    assert (box / "log").read_text().split() == ["one", "one"]
