"""Memory, descriptors and threads at turn 50 and at turn 1,000 of one process."""

from __future__ import annotations

import time
from statistics import median
from typing import TYPE_CHECKING

from bench.client import Client
from bench.procfs import footprint

if TYPE_CHECKING:
    from pathlib import Path

    from bench.peers import Agent, Peers
    from bench.procfs import Footprint
    from bench.samples import Figures, Table

EARLY = 50
MIB = 1 << 20
SETTLE_S = 0.3


def endurance(peers: Peers, cwd: Path, turns: int) -> Table:
    """Run ``turns`` turns: chant's each start a process and record a run, the others stream."""
    agents = [peers.chant, peers.stream, *peers.sdk_agents()]
    return {agent.name: _one(agent, cwd, turns, chant=agent is peers.chant) for agent in agents}


def _one(agent: Agent, cwd: Path, turns: int, *, chant: bool) -> Figures:
    with Client(agent, cwd) as client:
        client.initialize()
        session, _ = client.new_session()
        words = "run quick" if chant else "stream 10 200"
        first_ms = _turns_ms(client, session, words, EARLY)
        early = _at_rest(client)
        _turns_ms(client, session, words, turns - 2 * EARLY)
        last_ms = _turns_ms(client, session, words, EARLY)
        late = _at_rest(client)
        return {
            "first_turns_ms": first_ms,
            "last_turns_ms": last_ms,
            "rss_early_mib": early.rss / MIB,
            "rss_late_mib": late.rss / MIB,
            "rss_growth_mib": (late.rss - early.rss) / MIB,
            "fds_early": early.fds,
            "fds_late": late.fds,
            "threads_early": early.threads,
            "threads_late": late.threads,
        }


def _turns_ms(client: Client, session: str, words: str, count: int) -> float:
    """Run ``count`` turns; return the median of their times."""
    times: list[float] = []
    for _ in range(count):
        start = time.perf_counter()
        client.answer(client.prompt(session, words))
        times.append((time.perf_counter() - start) * 1e3)
    return median(times)


def _at_rest(client: Client) -> Footprint:
    time.sleep(SETTLE_S)  # noqa: TID251 - a measurement waits; nothing tells when all is quiet
    return footprint(client.pid)
