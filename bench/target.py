"""What a target is: a figure of one run, and the bar that it must stay under or over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.samples import Table

Results: TypeAlias = "dict[str, Table]"
"""Measurement name to its table."""


@dataclass(frozen=True, slots=True)
class Target:
    """``figure`` must be at most, at least or exactly ``bar``."""

    title: str
    needs: str
    """The measurement it is taken from."""
    figure: Callable[[Results], float]
    relation: Literal["≤", "≥", "="]
    bar: float
    unit: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """A target and what came out; ``value`` is None when a peer was not there to compare with."""

    target: Target
    value: float | None

    @property
    def met(self) -> bool | None:
        """Whether the bar was reached; None: could not be measured."""
        if self.value is None:
            return None
        match self.target.relation:
            case "≤":
                return self.value <= self.target.bar
            case "≥":
                return self.value >= self.target.bar
            case "=":
                return self.value == self.target.bar


def one(measure: str, agent: str, figure: str) -> Callable[[Results], float]:
    """Take a figure of one agent."""
    return lambda results: results[measure][agent][figure]


def ratio(measure: str, figure: str, agent: str, to: str) -> Callable[[Results], float]:
    """Take a figure of one agent divided by the same of another one."""
    return lambda results: results[measure][agent][figure] / results[measure][to][figure]
