"""Agents as fixtures: one process for many quick rows, a fresh one where a test ends it."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from tests.e2e.agents import AGENTS, CHANT
from tests.e2e.talk import Talk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.e2e.agents import AgentKind


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the agents that a row is not for: ``needs`` names what else they must have."""
    left_out = [item for item in items if not _is_for(item)]
    items[:] = [item for item in items if _is_for(item)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)


def _is_for(item: pytest.Item) -> bool:
    call = getattr(item, "callspec", None)
    kind = None if call is None else call.params.get("kind")
    wanted = [name for mark in item.iter_markers("needs") for name in mark.args]
    return kind is None or all(getattr(kind, name) for name in wanted)


@pytest.fixture(scope="module", params=AGENTS, ids=lambda kind: kind.name)
def kind(request: pytest.FixtureRequest) -> AgentKind:
    """Each agent in turn."""
    chosen: AgentKind = request.param
    return chosen


@pytest.fixture
def folder(tmp_path: Path, kind: AgentKind) -> Path:
    """A folder that the agent can work in."""
    kind.prepare(tmp_path)
    return tmp_path


@pytest.fixture
def talk(kind: AgentKind, folder: Path) -> Iterator[Talk]:
    """A fresh agent, silent so far."""
    with Talk(kind, folder) as fresh:
        yield fresh


@pytest.fixture
def opener(kind: AgentKind, pool: Pool, tmp_path: Path) -> Iterator[Talk]:
    """An initialized agent that may open a session: a fresh one where a process holds only one."""
    if kind.many_sessions:
        talk = pool.take()
        yield talk
        pool.give_back(talk)
        return
    kind.prepare(tmp_path)
    with Talk(kind, tmp_path) as fresh:
        fresh.initialize()
        yield fresh


@pytest.fixture
def chant(tmp_path: Path) -> Iterator[Talk]:
    """A fresh ``chant acp``, for what only it can do."""
    CHANT.prepare(tmp_path)
    with Talk(CHANT, tmp_path, command=CHANT.with_grace()) as fresh:
        yield fresh


@pytest.fixture
def naming(kind: AgentKind, folder: Path) -> Iterator[Talk]:
    """A fresh agent that can take up the session that it calls ``named``; see `open_mine`."""
    name = f"mine-{uuid4().hex}"
    if kind.reopen == "session/load":  # then there must be one
        with Talk(kind, folder, command=(*kind.command, "--session-id", name)) as first:
            first.open()
    with Talk(kind, folder) as fresh:
        fresh.named = name
        yield fresh


class Pool:
    """Keeps one initialized agent for a module; a test that fails gets it replaced."""

    def __init__(self, kind: AgentKind, folder: Path) -> None:
        self._kind = kind
        self._folder = folder
        self._talk: Talk | None = None

    def take(self) -> Talk:
        talk = self._talk
        if talk is None or talk.process.poll() is not None:
            talk = Talk(self._kind, self._folder)
            self._talk = talk
            talk.initialize()
            talk.new_session()
        self._talk = None
        return talk

    def give_back(self, talk: Talk) -> None:
        self._talk = talk

    def close(self) -> None:
        if self._talk is not None:
            self._talk.__exit__(None, None, None)


@pytest.fixture(scope="module")
def pool(kind: AgentKind, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pool]:
    """The agents that rows of this module share."""
    folder = tmp_path_factory.mktemp(kind.name)
    kind.prepare(folder)
    shared = Pool(kind, folder)
    yield shared
    shared.close()


@pytest.fixture
def shared(pool: Pool) -> Iterator[Talk]:
    """An initialized agent with a session, used by one row after the other."""
    talk = pool.take()
    try:
        yield talk
        talk.exchange(b"")
    except BaseException:
        talk.process.kill()
        talk.__exit__(None, None, None)
        raise
    pool.give_back(talk)
