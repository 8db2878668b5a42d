"""The command line of ``chant``: click's groups, completion and errors over the verb table."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import click

from actors.logs import tell
from runtimes.chant import help_text
from runtimes.chant.error_text import failure_document
from runtimes.chant.json_text import json_page
from runtimes.chant.parsing import HelpAsked, Misused, find_verb, parse
from runtimes.chant.performing import perform
from runtimes.chant.verbs.table import VERBS
from runtimes.chant.verbs.verb import CANCELLED, JSON, Invocation
from runtimes.help_layout import terminal_width
from runtimes.version import VERSION

if TYPE_CHECKING:
    from runtimes.chant.verbs.verb import Flag, Param, Verb


class VerbCommand(click.Command):
    """One verb.

    Its words are read by `parsing`, as a prompt's are; click knows them for completion only.
    """

    def __init__(self, verb: Verb) -> None:
        params: list[click.Parameter] = [*map(_argument, verb.params), *map(_option, verb.flags)]
        super().__init__(verb.name, params=params, help=verb.summary, add_help_option=False)
        self.verb = verb

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words after the verb."""
        if ctx.resilient_parsing:
            return super().parse_args(ctx, args)
        ctx.obj = _read([*self.verb.path, *args], ctx)
        return []

    def invoke(self, ctx: click.Context) -> Any:
        """Do what the words say and exit with its code."""
        if isinstance(ctx.obj, Invocation):
            ctx.exit(perform(ctx.obj))

    def get_usage(self, ctx: click.Context) -> str:
        """Show usage in our own words."""
        del ctx
        return help_text.usage_lines(self.verb, terminal_width())

    def get_help(self, ctx: click.Context) -> str:
        """Show help in our own words."""
        del ctx
        return help_text.one_verb(self.verb, terminal_width())


class VerbGroup(click.Group):
    """All verbs; one may have up to three words."""

    def __init__(self) -> None:
        version = click.version_option(VERSION, prog_name="chant", message="%(prog)s %(version)s")
        super().__init__(
            "chant",
            commands=[VerbCommand(verb) for verb in VERBS],
            context_settings={"help_option_names": ["-h", "--help"]},
        )
        version(self)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb with the longest path."""
        verb = find_verb(args, VERBS)
        if verb is None:
            _read(args, ctx)
            return None, None, args
        return verb.name, self.get_command(ctx, verb.name), args[len(verb.path) :]

    def get_usage(self, ctx: click.Context) -> str:
        """Show usage in our own words."""
        del ctx
        return "Usage: chant VERB [ARGS]"

    def get_help(self, ctx: click.Context) -> str:
        """Show help in our own words."""
        del ctx
        return help_text.all_verbs(VERBS, terminal_width())


def run_command_line(argv: list[str]) -> int:
    """Run ``argv`` (without the program's name) and return the exit code."""
    try:
        code = VerbGroup().main(argv, prog_name="chant", standalone_mode=False)
    except click.ClickException as error:
        _show(error, serving=argv[:1] == ["acp"])
        if JSON.name in argv:
            click.echo(json_page(failure_document(error.exit_code, error.message)), nl=False)
        return error.exit_code
    except click.Abort:
        return CANCELLED
    return code if isinstance(code, int) else 0


def _show(error: click.ClickException, *, serving: bool) -> None:
    if not serving:
        error.show()
        return
    # A client waits for our end, and may not read what we say.
    shown = io.StringIO()
    error.show(shown)
    tell(shown.getvalue())


def _read(words: list[str], ctx: click.Context) -> Invocation | None:
    match parse(words, VERBS):
        case Invocation() as invocation:
            return invocation
        case HelpAsked(verb, group):
            click.echo(help_text.asked(verb, group, VERBS, terminal_width()))
            ctx.exit(0)
            return None
        case Misused(reason):
            raise click.UsageError(reason, ctx)


def _argument(param: Param) -> click.Argument:
    return click.Argument([param.name.lower()], required=False, nargs=-1 if param.many else 1)


def _option(flag: Flag) -> click.Option:
    return click.Option(
        [flag.name], is_flag=not flag.value, multiple=flag.many, metavar=flag.value or None
    )
