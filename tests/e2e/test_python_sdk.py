"""The official Python SDK as the client: what editors built on it will see."""

from __future__ import annotations

import asyncio
import os
import warnings
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.agents import CHANT, run_op

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Coroutine
    from pathlib import Path

    from tests.e2e.agents import AgentKind

acp = pytest.importorskip("acp", reason="NOT TESTED: agent-client-protocol is absent")

# What radian shows to clients on this SDK and others is in test_radian_clients.
pytestmark = pytest.mark.needs("many_sessions")

DEADLINE_S = 30.0


class Recorder:
    """Keeps updates as the SDK's models, and wakes who waits for some text."""

    def __init__(self) -> None:
        self.updates: list[Any] = []
        self._changed = asyncio.Condition()

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        del session_id
        async with self._changed:
            self.updates.append(update)
            self._changed.notify_all()

    async def request_permission(self, **_: Any) -> Any:
        message = "nobody is asked anything here"
        raise AssertionError(message)

    def on_connect(self, conn: Any) -> None:
        del conn

    @property
    def text(self) -> str:
        chunks = [each for each in self.updates if each.session_update == "agent_message_chunk"]
        return "".join(chunk.content.text for chunk in chunks)

    async def until(self, text: str) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: text in self.text)


@asynccontextmanager
async def connected(kind: AgentKind) -> AsyncGenerator[tuple[Any, Recorder, Any]]:
    recorder = Recorder()
    command, *arguments = kind.command
    spawned = acp.spawn_agent_process(recorder, command, *arguments, env=dict(os.environ))
    async with AsyncExitStack() as afterwards:
        async with spawned as (connection, process):
            # A pipe that outlives its event loop complains when it is collected: in another test.
            afterwards.push_async_callback(process.stdout.read)
            afterwards.push_async_callback(process.stderr.read)
            hello = await connection.initialize(protocol_version=acp.PROTOCOL_VERSION)
            assert hello.protocol_version == 1
            assert hello.agent_info.name == kind.name
            yield connection, recorder, process
        assert process.returncode == 0


def run(steps: Coroutine[Any, Any, None]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the SDK's own, about its own
        asyncio.run(asyncio.wait_for(steps, DEADLINE_S))


def test_initialize_new_prompt(kind: AgentKind, folder: Path) -> None:
    async def steps() -> None:
        async with connected(kind) as (connection, recorder, _):
            session = await connection.new_session(cwd=str(folder))
            words = acp.text_block(kind.shell("echo from the step; pwd"))
            answer = await connection.prompt(session_id=session.session_id, prompt=[words])
            assert answer.stop_reason == "end_turn"
            await recorder.until("from the step")
            await recorder.until(str(folder))

    run(steps())


def test_cancel_and_go_on(kind: AgentKind, folder: Path) -> None:
    async def steps() -> None:
        async with connected(kind) as (connection, recorder, _):
            session = await connection.new_session(cwd=str(folder))
            words = acp.text_block(kind.shell("echo ready; sleep 600"))
            turn = asyncio.create_task(
                connection.prompt(session_id=session.session_id, prompt=[words])
            )
            await recorder.until("ready")
            await connection.cancel(session_id=session.session_id)
            assert (await turn).stop_reason == "cancelled"
            words = acp.text_block(kind.quick)
            answer = await connection.prompt(session_id=session.session_id, prompt=[words])
            assert answer.stop_reason == "end_turn"

    run(steps())


def test_resume_in_a_new_process(kind: AgentKind, folder: Path) -> None:
    async def steps() -> None:
        async with connected(kind) as (connection, _, _):
            session = await connection.new_session(cwd=str(folder))
        async with connected(kind) as (connection, recorder, _):
            await connection.resume_session(session_id=session.session_id, cwd=str(folder))
            words = acp.text_block(kind.shell("echo again"))
            answer = await connection.prompt(session_id=session.session_id, prompt=[words])
            assert answer.stop_reason == "end_turn"
            await recorder.until("again")

    run(steps())


def test_the_plan_comes_up_front_and_a_failed_run_rolls_back(tmp_path: Path) -> None:
    CHANT.prepare(tmp_path)

    async def steps() -> None:
        async with connected(CHANT) as (connection, recorder, _):
            session = await connection.new_session(cwd=str(tmp_path))
            words = acp.text_block(run_op("undo", "echo boom; exit 3"))
            answer = await connection.prompt(session_id=session.session_id, prompt=[words])
            assert answer.stop_reason == "end_turn"
            await recorder.until('"status":"fail"')
            calls = [each for each in recorder.updates if each.session_update == "tool_call"]
            assert [call.title for call in calls] == [
                "Work / shell",
                "Work / shell",
                "Undo / shell",
            ]
            assert [call.status for call in calls[:2]] == ["pending", "pending"]

    run(steps())
    assert (tmp_path / "undone").exists()


def test_an_error_arrives_as_the_sdks_error(kind: AgentKind) -> None:
    async def steps() -> None:
        async with connected(kind) as (connection, _, _):
            with pytest.raises(acp.RequestError) as refused:
                await connection.new_session(cwd="relative")
            assert refused.value.code == -32602
            with pytest.raises(acp.RequestError) as unknown:
                await connection.prompt(session_id="no-such", prompt=[acp.text_block("x")])
            assert unknown.value.code == -32002

    run(steps())
