"""One prompt line of 60 MiB, and one of 65 MiB, which is over the limit."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from bench.client import Client
from bench.procfs import footprint
from bench.samples import interleaved

if TYPE_CHECKING:
    from pathlib import Path

    from bench.peers import Agent, Peers
    from bench.samples import Figures, Table

MIB = 1 << 20
LARGE = 60 * MIB
TOO_LARGE = 65 * MIB
SETTLE_S = 0.3
NUMBER = 1_000_000
"""An id that no other request of the client has."""


def large_line(peers: Peers, cwd: Path, repeats: int) -> Table:
    """Time a 60 MiB prompt from its first byte to its answer, and measure what it leaves behind.

    The ceiling does nothing but collect the line, parse it with orjson and answer: its time is
    "the time of parsing it" through the same pipe.
    """

    def measure(agent: Agent) -> Figures:
        with Client(agent, cwd) as client:
            client.initialize()
            session, _ = client.new_session()
            # What the first prompt makes an agent load is not what the line leaves behind.
            client.answer(client.prompt(session, "list"))
            time.sleep(SETTLE_S)  # noqa: TID251 - a measurement waits until all is quiet
            before = footprint(client.pid)
            start = time.perf_counter()
            client.queue_raw(prompt_line(session, LARGE))
            answer = client.answer(NUMBER)
            peak = footprint(client.pid).peak_rss
            client.answer(client.request("session/new", {"cwd": str(cwd), "mcpServers": []}))
            time.sleep(SETTLE_S)  # noqa: TID251
            return {
                "ms": (answer.at - start) * 1e3,
                "growth_lines": (peak - before.rss) / LARGE,
                "kept_lines": (footprint(client.pid).rss - before.rss) / LARGE,
            }

    agents = [peers.ceiling, peers.chant, peers.stream, peers.python]
    return interleaved(agents, repeats, measure)


def over_long_line(peers: Peers, cwd: Path) -> Table:
    """Send chant a line that is over the limit."""
    return over_long(peers.chant, cwd)


def over_long(agent: Agent, cwd: Path) -> Table:
    """Send 65 MiB in one line: the code that is answered, the growth; the next line is served."""
    with Client(agent, cwd) as client:
        client.initialize()
        session, _ = client.new_session()
        time.sleep(SETTLE_S)  # noqa: TID251 - a measurement waits until all is quiet
        before = footprint(client.pid).rss
        start = time.perf_counter()
        client.queue_raw(prompt_line(session, TOO_LARGE))
        error = client.error()
        client.answer(client.request("session/new", {"cwd": str(cwd), "mcpServers": []}))
        after = footprint(client.pid)
        return {
            agent.name: {
                "ms": (error.at - start) * 1e3,
                "code": error.message["error"]["code"],
                "growth_lines": (after.peak_rss - before) / TOO_LARGE,
                "kept_lines": (after.rss - before) / TOO_LARGE,
            }
        }


def prompt_line(session: str, size: int) -> bytes:
    """Return a prompt that is ``size`` bytes long, newline not counted."""
    start = (
        f'{{"jsonrpc":"2.0","id":{NUMBER},"method":"session/prompt","params":'
        f'{{"sessionId":"{session}","prompt":[{{"type":"text","text":"'
    )
    end = '"}]}}'
    return (start + "x" * (size - len(start) - len(end)) + end + "\n").encode()
