"""The command line of ``chantry``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from actors.closed_streams import (
    print_leavable,
    print_utf8,
    print_watched,
    stand_in_for_closed_streams,
)
from runtimes.chantry import outcome
from runtimes.chantry.simulation.cli import simulate

if TYPE_CHECKING:
    from runtimes.chantry.permission import Policy

_EXIT_CODES = "\b\nExit codes:\n" + "\n".join(
    f"  {code:<4} {meaning}" for code, meaning in outcome.EXIT_CODES
)


_HELP = frozenset({"-h", "--help"})


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="chantry", message="chantry %(version)s")
def chantry() -> None:
    """Tools for trying agents that speak the Agent Client Protocol."""


@chantry.command(epilog=_EXIT_CODES, context_settings={"allow_interspersed_args": False})
@click.option(
    "--prompt",
    "prompts",
    multiple=True,
    metavar="TEXT",
    help="Send this; may be given several times.  Without it, prompts are read from stdin.",
)
@click.option(
    "--cwd",
    default=".",
    show_default=True,
    type=click.Path(exists=True, file_okay=False, resolve_path=True),
    help="Folder of the session.",
)
@click.option("--yes", "policy", flag_value="allow", help="Allow whatever the agent asks.")
@click.option("--no", "policy", flag_value="reject", help="Reject whatever the agent asks.")
@click.option(
    "--ask",
    "policy",
    flag_value="ask",
    default="ask",
    help="Ask on the terminal (the default); where there is none, reject.",
)
@click.option("--json", is_flag=True, help="Print the wire, both ways, as JSON lines.")
@click.option("--stderr", is_flag=True, help="Show what the agent writes to stderr.")
@click.argument("command", nargs=-1, required=True, metavar="-- COMMAND...")
def drive(
    *,
    prompts: tuple[str, ...],
    cwd: str,
    policy: Policy,
    json: bool,
    stderr: bool,
    command: tuple[str, ...],
) -> None:
    """Talk to the agent that COMMAND starts.

    Opens one session, sends the prompts in turn and shows what comes back, with the plan filling
    in.  Ctrl-C cancels the running turn; the second one ends the agent.
    """
    from runtimes.chantry.drive import DriveOptions
    from runtimes.chantry.drive import drive as hold_conversation

    options = DriveOptions(
        command=command, prompts=prompts, cwd=cwd, policy=policy, json=json, stderr=stderr
    )
    sys.exit(hold_conversation(options))


@chantry.group(short_help="Fault plans: list what can go wrong on purpose, check a plan.")
def faults() -> None:
    """Fault plans: what can go wrong on purpose, and whether a plan can work."""


@faults.command("list", short_help="Print every point and which faults it supports.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def list_points(*, as_json: bool) -> None:
    """Print every point, what is about to happen there, and which faults it supports."""
    from runtimes.chantry.fault_table import point_lines, points_document
    from runtimes.folding import folded_for

    table = "\n".join(point_lines())
    click.echo(points_document() if as_json else folded_for(sys.stdout, table))


@faults.command(short_help="Say what each PLAN does, or what is wrong with it.")
@click.argument("plans", nargs=-1, required=True, metavar="PLAN...")
def check(plans: tuple[str, ...]) -> None:
    """Say of each PLAN what it does, or what is wrong with it; exit with 2 if any is."""
    from runtimes.chantry.fault_table import check_lines

    results = list(check_lines(plans))
    for usable, text in results:
        click.echo(text, err=not usable)
    sys.exit(0 if all(usable for usable, _ in results) else 2)


chantry.add_command(simulate)


def main() -> None:
    """Run the command line; it exits with the command's code."""
    stand_in_for_closed_streams()
    print_utf8()
    drives = sys.argv[1:2] == ["drive"] and not _HELP.intersection(sys.argv)
    printing = print_watched if drives else print_leavable
    sys.exit(printing("chantry", lambda: chantry(prog_name="chantry")))
