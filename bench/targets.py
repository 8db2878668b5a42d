"""What is to be reached, each as a figure of one run and the bar it must stay under or over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.samples import Table

Results: TypeAlias = "dict[str, Table]"
"""Measurement name to its table."""

CHANT, OURS, CEILING = "chant", "our runtime", "orjson ceiling"
PYTHON, TYPESCRIPT = "Python SDK", "TypeScript SDK"


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


def judge(results: Results) -> list[Verdict]:
    """Compare all targets whose measurements were made."""
    return [_verdict(target, results) for target in TARGETS if target.needs in results]


def _verdict(target: Target, results: Results) -> Verdict:
    try:
        return Verdict(target, target.figure(results))
    except KeyError:
        return Verdict(target, None)


def _one(measure: str, agent: str, figure: str) -> Callable[[Results], float]:
    return lambda results: results[measure][agent][figure]


def _ratio(measure: str, figure: str, agent: str, to: str) -> Callable[[Results], float]:
    return lambda results: results[measure][agent][figure] / results[measure][to][figure]


def _change(figure: str) -> Callable[[Results], float]:
    def difference(results: Results) -> float:
        row = results["endurance"][CHANT]
        return row[f"{figure}_late"] - row[f"{figure}_early"]

    return difference


TARGETS = (
    Target(
        "spawn to answered initialize, to the Python SDK's agent",
        "start_up",
        _ratio("start_up", "initialize_ms", CHANT, PYTHON),
        "≤",
        1 / 7,
        "×",
    ),
    Target(
        "spawn to answered initialize, to the TypeScript SDK's agent",
        "start_up",
        _ratio("start_up", "initialize_ms", CHANT, TYPESCRIPT),
        "≤",
        1 / 2,
        "×",
    ),
    Target(
        "session/new after it", "start_up", _one("start_up", CHANT, "session_new_ms"), "≤", 5, "ms"
    ),
    Target(
        "200-byte updates, to the Python SDK's agent",
        "streaming",
        _ratio("streaming", "updates_per_s", OURS, PYTHON),
        "≥",
        8,
        "×",
    ),
    Target(
        "200-byte updates, to orjson and joined writes without actors",
        "streaming",
        _ratio("streaming", "updates_per_s", OURS, CEILING),
        "≥",
        0.8,
        "×",
    ),
    Target(
        "peak pending at the gate",
        "streaming",
        _one("streaming", OURS, "peak_pending"),
        "=",
        64,
        "messages",
    ),
    Target(
        "cancel of a running step, its run recorded",
        "cancelling",
        _one("cancelling", CHANT, "idle_ms"),
        "≤",
        50,
        "ms",
    ),
    Target(
        "cancel of an idle stream", "cancelling", _one("cancelling", OURS, "idle_ms"), "≤", 10, "ms"
    ),
    Target(
        "cancel of an idle stream behind 10,000 queued messages",
        "cancelling",
        _one("cancelling", OURS, "behind_10000_ms"),
        "≤",
        50,
        "ms",
    ),
    Target(
        "cancel of a running step behind 10,000, its run recorded",
        "cancelling",
        _one("cancelling", CHANT, "behind_10000_ms"),
        "≤",
        50,
        "ms",
    ),
    Target(
        "memory at rest", "at_rest", _one("at_rest", CHANT, "rss_mib"), "≤", 30 / 1.048576, "MiB"
    ),
    Target(
        "memory, turn 1,000 less turn 50",
        "endurance",
        _one("endurance", CHANT, "rss_growth_mib"),
        "≤",
        1,
        "MiB",
    ),
    Target("descriptors, the same", "endurance", _change("fds"), "=", 0, "more"),
    Target("threads, the same", "endurance", _change("threads"), "=", 0, "more"),
    Target(
        "60 MiB line answered, to collecting and parsing it",
        "large_line",
        _ratio("large_line", "ms", CHANT, CEILING),
        "≤",
        2,
        "×",
    ),
    Target(
        "60 MiB line, growth",
        "large_line",
        _one("large_line", CHANT, "growth_lines"),
        "≤",
        4.5,
        "lines",
    ),
    Target(
        "60 MiB line, kept after the answer",
        "large_line",
        _one("large_line", CHANT, "kept_lines"),
        "≤",
        0.1,
        "lines",
    ),
    Target("65 MiB line, code", "over_long", _one("over_long", CHANT, "code"), "=", -32700, ""),
    Target(
        "65 MiB line, growth at the peak",
        "over_long",
        _one("over_long", CHANT, "growth_lines"),
        "≤",
        0.1,
        "lines",
    ),
    Target(
        "slow reader, growth in 3 s",
        "slow_reader",
        _one("slow_reader", OURS, "growth_mib"),
        "≤",
        1,
        "MiB",
    ),
    Target(
        "slow reader, lost updates",
        "slow_reader",
        _one("slow_reader", OURS, "lost"),
        "=",
        0,
        "lost",
    ),
    Target(
        "slow reader, out of order",
        "slow_reader",
        _one("slow_reader", OURS, "disordered"),
        "=",
        0,
        "updates",
    ),
    Target(
        "slow reader of a flooding child, growth",
        "slow_reader",
        _one("slow_reader", CHANT, "growth_mib"),
        "≤",
        1,
        "MiB",
    ),
    Target(
        "slow reader of a flooding child, child stalled",
        "slow_reader",
        _one("slow_reader", CHANT, "busy_ms_in_last_s"),
        "≤",
        20,
        "ms busy in the last second",
    ),
    Target(
        "slow reader of a flooding child, lost",
        "slow_reader",
        _one("slow_reader", CHANT, "lost"),
        "=",
        0,
        "characters",
    ),
    *(
        Target(
            f"{title} at 100,000 recorded runs, to the same at 100",
            "ledger",
            _ratio("ledger", figure, "many runs", "100 runs"),
            "≤",
            2,
            "×",
        )
        for title, figure in (
            ("run list", "run_list_ms"),
            ("run log --limit 20", "run_log_ms"),
            ("start of a run", "start_ms"),
        )
    ),
)
"""Taken from the issue that asked for the spine; ratios are of agents measured in the same run."""
