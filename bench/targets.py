"""What chant and the actor runtime must reach; `agent_targets` has what radian must."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.agent_targets import AGENT_TARGETS
from bench.target import Target, Verdict, one, ratio

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.target import Results

CHANT, OURS, CEILING = "chant", "our runtime", "orjson ceiling"
PYTHON, TYPESCRIPT = "Python SDK", "TypeScript SDK"


def judge(results: Results) -> list[Verdict]:
    """Compare all targets whose measurements were made."""
    return [_verdict(target, results) for target in TARGETS if target.needs in results]


def _verdict(target: Target, results: Results) -> Verdict:
    try:
        return Verdict(target, target.figure(results))
    except KeyError:
        return Verdict(target, None)


def _change(figure: str) -> Callable[[Results], float]:
    def difference(results: Results) -> float:
        row = results["endurance"][CHANT]
        return row[f"{figure}_late"] - row[f"{figure}_early"]

    return difference


SPINE = (
    Target(
        "spawn to answered initialize, to the Python SDK's agent",
        "start_up",
        ratio("start_up", "initialize_ms", CHANT, PYTHON),
        "≤",
        1 / 7,
        "×",
    ),
    Target(
        "spawn to answered initialize, to the TypeScript SDK's agent",
        "start_up",
        ratio("start_up", "initialize_ms", CHANT, TYPESCRIPT),
        "≤",
        1 / 2,
        "×",
    ),
    Target(
        "session/new after it", "start_up", one("start_up", CHANT, "session_new_ms"), "≤", 5, "ms"
    ),
    Target(
        "200-byte updates, to the Python SDK's agent",
        "streaming",
        ratio("streaming", "updates_per_s", OURS, PYTHON),
        "≥",
        8,
        "×",
    ),
    Target(
        "200-byte updates, to orjson and joined writes without actors",
        "streaming",
        one("streaming", OURS, "of_ceiling"),
        "≥",
        0.8,
        "×",
    ),
    Target(
        "peak pending at the gate",
        "streaming",
        one("streaming", OURS, "peak_pending"),
        "=",
        64,
        "messages",
    ),
    Target(
        "cancel of a running step, its run recorded",
        "cancelling",
        one("cancelling", CHANT, "idle_ms"),
        "≤",
        50,
        "ms",
    ),
    Target(
        "cancel of an idle stream", "cancelling", one("cancelling", OURS, "idle_ms"), "≤", 10, "ms"
    ),
    Target(
        "cancel of an idle stream behind 10,000 queued messages",
        "cancelling",
        one("cancelling", OURS, "behind_10000_ms"),
        "≤",
        50,
        "ms",
    ),
    Target(
        "cancel of a running step behind 10,000, its run recorded",
        "cancelling",
        one("cancelling", CHANT, "behind_10000_ms"),
        "≤",
        50,
        "ms",
    ),
    Target(
        "memory at rest", "at_rest", one("at_rest", CHANT, "rss_mib"), "≤", 30 / 1.048576, "MiB"
    ),
    Target(
        "memory, turn 1,000 less turn 50",
        "endurance",
        one("endurance", CHANT, "rss_growth_mib"),
        "≤",
        1,
        "MiB",
    ),
    Target("descriptors, the same", "endurance", _change("fds"), "=", 0, "more"),
    Target("threads, the same", "endurance", _change("threads"), "=", 0, "more"),
    Target(
        "60 MiB line answered, to collecting and parsing it",
        "large_line",
        ratio("large_line", "ms", CHANT, CEILING),
        "≤",
        2,
        "×",
    ),
    Target(
        "60 MiB line, growth",
        "large_line",
        one("large_line", CHANT, "growth_lines"),
        "≤",
        4.5,
        "lines",
    ),
    Target(
        "60 MiB line, kept after the answer",
        "large_line",
        one("large_line", CHANT, "kept_lines"),
        "≤",
        0.1,
        "lines",
    ),
    Target("65 MiB line, code", "over_long", one("over_long", CHANT, "code"), "=", -32700, ""),
    Target(
        "65 MiB line, growth at the peak",
        "over_long",
        one("over_long", CHANT, "growth_lines"),
        "≤",
        0.1,
        "lines",
    ),
    Target(
        "slow reader, growth in 3 s",
        "slow_reader",
        one("slow_reader", OURS, "growth_mib"),
        "≤",
        1,
        "MiB",
    ),
    Target(
        "slow reader, lost updates",
        "slow_reader",
        one("slow_reader", OURS, "lost"),
        "=",
        0,
        "lost",
    ),
    Target(
        "slow reader, out of order",
        "slow_reader",
        one("slow_reader", OURS, "disordered"),
        "=",
        0,
        "updates",
    ),
    Target(
        "slow reader of a flooding child, growth",
        "slow_reader",
        one("slow_reader", CHANT, "growth_mib"),
        "≤",
        1,
        "MiB",
    ),
    Target(
        "slow reader of a flooding child, child stalled",
        "slow_reader",
        one("slow_reader", CHANT, "busy_ms_in_last_s"),
        "≤",
        20,
        "ms busy in the last second",
    ),
    Target(
        "slow reader of a flooding child, lost",
        "slow_reader",
        one("slow_reader", CHANT, "lost"),
        "=",
        0,
        "characters",
    ),
    *(
        Target(
            f"{title} at 100,000 recorded runs, to the same at 100",
            "ledger",
            ratio("ledger", figure, "many runs", "100 runs"),
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

TARGETS = (*SPINE, *AGENT_TARGETS)
