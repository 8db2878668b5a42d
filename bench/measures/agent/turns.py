"""What a turn costs beside the model's time: the first, the next 19, the 200th, and loading all."""

from __future__ import annotations

import json
import os
import time
from http.client import HTTPConnection
from statistics import median
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bench.client import AgentError, Client
from bench.coding_agents import scene
from bench.measures.agent.beside import beside
from bench.procfs import footprint
from bench.samples import interleaved

if TYPE_CHECKING:
    from pathlib import Path

    from bench.model import Model
    from bench.peers import Agent, Peers
    from bench.samples import Figures, Table

SHELL = "/bin/bash"
ALONE = 20
"""How often what turns wait for is timed without them."""
TURNS = 20
MANY = 200
MIB = 1 << 20


def agent_turns(peers: Peers, cwd: Path, repeats: int) -> Table:
    """Prompt as soon as the last answer is there; the model answers at once, in one chunk."""

    def measure(agent: Agent) -> Figures:
        with Client(agent, cwd) as client:
            turns = _turns(client, _open(client), TURNS)
            return {
                "first_turn_ms": turns[0][1],
                "chunk_ms": median(chunk for chunk, _ in turns[1:]),
                "answer_ms": median(answer for _, answer in turns[1:]),
                "rss_mib": footprint(client.pid).rss / MIB,
            }

    with scene(peers, cwd) as here:
        everyone = [here.radian, here.sdk_model, *here.others]
        return beside(everyone, measure, repeats, ours=here.radian)


def agent_load(peers: Peers, cwd: Path, repeats: int) -> Table:
    """Run 200 turns, then load them in other processes, all agents in turn.

    200 turns take one agent a second and another half a minute: a load right after them would
    be compared with a load in another minute of the machine.
    """
    sessions: dict[str, str] = {}

    def turn(agent: Agent) -> Figures:
        with Client(agent, cwd) as client:
            session = sessions[agent.name] = _open(client)
            answers = [answer for _, answer in _turns(client, session, MANY)]
        return {
            "early_turns_ms": median(answers[1:11]),
            "last_turns_ms": median(answers[-10:]),
        }

    def load(agent: Agent) -> Figures:
        with Client(agent, cwd) as client:
            started = client.initialize().at
            loaded = client.load_session(sessions[agent.name])
            if "result" not in loaded.message or client.updates < 2 * MANY:
                message = f"{agent.name}: {client.updates} updates, then {loaded.message}"
                raise AgentError(message)
        return {"load_ms": (loaded.at - started) * 1e3}

    with scene(peers, cwd) as here:
        everyone = [here.radian, *here.others]
        turned = beside(everyone, turn, ours=here.radian)
        able = [agent for agent in everyone if "failed" not in turned[agent.name]]
        loaded = beside(able, load, repeats, ours=here.radian)
        return {name: {**figures, **loaded.get(name, {})} for name, figures in turned.items()}


def agent_tools(peers: Peers, cwd: Path, repeats: int) -> Table:
    """Time turns with one tool call between two calls of the model, less what those take alone."""

    def measure(agent: Agent) -> Figures:
        with Client(agent, cwd) as client:
            session = _open(client)
            turns = {
                name: _warm_turn_ms(client, session, words)
                for name, words in (
                    ("plain_turn_ms", "bench:hello"),
                    ("read_turn_ms", 'bench:call read {"path": "chant.toml"}'),
                    ("shell_turn_ms", 'bench:call shell {"command": "true"}'),
                )
            }
        calls_ms = 2 * _bare_call_ms(here.model)
        program_ms = median(_program_ms() for _ in range(ALONE))
        return {
            **turns,
            "model_calls_ms": calls_ms,
            "program_ms": program_ms,
            "read_own_ms": turns["read_turn_ms"] - calls_ms,
            "shell_own_ms": turns["shell_turn_ms"] - calls_ms - program_ms,
        }

    with scene(peers, cwd) as here:
        return interleaved([here.radian], repeats, measure)


def _warm_turn_ms(client: Client, session: str, words: str) -> float:
    _turn(client, session, words)
    return median(_turn(client, session, words)[1] for _ in range(10))


def _bare_call_ms(model: Model) -> float:
    """Return what one call of the model takes whoever keeps a connection to it."""
    address = urlsplit(model.url)
    said = json.dumps({"messages": [{"role": "user", "content": "bench:hello"}]})
    connection = HTTPConnection(address.hostname or "", address.port)
    taken: list[float] = []
    for _ in range(ALONE):
        start = time.perf_counter()
        connection.request("POST", f"{address.path}/chat/completions", said)
        connection.getresponse().read()
        taken.append((time.perf_counter() - start) * 1e3)
    connection.close()
    return median(taken)


def _program_ms() -> float:
    """Return what the program takes that the shell tool runs."""
    start = time.perf_counter()
    pid = os.posix_spawn(SHELL, [SHELL, "-c", "true"], os.environ)
    os.waitpid(pid, 0)
    return (time.perf_counter() - start) * 1e3


def _open(client: Client) -> str:
    client.initialize()
    return client.new_session()[0]


def _turns(client: Client, session: str, count: int) -> list[tuple[float, float]]:
    return [_turn(client, session, "bench:hello") for _ in range(count)]


def _turn(client: Client, session: str, words: str) -> tuple[float, float]:
    """Run one turn; return the milliseconds to its first chunk and to its answer."""
    client.first_chunk = None
    start = time.perf_counter()
    answer = client.answer(client.prompt(session, words))
    if answer.result.get("stopReason") != "end_turn" or client.first_chunk is None:
        message = f"the turn ended as {answer.result}"
        raise AgentError(message)
    return (client.first_chunk - start) * 1e3, (answer.at - start) * 1e3
