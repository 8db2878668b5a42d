"""From the spawn to the first two answers, and what an agent holds then."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from bench.client import Client
from bench.coding_agents import scene
from bench.measures.agent.beside import beside
from bench.procfs import footprint
from bench.samples import interleaved

if TYPE_CHECKING:
    from pathlib import Path

    from bench.peers import Agent, Peers
    from bench.samples import Figures, Table

SETTLE_S = 0.5
MIB = 1 << 20


def agent_start(peers: Peers, cwd: Path, repeats: int) -> Table:
    """Time both answers from the spawn on, each asked for as soon as it may be."""

    def measure(agent: Agent) -> Figures:
        with Client(agent, cwd) as client:
            first = client.initialize()
            _, second = client.new_session()
            time.sleep(SETTLE_S)  # noqa: TID251 - a measurement waits; nothing tells when all is quiet
            used = footprint(client.pid)
            return {
                "initialize_ms": (first.at - client.started) * 1e3,
                "session_new_ms": (second - client.started) * 1e3,
                "rss_mib": used.rss / MIB,
                "processes": used.processes,
            }

    with scene(peers, cwd) as here:
        ours = interleaved([peers.python, here.radian, here.sdk_model], repeats, measure)
        return {**ours, **beside(here.others, measure)}
