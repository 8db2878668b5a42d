"""The command line of ``chantry``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from runtimes.chantry import outcome

if TYPE_CHECKING:
    from runtimes.chantry.permission import Policy

_EXIT_CODES = "\b\nExit codes:\n" + "\n".join(
    f"  {code:<4} {meaning}" for code, meaning in outcome.EXIT_CODES
)


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


def main() -> None:
    """Run the command line; it exits with the command's code."""
    chantry(prog_name="chantry")
