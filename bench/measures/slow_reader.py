"""A client that stops reading for three seconds while the agent floods it."""

from __future__ import annotations

import json
import time
from itertools import pairwise
from typing import TYPE_CHECKING

from bench.client import Client
from bench.procfs import cpu_s, descendants, footprint

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bench.peers import Agent, Peers
    from bench.samples import Figures, Table

PAUSE_S = 3.0
LOOK_S = 0.1
WARM = 200
"""Updates that a flooding child gets through before: buffers have their size then."""
MIB = 1 << 20
LINES = 5_000_000
"""What bench/box/ops/flood.op.toml counts up to."""


def slow_reader(peers: Peers, cwd: Path, count: int) -> Table:
    """Measure growth in the pause, and whether all updates came, in order, once reading went on."""
    agents = [peers.stream, *peers.sdk_agents()]
    return {
        **{agent.name: _numbered(agent, cwd, count) for agent in agents},
        peers.chant.name: _flooding_child(peers.chant, cwd),
    }


def _numbered(agent: Agent, cwd: Path, count: int) -> Figures:
    with Client(agent, cwd) as client:
        client.initialize()
        session, _ = client.new_session()
        client.keep = []
        prompt = client.prompt(session, f"stream {count} 200")
        client.wait_for_updates(count // 4)
        figures = pause(client)
        client.answer(prompt)
        numbers = [int(text[:8]) for text in _texts(client.keep)]
        return {
            **figures,
            "lost": count - len(set(numbers)),
            "disordered": sum(after != before + 1 for before, after in pairwise(numbers)),
        }


def _flooding_child(agent: Agent, cwd: Path) -> Figures:
    """Let chant run a child that prints without end in sight; it must stand still meanwhile."""
    with Client(agent, cwd) as client:
        client.initialize()
        session, _ = client.new_session()
        client.keep = []
        prompt = client.prompt(session, "run flood")
        client.wait_for_updates(WARM)
        figures = pause(client)
        client.answer(prompt)
        expected = "".join(f"{number}\n" for number in range(1, LINES + 1))
        got = "".join(_texts(client.keep))
        return {**figures, "lost": 0 if expected in got else abs(len(expected) - len(got)) or 1}


def pause(client: Client) -> Figures:
    """Read nothing for a while; return growth, and the CPU time of the tree in the last second."""
    before = highest = footprint(client.pid).rss
    end = time.perf_counter() + PAUSE_S
    tree = [client.pid, *descendants(client.pid)]
    used = 0.0
    while (left := end - time.perf_counter()) > 0:
        time.sleep(LOOK_S)  # noqa: TID251 - this pause is the measurement
        highest = max(highest, footprint(client.pid).rss)
        if left > 1:
            used = sum(map(cpu_s, tree))
    return {
        "growth_mib": (highest - before) / MIB,
        "busy_ms_in_last_s": (sum(map(cpu_s, tree)) - used) * 1e3,
    }


def _texts(chunks: list[bytes]) -> Iterator[str]:
    """Return the texts of all message chunks, in the order in which they came."""
    for chunk in chunks:
        for line in chunk.split(b"\n"):
            if b'"agent_message_chunk"' in line:
                yield str(json.loads(line)["params"]["update"]["content"]["text"])
