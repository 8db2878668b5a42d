"""A session's prompt into something to do, or a refusal.  Pure: nothing runs while reading."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from protocol.values import frozen
from runtimes.chant.command_line import MAX_TEXT_BYTES, Unreadable, split, too_long
from runtimes.chant.parsing import HelpAsked, Misused, parse
from runtimes.chant.verbs.verb import Invocation, NotInPrompts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runtimes.chant.verbs.verb import Verb


@frozen
class PromptRefused:
    """The prompt is no command line that a session may run; ``reason`` is shown to the client."""

    reason: str


Accepted: TypeAlias = Invocation | HelpAsked | PromptRefused


def read_prompt(texts: Sequence[str], verbs: Sequence[Verb]) -> Accepted:
    """Read the text blocks of a prompt, which are one command line together.

    A leading ``chant`` may be left out, and a client that offers verbs as slash commands may put
    its slash before the verb.
    """
    if sum(map(len, texts)) > MAX_TEXT_BYTES:  # before joining: a prompt may have 60 MiB
        return PromptRefused(_TOO_LONG)
    text = " ".join(texts)
    if too_long(text):
        return PromptRefused(_TOO_LONG)
    words = split(text)
    if isinstance(words, Unreadable):
        return PromptRefused(f"{words.reason}; nothing was run")
    return _accepted(_without_lead(words), verbs)


_TOO_LONG = f"the prompt is longer than {MAX_TEXT_BYTES // 1024} KiB; nothing was run"


def _without_lead(words: tuple[str, ...]) -> tuple[str, ...]:
    if words[:1] == ("chant",):
        return words[1:]
    if words and len(words[0]) > 1 and words[0].startswith("/"):
        return (words[0][1:], *words[1:])
    return words


def _accepted(words: tuple[str, ...], verbs: Sequence[Verb]) -> Accepted:
    match parse(words, verbs):
        case Misused(reason):
            return PromptRefused(f"{reason}; nothing was run")
        case Invocation(verb=verb) as invocation if reason := _barred(invocation):
            return PromptRefused(f"chant {verb.name} can't be prompted: {reason}")
        case accepted:
            return accepted


def _barred(invocation: Invocation) -> str:
    """Say why an invocation may not be prompted; empty if it may."""
    rule = invocation.verb.in_prompts
    if not isinstance(rule, NotInPrompts) or (rule.unless and invocation.on(rule.unless)):
        return ""
    return rule.reason
