"""All scenarios by name.  A seed that names no scenario plays the one it falls on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from actors.simulation.conversations import SCENARIOS as CONVERSATIONS
from actors.simulation.waking import SCENARIOS as WAKING
from runtimes.chant.simulation.operated import SCENARIOS as OPERATED
from runtimes.chant.simulation.people import SCENARIOS as PEOPLE
from runtimes.chant.simulation.requests import SCENARIOS as REQUESTS
from runtimes.chant.simulation.scenarios import SCENARIOS as RUNS
from runtimes.radian.simulation.mcp import SCENARIOS as SERVERS
from runtimes.radian.simulation.scenarios import SCENARIOS as AGENTS

if TYPE_CHECKING:
    from actors.simulation.scenario import Scenario

SCENARIOS: dict[str, Scenario] = {
    each.name: each
    for each in (*CONVERSATIONS, *WAKING, *RUNS, *PEOPLE, *REQUESTS, *OPERATED, *AGENTS, *SERVERS)
}


def scenario_for(seed: int, name: str | None) -> Scenario:
    """Return the scenario that ``seed`` plays.

    Raises:
        KeyError: There is none of that name.

    """
    return SCENARIOS[name] if name else list(SCENARIOS.values())[seed % len(SCENARIOS)]
