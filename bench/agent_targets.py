"""What radian must reach; the other coding agents stand beside it for comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.coding_agents import CODEX_EXEC, RADIAN, SDK_MODEL
from bench.target import Target, one, ratio

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.target import Results

PYTHON = "Python SDK"
LOOP = "loop without actors"


def _to(agent: str, measure: str, figure: str) -> Callable[[Results], float]:
    """Take a figure of radian's to the same of an agent of npm, whatever its version is."""

    def to_it(results: Results) -> float:
        rows = results[measure]
        found = [row for name, row in rows.items() if name.startswith(agent)]
        if not found:
            raise KeyError(agent)
        return rows[RADIAN][figure] / found[0][figure]

    return to_it


def _to_the_best(measure: str, figure: str) -> Callable[[Results], float]:
    """Take a figure of radian's to the lowest of the coding agents of npm that have it."""

    def to_the_best(results: Results) -> float:
        rows = results[measure]
        others = [
            row[figure]
            for name, row in rows.items()
            if name not in {RADIAN, SDK_MODEL} and figure in row
        ]
        if not others:
            raise KeyError(figure)
        return rows[RADIAN][figure] / min(others)

    return to_the_best


def _within(measure: str, figure: str, to: str) -> Callable[[Results], float]:
    """Take a figure of radian's to another one of its own."""
    return lambda results: results[measure][RADIAN][figure] / results[measure][RADIAN][to]


AGENT_TARGETS = (
    Target(
        "radian: spawn to answered initialize, to the Python SDK's agent",
        "agent_start",
        ratio("agent_start", "initialize_ms", RADIAN, PYTHON),
        "≤",
        0.14,
        "×",
    ),
    Target(
        "radian: spawn to answered session/new, to the same",
        "agent_start",
        ratio("agent_start", "session_new_ms", RADIAN, PYTHON),
        "≤",
        0.18,
        "×",
    ),
    Target(
        "radian: memory then", "agent_start", one("agent_start", RADIAN, "rss_mib"), "≤", 45, "MiB"
    ),
    Target(
        "radian: first turn, to the best coding agent's",
        "agent_turns",
        _to_the_best("agent_turns", "first_turn_ms"),
        "≤",
        0.95,
        "×",
    ),
    Target(
        "radian: first chunk, turns 2 to 20, to pi-acp's",
        "agent_turns",
        _to("pi-acp", "agent_turns", "chunk_ms"),
        "≤",
        0.91,
        "×",
    ),
    Target(
        "radian: answer, turns 2 to 20, to the best coding agent's",
        "agent_turns",
        _to_the_best("agent_turns", "answer_ms"),
        "≤",
        0.96,
        "×",
    ),
    Target(
        "radian: turns 191 to 200, to turns 2 to 11",
        "agent_load",
        _within("agent_load", "last_turns_ms", "early_turns_ms"),
        "≤",
        1.25,
        "×",
    ),
    Target(
        "radian: session/load of 200 turns after initialize, to the best coding agent's",
        "agent_load",
        _to_the_best("agent_load", "load_ms"),
        "≤",
        0.89,
        "×",
    ),
    Target(
        "radian: turn with a file read, beside the model's time",
        "agent_tools",
        one("agent_tools", RADIAN, "read_own_ms"),
        "≤",
        15,
        "ms",
    ),
    Target(
        "radian: turn with a program run, beside the model's and its own",
        "agent_tools",
        one("agent_tools", RADIAN, "shell_own_ms"),
        "≤",
        15,
        "ms",
    ),
    Target(
        "radian exec: whole process, to codex exec",
        "headless",
        _to(CODEX_EXEC, "headless", "wall_ms"),
        "≤",
        1,
        "×",
    ),
    Target(
        "radian exec: peak memory",
        "headless",
        one("headless", RADIAN, "peak_rss_mib"),
        "≤",
        60,
        "MiB",
    ),
    Target(
        "radian exec: CPU of 10,000 chunks, to a loop without actors",
        "headless_stream",
        ratio("headless_stream", "cpu_ms", RADIAN, LOOP),
        "≤",
        1.5,
        "×",
    ),
    Target(
        "radian: rate of 10,000 chunks, to the Python SDK's agent",
        "agent_stream",
        ratio("agent_stream", "chunks_per_s", RADIAN, PYTHON),
        "≥",
        1,
        "×",
    ),
    Target(
        "radian: CPU of 10,000 chunks, to the same",
        "agent_stream",
        ratio("agent_stream", "cpu_ms", RADIAN, PYTHON),
        "≤",
        1,
        "×",
    ),
    Target(
        "radian: cancel of a hanging stream",
        "agent_cancel",
        one("agent_cancel", RADIAN, "stream_ms"),
        "≤",
        50,
        "ms",
    ),
    Target(
        "radian: cancel of a hanging stream, to codex-acp's",
        "agent_cancel",
        _to("codex-acp", "agent_cancel", "stream_ms"),
        "≤",
        0.79,
        "×",
    ),
    Target(
        "radian: cancel of a running shell, to pi-acp's",
        "agent_cancel",
        _to("pi-acp", "agent_cancel", "shell_ms"),
        "≤",
        0.68,
        "×",
    ),
    Target(
        "radian: the shell and its group gone",
        "agent_cancel",
        one("agent_cancel", RADIAN, "gone_ms"),
        "≤",
        20,
        "ms",
    ),
    Target(
        "radian: slow reader, growth in 3 s",
        "agent_slow_reader",
        one("agent_slow_reader", RADIAN, "growth_mib"),
        "≤",
        1,
        "MiB",
    ),
    Target(
        "radian: slow reader, the model drained meanwhile",
        "agent_slow_reader",
        one("agent_slow_reader", RADIAN, "drained"),
        "=",
        0,
        "",
    ),
    Target(
        "radian: slow reader, lost or out of order",
        "agent_slow_reader",
        one("agent_slow_reader", RADIAN, "wrong"),
        "=",
        0,
        "chunks",
    ),
    Target(
        "radian: 60 MiB prompt, to the SDK's agent with a model",
        "agent_large_line",
        ratio("agent_large_line", "ms", RADIAN, SDK_MODEL),
        "≤",
        1.5,
        "×",
    ),
    Target(
        "radian: 60 MiB prompt, growth",
        "agent_large_line",
        one("agent_large_line", RADIAN, "growth_lines"),
        "≤",
        4.5,
        "lines",
    ),
    Target(
        "radian: 65 MiB line, code",
        "agent_over_long",
        one("agent_over_long", RADIAN, "code"),
        "=",
        -32700,
        "",
    ),
    Target(
        "radian: 65 MiB line, growth at the peak",
        "agent_over_long",
        one("agent_over_long", RADIAN, "growth_lines"),
        "≤",
        0.1,
        "lines",
    ),
    Target(
        "radian: journal of 100 MB read",
        "journal",
        one("journal", RADIAN, "load_ms"),
        "≤",
        1500,
        "ms",
    ),
    Target(
        "radian exec --search over it",
        "journal",
        one("journal", RADIAN, "search_ms"),
        "≤",
        1000,
        "ms",
    ),
)
"""Taken from the issues that asked for the agent; ratios are of agents measured in the same run."""
