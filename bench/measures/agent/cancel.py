"""From writing `session/cancel` to the answer, in a stream that hangs and while a program runs."""

from __future__ import annotations

import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from bench.client import AgentError, Client
from bench.coding_agents import scene, shell_of
from bench.measures.agent.beside import beside
from bench.procfs import descendants

if TYPE_CHECKING:
    from bench.peers import Agent, Peers
    from bench.samples import Figures, Table

LOOK_S = 0.0005
LONGEST_S = 15
PROGRAM = "sleep"
PROGRAMS = 5
"""Cancelled in each session and counted: one alone takes between a half and twice the median."""
FORGETFUL = "claude-agent-acp"
"""Answers nothing any more once it was cancelled."""


def agent_cancel(peers: Peers, cwd: Path, repeats: int) -> Table:
    """Cancel more than once, and count not the first time; who can't go on has but that."""

    def measure(agent: Agent) -> Figures:
        tool = shell_of(agent)
        with Client(agent, cwd) as client:
            session = _warm(client)
            figures: Figures = {"first_stream_ms": _hang(client, session)}
            if not agent.name.startswith(FORGETFUL):
                figures["stream_ms"] = _hang(client, session)
            if tool is not None:
                runs = [_run(client, session, tool) for _ in range(1 + PROGRAMS)][1:]
                figures["shell_ms"], figures["gone_ms"] = map(median, zip(*runs, strict=True))
            return figures

    with scene(peers, cwd) as here:
        everyone = [here.radian, here.sdk_model, *here.others]
        return beside(everyone, measure, repeats, ours=here.radian)


def _warm(client: Client) -> str:
    client.initialize()
    session, _ = client.new_session()
    client.answer(client.prompt(session, "bench:hello"))
    return session


def _hang(client: Client, session: str) -> float:
    prompt = client.prompt(session, "bench:hang")
    client.wait_for_text("working")
    return _cancel(client, session, prompt)


def _run(client: Client, session: str, tool: str) -> tuple[float, float]:
    """Return the milliseconds to the answer, and until nothing of the program is left."""
    prompt = client.prompt(session, f'bench:call {tool} {{"command": "{PROGRAM} 60"}}')
    client.flush()
    until = time.perf_counter() + LONGEST_S
    while not _running(client.pid):
        if time.perf_counter() > until:
            message = f"{PROGRAM} was not started"
            raise AgentError(message)
        time.sleep(LOOK_S)  # noqa: TID251 - nothing tells of a process that starts
    start = time.perf_counter()
    answer_ms = _cancel(client, session, prompt)
    while _running(client.pid):
        if time.perf_counter() > start + LONGEST_S:
            break
        time.sleep(LOOK_S)  # noqa: TID251 - or ends
    return answer_ms, (time.perf_counter() - start) * 1e3


def _cancel(client: Client, session: str, prompt: int) -> float:
    client.notify("session/cancel", {"sessionId": session})
    start = client.flush()
    answer = client.answer(prompt)
    if answer.result.get("stopReason") != "cancelled":
        message = f"the cancelled prompt ended as {answer.result}"
        raise AgentError(message)
    return (answer.at - start) * 1e3


def _running(pid: int) -> bool:
    """Tell whether the program, or what stands for it before it is replaced by it, is there."""
    return any(PROGRAM in _words(child) for child in descendants(pid))


def _words(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""
