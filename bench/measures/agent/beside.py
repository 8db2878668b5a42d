"""Figures of the agents that stand beside ours: few repeats, and a failure is a row, not an end."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from bench.client import AgentError
from bench.samples import medians

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bench.peers import Agent
    from bench.samples import Figures, Table

REPEATS = 2


def beside(
    agents: Sequence[Agent],
    measure: Callable[[Agent], Figures],
    repeats: int = REPEATS,
    *,
    ours: Agent | None = None,
) -> Table:
    """Measure each agent a few times, in turn; who fails has a row that says only that.

    Raises:
        AgentError: ``ours`` has failed.

    """
    samples: dict[str, list[Figures]] = {agent.name: [] for agent in agents}
    failed: Table = {}
    for _ in range(repeats):
        for agent in agents:
            if agent.name in failed:
                continue
            try:
                samples[agent.name].append(measure(agent))
            except AgentError as error:
                if agent is ours:
                    raise
                print(f"  {agent.name} FAILED: {error}", file=sys.stderr, flush=True)
                failed[agent.name] = {"failed": 1}
    measured = {name: medians(rows) for name, rows in samples.items() if name not in failed}
    return {**measured, **failed}
