"""pytest fixtures for people who test their ACP clients, runtimes and activities with faults.

Loaded by every pytest run of an environment that has us, so nothing of ours is imported here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Sequence

    from actors.fault_plan import FaultPlan
    from runtimes.chantry.broken_agent import BrokenAgent


@pytest.fixture
def broken_agent(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Callable[..., BrokenAgent]]:
    """Make real agents that break as a fault plan says; they end with the test.

    ``broken_agent(plan, command=None)``: ``plan`` is a path or a `FaultPlan`, None for an agent
    that works; ``command`` starts a server that knows ``--faults`` (``chant acp`` when absent).
    """
    made: list[BrokenAgent] = []

    def make(
        plan: FaultPlan | str | os.PathLike[str] | None = None,
        command: Sequence[str] | None = None,
    ) -> BrokenAgent:
        from actors.fault_plan import FaultPlan
        from runtimes.chantry.broken_agent import BrokenAgent

        wanted = plan if plan is None or isinstance(plan, FaultPlan) else str(plan)
        agent = BrokenAgent(wanted, str(tmp_path_factory.mktemp("agent")), command)
        made.append(agent)
        return agent

    yield make
    for agent in made:
        agent.close()
