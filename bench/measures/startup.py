"""Spawn to answered `initialize`, `session/new` after it, and memory when all is quiet."""

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

SETTLE_S = 0.5
"""What an agent gets to finish what it does after the handshake, before its memory is read."""

MIB = 1 << 20


def start_up(peers: Peers, cwd: Path, repeats: int) -> Table:
    """Time the first two answers, each asked for as soon as it may be."""

    def measure(agent: Agent) -> Figures:
        with Client(agent, cwd) as client:
            first = client.initialize()
            _, second = client.new_session()
            return {
                "initialize_ms": (first.at - client.started) * 1e3,
                "session_new_ms": (second - first.at) * 1e3,
            }

    return interleaved([peers.bare, peers.chant, *peers.sdk_agents()], repeats, measure)


def memory_at_rest(peers: Peers, cwd: Path, repeats: int) -> Table:
    """Read the memory of an agent with one open session, process tree included."""

    def measure(agent: Agent) -> Figures:
        with Client(agent, cwd) as client:
            client.initialize()
            client.new_session()
            time.sleep(SETTLE_S)  # noqa: TID251 - a measurement waits; nothing tells when all is quiet
            used = footprint(client.pid)
            return {
                "rss_mib": used.rss / MIB,
                "pss_mib": used.pss / MIB,
                "processes": used.processes,
                "threads": used.threads,
            }

    return interleaved([peers.bare, peers.chant, *peers.sdk_agents()], repeats, measure)
