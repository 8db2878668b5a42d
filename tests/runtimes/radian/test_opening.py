"""A session that can't be opened: nothing is held, and the next try finds things as they were."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from actors.faults import NoFaults
from actors.real_platform import RealPlatform
from protocol.acp.sessions import LoadSession, NewSession, StdioServer
from protocol.errors import InvalidRequest
from runtimes.radian import session
from runtimes.radian.ground import real_ground
from runtimes.radian.mcp.servers import McpServers
from runtimes.radian.options import ConversationOptions
from runtimes.radian.runtime import RadianRuntime
from runtimes.radian.session_jobs import SessionJobs
from tests.runtimes.radian.box import Box, make_box

if TYPE_CHECKING:
    from pathlib import Path

    from actors.faults import Verdict
    from runtimes.radian.ground import AgentGround

SERVER = StdioServer("s", "/bin/cat", (), ())


class FullFrom(NoFaults):
    """The disk is full from the write ``number`` of a journal on, as long as it is ``on``."""

    def __init__(self, number: int) -> None:
        self.left = number
        self.on = True

    def at(self, name: str, who: str = "") -> Verdict:
        if name == "journal.write" and self.on:
            self.left -= 1
            if self.left <= 0:
                raise OSError(28, os.strerror(28))
        return super().at(name, who)


class CountedSteps:
    """Steps of jobs that know whether they were closed."""

    def __init__(self) -> None:
        self.closed = 0

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def box(tmp_path: Path) -> Box:
    box = make_box(tmp_path)
    box.play({"text": "Hello."})
    return box


@pytest.fixture
def closed_servers(monkeypatch: pytest.MonkeyPatch) -> list[McpServers]:
    """Which sets of servers were closed."""
    closed: list[McpServers] = []
    really = McpServers.close

    def close(servers: McpServers) -> None:
        closed.append(servers)
        really(servers)

    monkeypatch.setattr(McpServers, "close", close)
    return closed


def runtime_on(box: Box, ground: AgentGround | None, **flags: Any) -> RadianRuntime:
    options = ConversationOptions(**flags)
    return RadianRuntime(RealPlatform(), box.environ, lambda: options, ground)


def descriptors() -> set[str]:
    """Return what this process has open below the home of a test."""
    found: set[str] = set()
    for each in os.listdir("/proc/self/fd"):
        try:
            found.add(os.readlink(f"/proc/self/fd/{each}"))
        except FileNotFoundError:  # the listing's own
            continue
    return {each for each in found if "/sessions/" in each}


@pytest.mark.parametrize("write", [1, 2])
def test_a_full_disk_leaves_nothing_of_a_new_session(box: Box, write: int) -> None:
    faults = FullFrom(write)
    runtime = runtime_on(box, real_ground(faults=faults), session_id="s1")
    request = NewSession(str(box.workspace))

    with pytest.raises(InvalidRequest, match="No space left"):
        runtime.open_session(request)
    held = descriptors()
    faults.on = False
    opened = runtime.open_session(request)
    runtime.close()

    assert held == set()
    assert opened.session_id == "s1"
    assert [each["type"] for each in box.journal("s1")] == ["SessionCreated", "RunStarted"]


def test_a_session_that_could_not_be_gone_on_with_is_as_it_was_and_can_be_loaded(box: Box) -> None:
    box.run("exec", "-p", "go", "--session-id", "s1")
    before = box.journal("s1")
    faults = FullFrom(1)
    runtime = runtime_on(box, real_ground(faults=faults))
    request = LoadSession("s1", str(box.workspace))

    with pytest.raises(InvalidRequest, match="No space left"):
        runtime.open_session(request)
    after = box.journal("s1")
    faults.on = False
    runtime.open_session(request)
    runtime.close()

    assert after == before
    assert box.journal("s1")[-1]["type"] == "RunStarted"


@pytest.mark.parametrize(
    "place", ["SideFiles", "ToolContext", "make_servers", "ModelDesk", "hook_desk", "AgentSession"]
)
def test_wherever_it_fails_all_that_was_opened_is_let_go_of(
    box: Box,
    monkeypatch: pytest.MonkeyPatch,
    closed_servers: list[McpServers],
    place: str,
) -> None:
    steps = CountedSteps()
    counted: Any = steps
    ground = replace(real_ground(), make_steps=lambda: counted)
    runtime = runtime_on(box, ground, session_id="s1")
    request = NewSession(str(box.workspace), (SERVER,))

    def fail(*_args: object, **_more: object) -> None:
        raise MemoryError(place)

    with monkeypatch.context() as patch:
        if place == "SideFiles":
            patch.setattr("runtimes.radian.sessions.Sessions.side_files", fail)
        else:
            patch.setattr(session, place, fail)
        with pytest.raises(MemoryError, match=place):
            runtime.open_session(request)

    assert descriptors() == set()
    assert steps.closed == (place != "SideFiles")
    assert len(closed_servers) == (place in {"ModelDesk", "hook_desk", "AgentSession"})
    assert runtime.open_session(NewSession(str(box.workspace))).session_id == "s1"
    runtime.close()


def test_servers_that_were_started_are_ended_where_the_start_of_another_fails(
    box: Box, monkeypatch: pytest.MonkeyPatch, closed_servers: list[McpServers]
) -> None:
    runtime = runtime_on(box, real_ground(), session_id="s1")
    really = McpServers.start

    def start(servers: McpServers) -> None:
        really(servers)
        message = "can't start new thread"
        raise RuntimeError(message)

    monkeypatch.setattr(McpServers, "start", start)

    with pytest.raises(RuntimeError, match="can't start new thread"):
        runtime.open_session(NewSession(str(box.workspace), (SERVER,)))

    assert len(closed_servers) == 1
    assert descriptors() == set()


def test_a_session_that_could_not_be_replayed_is_closed(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    box.run("exec", "-p", "go", "--session-id", "s1")
    runtime = runtime_on(box, real_ground())
    request = LoadSession("s1", str(box.workspace))
    closed: list[SessionJobs] = []
    really = SessionJobs.close

    def close(jobs: SessionJobs) -> Any:
        closed.append(jobs)
        return really(jobs)

    def fail(*_args: object) -> None:
        raise MemoryError

    monkeypatch.setattr(SessionJobs, "close", close)
    with monkeypatch.context() as patch:
        patch.setattr("runtimes.radian.replay.replay", fail)
        with pytest.raises(MemoryError):
            runtime.open_session(request)

    assert (descriptors(), len(closed)) == (set(), 1)
    assert runtime.open_session(request).session_id == "s1"
    runtime.close()
