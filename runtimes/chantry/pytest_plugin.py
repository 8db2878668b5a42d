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
    from actors.simulation.schedule import Schedule
    from actors.simulation.world import World
    from runtimes.chantry.broken_agent import BrokenAgent

SEEDS = 100
"""What `seeded_world` plays where a test does not say more."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the way to play one seed again."""
    group = parser.getgroup("chantry", "faults on purpose")
    group.addoption(
        "--chantry-seed",
        type=int,
        metavar="N",
        help="play this one seed in the tests that use the fixture seeded_world",
    )


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


@pytest.fixture
def seeded_world(request: pytest.FixtureRequest) -> Callable[..., list[Schedule]]:
    """Play a scene in simulated worlds: a server of one's own, a client, a clock that jumps.

    ``seeded_world(scene, seeds=100, plan=None)``: ``scene`` gets a `World` for each seed; ``plan``
    is a `FaultPlan`, without one each seed draws faults or none.  Fails with the seed, what fired
    and the trace when a rule was broken; ``--chantry-seed N`` plays that seed alone.
    """
    one: int | None = request.config.getoption("--chantry-seed")
    test = request.node.nodeid

    def play(
        scene: Callable[[World], None], seeds: int = SEEDS, plan: FaultPlan | None = None
    ) -> list[Schedule]:
        from runtimes.chantry.seeded import play_seeds

        chosen = range(seeds) if one is None else (one,)
        return play_seeds(scene, chosen, plan, f"pytest '{test}' --chantry-seed {{seed}}")

    return play
