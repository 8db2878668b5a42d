"""The command line of ``radian``: click's group, help and completion over the tables of flags."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from runtimes.help_layout import columns, paragraph, terminal_width
from runtimes.radian.acp_flags import BREAKING
from runtimes.radian.exec_flags import PRINTING, PROMPT
from runtimes.radian.exit_codes import ABOUT
from runtimes.radian.flags import CONVERSATION, help_rows
from runtimes.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from runtimes.radian.flags import Flag


class FlagCommand(click.Command):
    """A command whose words are read by `flags.read_flags`; click shows and completes them."""

    def __init__(
        self,
        name: str,
        summary: str,
        groups: Mapping[str, Sequence[Flag]],
        codes: Mapping[int, str],
        run: Callable[..., int],
    ) -> None:
        """``groups``: heading to flags; ``run`` gets the words and returns the exit code."""
        params: list[click.Parameter] = [
            _option(flag) for flags in groups.values() for flag in flags
        ]
        short = summary.partition("\n")[0]
        super().__init__(name, params=params, help=summary, short_help=short, add_help_option=False)
        self._groups = groups
        self._codes = codes
        self._run = run

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep the words as they are."""
        if ctx.resilient_parsing:
            return super().parse_args(ctx, args)
        ctx.obj = args
        return []

    def invoke(self, ctx: click.Context) -> Any:
        """Show help or do what the words say."""
        words: list[str] = ctx.obj
        if "-h" in words or "--help" in words:
            click.echo(self.get_help(ctx))
            ctx.exit(0)
        ctx.exit(self._run(words))

    def get_help(self, ctx: click.Context) -> str:
        """Show what it does, the flags by group, and the exit codes."""
        width = terminal_width()
        lines = [f"Usage: {ctx.command_path} [FLAGS]"]
        for text in (self.help or "").split("\n\n"):
            lines += ["", *paragraph(text, width)]
        for heading, flags in self._groups.items():
            lines += ["", heading, *columns(help_rows(flags), width)]
        if self._codes:
            codes = [(str(code), about) for code, about in self._codes.items()]
            lines += ["", "Exit codes:", *columns(codes, width)]
        return "\n".join(lines)


def _option(flag: Flag) -> click.Option:
    names = [flag.name, flag.short] if flag.short else [flag.name]
    return click.Option(
        names, is_flag=not flag.value, multiple=flag.many, metavar=flag.value or None
    )


def conversation_command(
    name: str, own: Mapping[str, Sequence[Flag]], codes: Mapping[int, str], summary: str
) -> Callable[[Callable[..., int]], FlagCommand]:
    """Make a command of a function: the conversation flags come with it, and ``own`` ones."""

    def decorate(run: Callable[..., int]) -> FlagCommand:
        return FlagCommand(name, summary, {**own, "Conversation:": CONVERSATION}, codes, run)

    return decorate


EXEC = """\
Have the agent do what a prompt says, in one turn, and exit.

Without -p, all of a piped stdin is the prompt; at a terminal each line is one. With -p TEXT, stdin
is not read."""


@conversation_command("exec", {"Prompt:": PROMPT, "Instead of a turn:": PRINTING}, ABOUT, EXEC)
def exec_command(words: list[str]) -> int:
    """Run ``radian exec``."""
    from runtimes.radian.exec_run import run_exec

    return run_exec(words, os.environ)


ACP = """\
Serve the agent to an editor, over the Agent Client Protocol.

An editor starts this, and talks to it on stdin and stdout. One process holds one session; prompts,
permissions and answers go over the protocol, and stderr has all that is not part of it."""


@conversation_command("acp", {"For tests of clients:": BREAKING}, {}, ACP)
def acp_command(words: list[str]) -> int:
    """Run ``radian acp``."""
    from runtimes.radian.serving import serve_acp

    return serve_acp(words, os.environ)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(VERSION, prog_name="radian", message="%(prog)s %(version)s")
def radian() -> None:
    """An agent that works on the files of a workspace."""


radian.add_command(exec_command)
radian.add_command(acp_command)


@radian.command(short_help="Store the key of a provider.")
@click.argument("provider", required=False)
def login(provider: str | None) -> None:
    """Store the key of PROVIDER, or of the default one: typed without echo, or piped in."""
    from runtimes.radian import keys

    sys.exit(keys.login(provider, os.environ))


@radian.command(short_help="Remove the stored key of a provider.")
@click.argument("provider", required=False)
def logout(provider: str | None) -> None:
    """Remove the stored key of PROVIDER, or of the default one."""
    from runtimes.radian import keys

    sys.exit(keys.logout(provider, os.environ))


@radian.command(short_help="Trust a project, or don't: it may bring instructions and hooks.")
@click.argument("folder", default=".")
@click.option("--no", is_flag=True, help="Don't trust it, and don't ask again.")
@click.option("--forget", is_flag=True, help="Take it off the list.")
@click.option("--show", is_flag=True, help="Say what holds, and change nothing.")
def trust(folder: str, *, no: bool, forget: bool, show: bool) -> None:
    """Trust the project in FOLDER (here, if absent): what it brings is loaded from now on."""
    from runtimes.radian import trusting

    flags = {"--no": no, "--forget": forget, "--show": show}
    given = [name for name, on in flags.items() if on]
    if len(given) > 1:
        message = f"{' and '.join(given)} don't go together"
        raise click.UsageError(message)
    wish: trusting.Wish = "distrust" if no else "forget" if forget else "show" if show else "trust"
    sys.exit(trusting.trust(folder, wish, os.environ))
