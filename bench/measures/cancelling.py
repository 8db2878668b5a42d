"""From writing `session/cancel` to the answer ``cancelled``, alone and behind a backlog."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.client import AgentError, Client
from bench.samples import interleaved

if TYPE_CHECKING:
    from pathlib import Path

    from bench.peers import Agent, Peers
    from bench.samples import Figures, Table

BACKLOG = 10_000


def cancelling(peers: Peers, cwd: Path, repeats: int) -> Table:
    """Cancel a turn that waits: chant's runs a process, the others hang by themselves."""

    def measure(agent: Agent) -> Figures:
        with Client(agent, cwd) as client:
            client.initialize()
            session, _ = client.new_session()
            words = "run slow" if agent is peers.chant else "hang"
            _cancel_ms(client, session, words, backlog=0)
            return {
                "idle_ms": _cancel_ms(client, session, words, backlog=0),
                "behind_10000_ms": _cancel_ms(client, session, words, backlog=BACKLOG),
            }

    return interleaved([peers.chant, peers.stream, *peers.sdk_agents()], repeats, measure)


def _cancel_ms(client: Client, session: str, words: str, backlog: int) -> float:
    """Start a turn, queue ``backlog`` messages in front of the cancel, and time its answer.

    The clock starts when the whole backlog was taken and the cancel is about to be written: what
    is measured is the agent's queue, not the pipe.
    """
    prompt = client.prompt(session, words)
    client.flush()
    _let_it_start(client, words)
    # Notifications under an extension's name: every agent must take them and may ignore them.
    note = {"jsonrpc": "2.0", "method": "_bench/note", "params": {"sessionId": session}}
    client.queue([note] * backlog)
    start = client.flush()
    client.notify("session/cancel", {"sessionId": session})
    answer = client.answer(prompt)
    if answer.result.get("stopReason") != "cancelled":
        message = f"the cancelled prompt ended as {answer.result}"
        raise AgentError(message)
    return (answer.at - start) * 1e3


def _let_it_start(client: Client, words: str) -> None:
    """Wait until the turn is under way: chant's step has printed, another agent answers a request.

    Every agent answers requests while a turn runs, and answers come no earlier than the prompt,
    which was read before, has started.
    """
    if words == "run slow":
        client.wait_for_text("waiting")
    else:
        client.new_session()
