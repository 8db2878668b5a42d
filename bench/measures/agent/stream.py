"""10,000 chunks from the model to the client, and 40,000 past one that does not read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from bench.client import AgentError, Client
from bench.coding_agents import scene
from bench.measures.agent.beside import beside
from bench.measures.slow_reader import pause
from bench.procfs import tree_cpu_s
from bench.samples import interleaved

if TYPE_CHECKING:
    from pathlib import Path

    from bench.peers import Agent, Peers
    from bench.samples import Figures, Table

COUNT, SIZE = 10_000, 20
SLOW_COUNT, SLOW_SIZE = 40_000, 200
"""Larger ones: what the kernel holds between two processes must not be all of it."""


def agent_stream(peers: Peers, cwd: Path, repeats: int) -> Table:
    """Stream in the second of two turns; every character is compared."""

    def measure(agent: Agent) -> Figures:
        prefix = "" if agent is peers.python else "bench:"
        with Client(agent, cwd) as client:
            client.initialize()
            session, _ = client.new_session()
            client.answer(client.prompt(session, f"{prefix}stream 100 {SIZE}"))
            client.keep, client.updates = [], 0
            prompt = client.prompt(session, f"{prefix}stream {COUNT} {SIZE}")
            used, start = tree_cpu_s(client.pid), client.flush()
            answer = client.answer(prompt)
            used = tree_cpu_s(client.pid) - used
            # Some say a word of their own before the model's.
            if not said(client.keep).endswith(expected(COUNT, SIZE)):
                message = f"{agent.name}: the text is not what the model said"
                raise AgentError(message)
            return {
                "chunks_per_s": COUNT / (answer.at - start),
                "cpu_ms": used * 1e3,
                "updates": client.updates,
            }

    with scene(peers, cwd) as here:
        ours = [peers.python, here.radian, here.sdk_model]
        return {**interleaved(ours, repeats, measure), **beside(here.others, measure)}


def agent_slow_reader(peers: Peers, cwd: Path) -> Table:
    """Read nothing for a while in the middle of a long answer."""
    with scene(peers, cwd) as here, Client(here.radian, cwd) as client:
        client.initialize()
        session, _ = client.new_session()
        client.answer(client.prompt(session, "bench:hello"))
        client.keep, client.updates = [], 0
        sent = here.model.figure("sent")
        prompt = client.prompt(session, f"bench:stream {SLOW_COUNT} {SLOW_SIZE}")
        client.wait_for_updates(10)
        figures = pause(client)
        in_pause = here.model.figure("sent") - sent
        client.answer(prompt)
        in_all = here.model.figure("sent") - sent
        got = said(client.keep)
        wanted = expected(SLOW_COUNT, SLOW_SIZE)
        wrong = sum(a != b for a, b in zip(_cut(got), _cut(wanted), strict=False))
        return {
            here.radian.name: {
                **figures,
                "drained": int(in_pause >= in_all),
                "wrong": wrong + abs(len(got) - len(wanted)),
            }
        }


def said(lines: list[bytes]) -> str:
    """Return the text of all pieces of answers in what a client kept."""
    pieces = (line for line in b"\n".join(lines).split(b"\n") if b'"agent_message_chunk"' in line)
    return "".join(json.loads(line)["params"]["update"]["content"]["text"] for line in pieces)


def expected(count: int, size: int) -> str:
    """Return what the model says."""
    return "".join(f"{number:08d} ".ljust(size, "x") for number in range(count))


def _cut(text: str) -> list[str]:
    return [text[at : at + SLOW_SIZE] for at in range(0, len(text), SLOW_SIZE)]
