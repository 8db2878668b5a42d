"""A real server for hours: thousands of turns, hundreds of kills, and then the accounts.

What must hold: each run that a client heard of is in the ledger once, with the status that its
answer told, or as interrupted where the server was killed; memory, descriptors and threads stay
what they were; nothing that was started is alive at the end.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from tests.runtimes.chant.projects import make_project
from tests.soak.agent import Agent, ends, left_alive

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.soak.agent import Cost

Victim: TypeAlias = Literal["step", "guardian", "server"]
VICTIMS: tuple[Victim, ...] = ("step", "guardian", "server")

STEP = """
[[{phases}]]
name = "{name}"
  [[{phases}.steps]]
  id = "{name}"
  fn = "shell"
  args = {{ cmd = '{cmd}' }}
"""
UNDO = STEP.format(phases="on_failure", name="undo", cmd="echo undone")
OPS = {
    "good": STEP.format(phases="phases", name="work", cmd="echo good"),
    "bad": STEP.format(phases="phases", name="work", cmd="exit 3") + UNDO,
    "held": STEP.format(phases="phases", name="work", cmd='echo "pid $$"; exec sleep 600') + UNDO,
}
PID = re.compile(r"pid (\d+)")
ALLOWED_KIB = 6_000
"""How much more memory a server may have in the end than after its first turns."""
ALLOWED_MORE = 3
"""How many more descriptors, and threads: a timer's, or one that is about to end."""
WARM = 0.2
"""Share of the turns after which the costs are taken as the measure."""
PATIENCE_S = 30.0


@dataclass(slots=True)
class Soak:
    """One soak and its findings."""

    folder: Path
    turns: int
    kills: int
    told: Callable[[str], None]
    seed: int = 0
    heard: dict[str, str] = field(default_factory=dict[str, str])
    """Status by run; empty where the server was killed before it could tell."""
    killed: dict[str, int] = field(default_factory=dict[str, int])
    costs: list[Cost] = field(default_factory=list["Cost"])
    problems: list[str] = field(default_factory=list[str])

    def run(self) -> str:
        """Do all of it and return a summary."""
        began = time.monotonic()
        make_project(self.folder)
        for name, text in OPS.items():
            (self.folder / "ops" / f"{name}.op.toml").write_text(f'name = "{name}"\n{text}')
        token = os.urandom(8).hex()
        numbers = random.Random(self.seed)  # noqa: S311 - repeatable is the point
        victims: list[Victim] = [numbers.choice(VICTIMS) for _ in range(self.kills)]
        self._one_server(token, [each for each in victims if each != "server"], numbers)
        self._killed_servers(token, victims.count("server"), numbers)
        self._settle_accounts(token)
        return self._summary(time.monotonic() - began)

    # --- one server for all turns, whose steps and guardians are killed

    def _one_server(self, token: str, victims: list[Victim], numbers: random.Random) -> None:
        agent = Agent(self.folder, token)
        at = sorted(numbers.sample(range(self.turns), len(victims)), reverse=True)
        for turn in range(self.turns):
            if at and at[-1] == turn:
                at.pop()
                self._turn_with_a_kill(agent, victims.pop())
            else:
                op = "bad" if numbers.random() < 0.1 else "good"
                self._expect(agent.prompt(f"run {op}"), "fail" if op == "bad" else "ok")
            if turn + 1 in {int(self.turns * WARM), self.turns}:
                self.costs.append(agent.cost())
            if not (turn + 1) % 500:
                self.told(f"{turn + 1} turns, {sum(self.killed.values())} kills, {agent.cost()}")
        self._judge_costs()
        if code := agent.end():
            self.problems.append(f"the server ended with {code}")

    def _turn_with_a_kill(self, agent: Agent, victim: Victim) -> None:
        def meanwhile() -> Iterator[dict[str, Any]]:
            for message in agent.prompt("run held"):
                if found := PID.search(_text(message)):
                    pid = int(found[1]) if victim == "step" else agent.guardian()
                    self._kill(victim, pid)
                yield message

        self._expect(meanwhile(), "fail")

    def _kill(self, victim: Victim, pid: int | None) -> None:
        if pid is None:
            self.problems.append(f"there was no {victim} to kill")
            return
        os.kill(pid, signal.SIGKILL)
        self.killed[victim] = self.killed.get(victim, 0) + 1

    def _expect(self, messages: Iterator[dict[str, Any]], status: str) -> None:
        answer: dict[str, Any] = {}
        for message in messages:
            answer = message
        meta = answer.get("result", {}).get("_meta", {}).get("chant", {})
        if meta.get("status") != status:
            self.problems.append(f"a turn should have been {status}: {answer!r:.300}")
        if run_id := meta.get("runId"):
            self.heard[run_id] = meta["status"]

    def _judge_costs(self) -> None:
        first, last = self.costs
        if last.memory_kib - first.memory_kib > ALLOWED_KIB:
            self.problems.append(f"memory grew from {first.memory_kib} to {last.memory_kib} KiB")
        if last.descriptors - first.descriptors > ALLOWED_MORE:
            self.problems.append(f"descriptors grew: {first.descriptors}, {last.descriptors}")
        if last.threads - first.threads > ALLOWED_MORE:
            self.problems.append(f"threads grew: {first.threads}, {last.threads}")

    # --- servers that are killed anywhere

    def _killed_servers(self, token: str, count: int, numbers: random.Random) -> None:
        for number in range(count):
            agent = Agent(self.folder, token)
            left = numbers.randint(0, 9)
            for message in agent.prompt(f"run {numbers.choice(('good', 'bad'))}"):
                if run_id := _run_id(message):
                    self.heard.setdefault(run_id, "")
                left -= 1
                if left < 0:
                    break
            agent.kill()
            self.killed["server"] = self.killed.get("server", 0) + 1
            if not (number + 1) % 50:
                self.told(f"{number + 1} servers killed")

    # --- the accounts

    def _settle_accounts(self, token: str) -> None:
        """Have a last server settle what the killed ones left, then compare."""
        agent = Agent(self.folder, token)
        self._expect(agent.prompt("run good"), "ok")
        agent.end()
        found = _ledger(self.folder)
        for run_id, status in self.heard.items():
            statuses = found.pop(run_id, [])
            right = [status] if status else statuses[:1]
            if statuses != right or not statuses:
                self.problems.append(f"run {run_id}, told as {status!r}, is {statuses} there")
        # A run that began and died before its client heard of it.
        self.problems += [
            f"nobody heard of run {run_id}, and it is {statuses}"
            for run_id, statuses in found.items()
            if statuses != ["interrupted"]
        ]
        self.heard.update(dict.fromkeys(found, "interrupted"))
        notes = self.folder / ".git" / "chant" / "runs"
        if left := list(notes.glob("*.json")):
            self.problems.append(f"{len(left)} notes of runs were left")
        self._judge_processes(token)

    def _judge_processes(self, token: str) -> None:
        for pid in left_alive(token):
            if not ends(pid, PATIENCE_S):
                self.problems.append(f"process {pid} is still alive")

    def _summary(self, seconds: float) -> str:
        first, last = self.costs
        kills = ", ".join(f"{count} {victim}s" for victim, count in sorted(self.killed.items()))
        pairs = zip(("memory in KiB", "descriptors", "threads"), first, last, strict=True)
        grown = ", ".join(f"{name} {before} -> {after}" for name, before, after in pairs)
        return "\n".join(
            [
                f"{self.turns} turns on one chant acp, killed: {kills}; {seconds:.0f} s",
                f"{len(self.heard)} runs accounted for; {grown}",
                f"{len(self.problems)} problems",
                *(f"  {problem}" for problem in self.problems[:20]),
            ]
        )


def _text(message: dict[str, Any]) -> str:
    update = message.get("params", {}).get("update", {})
    content = update.get("content")
    return str(content.get("text", "")) if isinstance(content, dict) else ""


def _run_id(message: dict[str, Any]) -> str:
    """Return the run that an update tells of; empty where it tells of none."""
    update = message.get("params", {}).get("update", {})
    return str(update.get("toolCallId", "")).partition("/")[0]


def _ledger(folder: Path) -> dict[str, list[str]]:
    """Return all statuses of each run on the branch, full files included."""
    branch = "chant/lifecycle"
    git = ("git", "-C", str(folder))
    names = subprocess.run(
        [*git, "ls-tree", "-r", "--name-only", branch], capture_output=True, text=True, check=True
    )
    found: dict[str, list[str]] = {}
    for name in names.stdout.split():
        shown = subprocess.run(
            [*git, "show", f"{branch}:{name}"], capture_output=True, text=True, check=True
        )
        for line in shown.stdout.splitlines() if "/runs/" in name else ():
            record = json.loads(line)
            found.setdefault(record["id"], []).append(record["status"])
    return found
