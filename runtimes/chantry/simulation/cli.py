"""The command line of ``chantry simulate``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from actors.simulation.backend import BackendName
    from actors.simulation.policies import PolicyName


class Whole(click.IntRange):
    """A whole number, called so to whoever types something else."""

    name = "whole number"


@click.command(short_help="Play our servers in simulated worlds, and check what must hold.")
@click.option(
    "--seeds",
    metavar="N",
    default=1000,
    show_default=True,
    type=Whole(min=1),
    help="How many to play.",
)
@click.option("--first", metavar="SEED", default=0, type=Whole(min=0), help="The first of them.")
@click.option(
    "--seed",
    metavar="SEED",
    type=Whole(min=0),
    help="Play this one alone: print its trace and its hash.",
)
@click.option("--scenario", metavar="NAME", help="Play this one; without it seeds take turns.")
@click.option(
    "--faults",
    metavar="PLAN",
    type=click.Path(exists=True, dir_okay=False),
    help="Inject the faults of a plan (TOML) instead of drawing some for each seed.",
)
@click.option(
    "--policy",
    type=click.Choice(["random", "pct"]),
    help="How to schedule; without it each seed has its own.",
)
@click.option(
    "--jobs", metavar="N", type=Whole(min=1), help="Processes; as many as cores if absent."
)
@click.option(
    "--backend",
    type=click.Choice(["threads", "greenlet"]),
    default="threads",
    show_default=True,
    help="greenlet is faster and needs the extra `simulation-greenlet`; traces are the same.",
)
@click.option("--fail-fast", is_flag=True, help="Play nothing more once a rule was broken.")
@click.option("--json", is_flag=True, help="Print JSON.")
@click.option("--list", "list_them", is_flag=True, help="List the scenarios and end.")
def simulate(
    *,
    seeds: int,
    first: int,
    seed: int | None,
    scenario: str | None,
    faults: str | None,
    policy: PolicyName | None,
    jobs: int | None,
    backend: BackendName,
    fail_fast: bool,
    json: bool,
    list_them: bool,
) -> None:
    """Run servers, clients and steps in simulated worlds and check what must always hold.

    Each seed is one schedule of one scenario, with faults drawn from it.  Exits with 1 when a rule
    was broken; every finding comes with the one command that replays it.
    """
    from runtimes.chantry.simulation import simulate as below

    if list_them:
        from runtimes.folding import folded_for

        listed = below.list_scenarios(as_json=json)
        click.echo(listed if json else folded_for(sys.stdout, listed))
        return
    options = below.SimulateOptions(
        seeds=seeds,
        first=first,
        seed=seed,
        scenario=scenario,
        faults=faults,
        policy=policy,
        jobs=jobs,
        backend=backend,
        fail_fast=fail_fast,
        json=json,
    )
    sys.exit(below.simulate(options))
