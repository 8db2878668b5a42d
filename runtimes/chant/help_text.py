"""Help, made from the verb table: the same words on the command line and in a session.  Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtimes.chant.parsing import group_of
from runtimes.chant.verbs.verb import MEANINGS, WIDTH, NotInPrompts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runtimes.chant.verbs.verb import Flag, Param, Verb


ABOUT = "Runs declared operations (Ops), and serves them over the Agent Client Protocol."
MORE = "chant VERB --help says more about one of them"
BOUND = "\u00a0"
"""A space at which no line is wrapped: a flag and its value stay together."""


def all_verbs(verbs: Sequence[Verb], width: int = WIDTH) -> str:
    """Return what ``chant --help`` prints."""
    rows = [(usage(verb), verb.summary) for verb in verbs]
    return "\n".join(
        [
            "Usage: chant VERB [ARGS]",
            "",
            *_wrapped(ABOUT, width),
            "",
            "Verbs:",
            *_columns(rows, width),
            "",
            *_wrapped(f"{MORE}; chant --version prints the version.", width),
        ]
    )


def group_of_verbs(group: Sequence[str], verbs: Sequence[Verb], width: int = WIDTH) -> str:
    """Return what ``chant GROUP --help`` prints, where the words only begin verbs."""
    rows = [(usage(verb), verb.summary) for verb in verbs]
    usage_line = f"Usage: chant {' '.join(group)} ..."
    return "\n".join([usage_line, "", "Verbs:", *_columns(rows, width), "", f"{MORE}."])


def asked(
    verb: Verb | None, group: Sequence[str], verbs: Sequence[Verb], width: int = WIDTH
) -> str:
    """Return the help of one verb, of the verbs that begin with ``group``, or of all."""
    if verb:
        also = [usage(each) for each in group_of(verb.path, verbs) if each.path != verb.path]
        text = one_verb(verb, width)
        lines = _wrapped(f"See also: {'; '.join(also)}", width, "  ") if also else []
        return "\n".join([text, "", *lines]) if also else text
    if group:
        return group_of_verbs(group, group_of(group, verbs), width)
    return all_verbs(verbs, width)


def one_verb(verb: Verb, width: int = WIDTH) -> str:
    """Return what ``chant VERB --help`` prints."""
    lines = [usage_lines(verb, width), "", *_wrapped(f"{verb.summary}.", width)]
    if verb.params:
        params = [(_param(param), param.summary) for param in verb.params]
        lines += ["", *_columns(params, width)]
    flags = [(_flag(flag), flag.summary) for flag in verb.flags]
    lines += ["", "Flags:", *_columns(flags, width)]
    lines += ["", *_wrapped(f"With --json: {verb.document}", width, "  ")]
    codes = [(str(code), MEANINGS[code]) for code in verb.exit_codes]
    lines += ["", "Exit codes:", *_columns(codes, width)]
    if isinstance(verb.in_prompts, NotInPrompts):
        reason = verb.in_prompts.reason
        lines += ["", *_wrapped(f"Not in a session's prompt: {reason}.", width)]
    return "\n".join(lines)


def usage(verb: Verb) -> str:
    """Return verb and params as one types them, without ``chant`` and flags."""
    return " ".join([*verb.path, *(_param(param) for param in verb.params)])


def long_usage(verb: Verb, space: str = " ") -> str:
    """Return the whole line as one types it; ``space`` stands between a flag and its value."""
    flags = (f"[{_flag(flag, space)}]{'...' if flag.many else ''}" for flag in verb.flags)
    return " ".join(["chant", usage(verb), *flags])


def usage_lines(verb: Verb, width: int) -> str:
    """Return the whole line as one types it, wrapped but for a flag and its value."""
    lines = _wrapped(f"Usage: {long_usage(verb, BOUND)}", width, " " * len("Usage: "))
    return "\n".join(lines).replace(BOUND, " ")


def hint(verb: Verb) -> str:
    """Return what may follow the verb, for a client that offers verbs to choose from."""
    own = (f"[{_flag(flag)}]{'...' if flag.many else ''}" for flag in verb.own_flags)
    return " ".join([*(_param(param) for param in verb.params), *own])


def _param(param: Param) -> str:
    word = f"{param.name}..." if param.many else param.name
    return word if param.required else f"[{word}]"


def _flag(flag: Flag, space: str = " ") -> str:
    return f"{flag.name}{space}{flag.value}" if flag.value else flag.name


def _wrapped(text: str, width: int, indent: str = "") -> list[str]:
    from runtimes.help_layout import paragraph

    return paragraph(text, width, indent)


def _columns(rows: Sequence[tuple[str, str]], width: int) -> list[str]:
    from runtimes.help_layout import columns

    return columns(rows, width)
