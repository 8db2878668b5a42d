"""The command line of ``radian``: what it will be, and that it is not there yet."""

from __future__ import annotations

import click


@click.group(
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="chantry", message="radian %(version)s")
@click.pass_context
def radian(context: click.Context) -> None:
    """An agent that works on a repository, over the Agent Client Protocol.

    This version has no commands: the actor runtime and the protocol under it exist, the agent on
    top of them does not.  `chant`, which comes in the same package, serves the Agent Client
    Protocol today: see `chant --help`.
    """
    click.echo(context.get_help())
