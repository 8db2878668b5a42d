"""The official Python SDK against an agent that breaks on purpose.

Needs the package ``agent-client-protocol``.  Run: ``pytest examples/faults``.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

acp = pytest.importorskip("acp")

HERE = Path(__file__).parent


class Shown(acp.Client):
    """What a client keeps of a turn."""

    def __init__(self):
        self.updates = []

    async def session_update(self, session_id, update, **_):
        self.updates.append(update)


async def prompt(argv, patience_s=30.0):
    shown = Shown()
    spawned = acp.spawn_agent_process(shown, *argv)
    async with AsyncExitStack() as afterwards, spawned as (agent, process):
        # The SDK waits for its agent, but not for the ends of its pipes.  A pipe that outlives
        # its event loop complains when it is collected, in the middle of whatever runs by then.
        afterwards.push_async_callback(process.stdout.read)
        afterwards.push_async_callback(process.stderr.read)
        await agent.initialize(protocol_version=acp.PROTOCOL_VERSION)
        new = await agent.new_session(cwd=str(HERE / "project"), mcp_servers=[])
        words = [acp.text_block("run hello --no-ledger")]
        turn = agent.prompt(prompt=words, session_id=new.session_id)
        answer = await asyncio.wait_for(turn, patience_s)
        return answer.stop_reason, shown.updates


def test_a_slow_agent_is_waited_for(broken_agent):
    stop_reason, updates = asyncio.run(prompt(broken_agent(HERE / "slow-stream.toml").argv))

    assert stop_reason == "end_turn"
    assert len(updates) > 5


def test_an_answer_that_never_comes_needs_a_time_limit_of_ours(broken_agent):
    with pytest.raises(TimeoutError):
        asyncio.run(prompt(broken_agent(HERE / "no-answer.toml").argv, patience_s=2.0))


def test_a_dead_agent_is_an_error(broken_agent):
    with pytest.raises(ConnectionError):
        asyncio.run(prompt(broken_agent(HERE / "dies-in-turn.toml").argv))
