"""One prompt line of 60 MiB, and one of 65 MiB, to an agent that has a model."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from bench.client import Client
from bench.coding_agents import scene
from bench.measures.big_lines import LARGE, NUMBER, SETTLE_S, over_long, prompt_line
from bench.procfs import footprint
from bench.samples import interleaved

if TYPE_CHECKING:
    from pathlib import Path

    from bench.peers import Agent, Peers
    from bench.samples import Figures, Table


def agent_large_line(peers: Peers, cwd: Path, repeats: int) -> Table:
    """Time it from its first byte to the answer, which the model has given to all of it."""

    def measure(agent: Agent) -> Figures:
        with Client(agent, cwd) as client:
            client.initialize()
            session, _ = client.new_session()
            client.answer(client.prompt(session, "bench:hello"))
            time.sleep(SETTLE_S)  # noqa: TID251 - a measurement waits until all is quiet
            before = footprint(client.pid).rss
            start = time.perf_counter()
            client.queue_raw(prompt_line(session, LARGE))
            answer = client.answer(NUMBER)
            assert answer.result["stopReason"] == "end_turn"
            growth = (footprint(client.pid).peak_rss - before) / LARGE
            return {"ms": (answer.at - start) * 1e3, "growth_lines": growth}

    with scene(peers, cwd) as here:
        return interleaved([here.sdk_model, here.radian], repeats, measure)


def agent_over_long(peers: Peers, cwd: Path) -> Table:
    """Send radian a line that is over the limit; the next request is answered."""
    with scene(peers, cwd) as here:
        return over_long(here.radian, cwd)
