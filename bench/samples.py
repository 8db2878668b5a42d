"""Repeats that are interleaved, so that whatever the machine does meanwhile hits everyone alike."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bench.peers import Agent

Figures: TypeAlias = "dict[str, float]"
"""One measurement: figure name, with its unit, to number."""

Table: TypeAlias = "dict[str, Figures]"
"""Agent name to the medians of its figures."""


def interleaved(
    agents: Sequence[Agent], repeats: int, measure: Callable[[Agent], Figures]
) -> Table:
    """Return the medians of `rounds`."""
    return {name: medians(rows) for name, rows in rounds(agents, repeats, measure).items()}


def rounds(
    agents: Sequence[Agent], repeats: int, measure: Callable[[Agent], Figures]
) -> dict[str, list[Figures]]:
    """Measure every agent ``repeats`` times, in turn; one round more goes first and is dropped."""
    samples: dict[str, list[Figures]] = {agent.name: [] for agent in agents}
    for number in range(repeats + 1):
        # Each round starts with another agent: nobody always follows the same neighbour.
        shift = number % len(agents)
        for agent in (*agents[shift:], *agents[:shift]):
            figures = measure(agent)
            if number:
                samples[agent.name].append(figures)
    return samples


def medians(rows: Sequence[Figures]) -> Figures:
    """Return the median of each figure."""
    return {name: median(row[name] for row in rows) for name in rows[0]}
