"""Help, made from the verb table: the same text on the command line and in a session.  Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtimes.chant.parsing import group_of
from runtimes.chant.verbs.verb import MEANINGS, NotInPrompts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from runtimes.chant.verbs.verb import Flag, Param, Verb

WIDTH = 96


def all_verbs(verbs: Sequence[Verb]) -> str:
    """Return what ``chant --help`` prints."""
    rows = [(usage(verb), verb.summary) for verb in verbs]
    return "\n".join(
        [
            "Usage: chant VERB [ARGS]",
            "",
            "Runs declared operations (Ops), and serves them over the Agent Client Protocol.",
            "",
            "Verbs:",
            *_columns(rows),
            "",
            "chant VERB --help says more about one of them; chant --version prints the version.",
        ]
    )


def group_of_verbs(group: Sequence[str], verbs: Sequence[Verb]) -> str:
    """Return what ``chant GROUP --help`` prints, where the words only begin verbs."""
    rows = [(usage(verb), verb.summary) for verb in verbs]
    more = "chant VERB --help says more about one of them."
    lines = [f"Usage: chant {' '.join(group)} ...", "", "Verbs:", *_columns(rows), "", more]
    return "\n".join(lines)


def asked(verb: Verb | None, group: Sequence[str], verbs: Sequence[Verb]) -> str:
    """Return the help of one verb, of the verbs that begin with ``group``, or of all."""
    if verb:
        also = [usage(each) for each in group_of(verb.path, verbs) if each.path != verb.path]
        return one_verb(verb) + ("\n\nSee also: " + "; ".join(also) if also else "")
    return group_of_verbs(group, group_of(group, verbs)) if group else all_verbs(verbs)


def one_verb(verb: Verb) -> str:
    """Return what ``chant VERB --help`` prints."""
    usage_lines = _wrapped(f"Usage: {long_usage(verb)}", " " * len("Usage: "))
    lines = [*usage_lines, "", f"{verb.summary}."]
    if verb.params:
        lines += ["", *_columns([(_param(param), param.summary) for param in verb.params])]
    lines += ["", "Flags:", *_columns([(_flag(flag), flag.summary) for flag in verb.flags])]
    lines += ["", *_wrapped(f"With --json: {verb.document}", "  ")]
    codes = [(str(code), MEANINGS[code]) for code in verb.exit_codes]
    lines += ["", "Exit codes:", *_columns(codes)]
    if isinstance(verb.in_prompts, NotInPrompts):
        lines += ["", f"Not in a session's prompt: {verb.in_prompts.reason}."]
    return "\n".join(lines)


def usage(verb: Verb) -> str:
    """Return verb and params as one types them, without ``chant`` and flags."""
    return " ".join([*verb.path, *(_param(param) for param in verb.params)])


def long_usage(verb: Verb) -> str:
    """Return the whole line as one types it."""
    flags = (f"[{_flag(flag)}]{'...' if flag.many else ''}" for flag in verb.flags)
    return " ".join(["chant", usage(verb), *flags])


def hint(verb: Verb) -> str:
    """Return what may follow the verb, for a client that offers verbs to choose from."""
    own = (f"[{_flag(flag)}]{'...' if flag.many else ''}" for flag in verb.own_flags)
    return " ".join([*(_param(param) for param in verb.params), *own])


def _param(param: Param) -> str:
    word = f"{param.name}..." if param.many else param.name
    return word if param.required else f"[{word}]"


def _flag(flag: Flag) -> str:
    return f"{flag.name} {flag.value}" if flag.value else flag.name


def _wrapped(text: str, indent: str) -> list[str]:
    from textwrap import wrap

    return wrap(text, WIDTH, subsequent_indent=indent, break_on_hyphens=False)


def _columns(rows: Iterable[tuple[str, str]]) -> list[str]:
    rows = list(rows)
    width = max((len(left) for left, _ in rows), default=0)
    return [f"  {left:<{width}}  {right}".rstrip() for left, right in rows]
