"""Repeats are interleaved, and the first round warms up."""

from __future__ import annotations

from bench.peers import Agent
from bench.samples import interleaved

A, B, C = (Agent(name, (), {}) for name in "abc")


def test_rounds_rotate_and_the_first_is_dropped() -> None:
    order: list[str] = []

    def measure(agent: Agent) -> dict[str, float]:
        order.append(agent.name)
        return {"ms": 1000.0 if len(order) <= 3 else float(len(order))}

    medians = interleaved([A, B, C], 3, measure)

    assert "".join(order) == "abcbcacababc"
    assert medians == {"a": {"ms": 8.0}, "b": {"ms": 9.0}, "c": {"ms": 7.0}}
