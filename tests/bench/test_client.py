"""The bench's client against agents that need nothing installed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from bench.client import AgentError, Client
from bench.peers import AGENTS, Agent, clean_environment
from bench.procfs import cpu_s, descendants, footprint

if TYPE_CHECKING:
    from pathlib import Path

CEILING = Agent("ceiling", (sys.executable, str(AGENTS / "ceiling.py")), clean_environment())
BARE = Agent("bare", (sys.executable, str(AGENTS / "bare.py")), clean_environment())


def test_updates_are_counted_and_answers_have_a_time(tmp_path: Path) -> None:
    with Client(CEILING, tmp_path) as client:
        first = client.initialize()
        session, opened_at = client.new_session()
        answer = client.answer(client.prompt(session, "stream 1000 200"))

        assert client.started < first.at <= opened_at <= answer.at
        assert (client.updates, answer.result) == (1000, {"stopReason": "end_turn"})


def test_a_line_larger_than_any_pipe_is_sent_whole(tmp_path: Path) -> None:
    with Client(CEILING, tmp_path) as client:
        answer = client.answer(client.prompt("s", "x" * 3_000_000))

        assert answer.result == {"stopReason": "end_turn"}


def test_an_agent_that_ends_is_named_with_its_last_words(tmp_path: Path) -> None:
    broken = Agent("broken", (sys.executable, "-c", "raise SystemExit('no config')"), {})

    with (
        Client(broken, tmp_path) as client,
        pytest.raises(AgentError, match=r"broken: .*no config"),
    ):
        client.initialize()


def test_a_footprint_counts_a_process_as_it_is(tmp_path: Path) -> None:
    with Client(BARE, tmp_path) as client:
        client.initialize()
        used = footprint(client.pid)

        assert (used.processes, used.threads, used.fds) == (1, 1, 3)
        assert 0 < used.pss <= used.rss <= used.peak_rss
        assert descendants(client.pid) == []


def test_cpu_time_is_of_the_process_asked_about(tmp_path: Path) -> None:
    with Client(CEILING, tmp_path) as client:
        client.initialize()
        before = cpu_s(client.pid)
        client.answer(client.prompt("s", "stream 20000 200"))

        assert cpu_s(client.pid) > before > 0
