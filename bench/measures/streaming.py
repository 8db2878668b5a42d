"""Session updates of 200 bytes, as fast as the agent sends them and a quick client reads them."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from bench.client import AgentError, Client
from bench.procfs import cpu_s
from bench.samples import medians, rounds

if TYPE_CHECKING:
    from pathlib import Path

    from bench.peers import Agent, Peers
    from bench.samples import Figures, Table

SIZE = 200


def streaming(peers: Peers, cwd: Path, repeats: int, count: int) -> Table:
    """Stream ``count`` updates in one turn; the second of two turns counts."""

    def measure(agent: Agent) -> Figures:
        with Client(agent, cwd) as client:
            client.initialize()
            session, _ = client.new_session()
            client.answer(client.prompt(session, f"stream 1000 {SIZE}"))
            client.updates = 0
            prompt = client.prompt(session, f"stream {count} {SIZE}")
            used, start = cpu_s(client.pid), client.flush()
            answer = client.answer(prompt)
            if client.updates != count:
                message = f"{agent.name}: {client.updates} updates arrived of {count}"
                raise AgentError(message)
            figures = {
                "updates_per_s": count / (answer.at - start),
                "cpu_us_per_update": (cpu_s(client.pid) - used) * 1e6 / count,
            }
            pending = answer.result.get("_meta", {}).get("peakPending")
            return figures if pending is None else {**figures, "peak_pending": pending}

    ours, ceiling = peers.stream.name, peers.ceiling.name
    samples = rounds([peers.ceiling, peers.stream, *peers.sdk_agents()], repeats, measure)
    # A machine that changes its pace between two agents is the same for both in most rounds.
    of_ceiling = median(
        mine["updates_per_s"] / its["updates_per_s"]
        for mine, its in zip(samples[ours], samples[ceiling], strict=True)
    )
    table = {name: medians(rows) for name, rows in samples.items()}
    table[ours]["of_ceiling"] = of_ceiling
    return table
