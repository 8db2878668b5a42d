"""Words into an invocation of a verb, or a reason why not.  Pure.

The command line and the prompts of a session are both read here, so they accept the same things.
"""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, TypeAlias

from protocol.values import frozen
from runtimes.chant.verbs.verb import HELP, SHORT_HELP, Invocation, Verb

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@frozen
class HelpAsked:
    """Show the help of ``verb``, or of all verbs that begin with ``group``; do nothing else."""

    verb: Verb | None = None
    group: tuple[str, ...] = ()


@frozen
class Misused:
    """Words that are no invocation; ``reason`` names what is known.  ``verb`` if it was found."""

    reason: str
    verb: Verb | None = None


Parsed: TypeAlias = Invocation | HelpAsked | Misused

_HELP = (HELP.name, SHORT_HELP)


def parse(words: Sequence[str], verbs: Sequence[Verb]) -> Parsed:
    """Read ``words``, without a leading ``chant``."""
    group = tuple(takewhile(lambda word: word not in _HELP, words))
    if words and not group:
        return HelpAsked()
    verb = find_verb(words, verbs)
    if verb is None and len(group) < len(words) and group_of(group, verbs):
        return HelpAsked(group=group)
    if verb is None:
        return Misused(no_verb(words, verbs))
    return _Reading(verb).read(words[len(verb.path) :])


def find_verb(words: Sequence[str], verbs: Sequence[Verb]) -> Verb | None:
    """Return the verb with the longest path that ``words`` begin with."""
    found = [verb for verb in verbs if tuple(words[: len(verb.path)]) == verb.path]
    return max(found, key=lambda verb: len(verb.path), default=None)


def group_of(words: Sequence[str], verbs: Sequence[Verb]) -> list[Verb]:
    """Return the verbs whose paths begin with all of ``words``."""
    return [verb for verb in verbs if verb.path[: len(words)] == tuple(words)]


def nearest(word: str, known: Iterable[str]) -> str:
    """Return ``; did you mean X?`` for the known name that ``word`` looks like, or nothing."""
    from difflib import get_close_matches

    names = list(known)
    folded = {name.casefold().lstrip("-"): name for name in names}
    close = get_close_matches(word.casefold().lstrip("-")[:80], folded, n=1)
    return f"; did you mean {folded[close[0]]!r}?" if close else ""


def shown(word: str) -> str:
    """Quote a word that someone typed, shortened so that it can't flood the answer."""
    limit = 80
    return repr(word if len(word) <= limit else word[:limit] + "…")


def no_verb(words: Sequence[str], verbs: Sequence[Verb]) -> str:
    """Say why ``words`` begin no verb, and what is known."""
    known = sorted({verb.path[0] for verb in verbs})
    listed = ", ".join(known)
    if not words:
        return f"no verb given; known: {listed}"
    if words[0] in known:
        return _half_a_verb(words, verbs)
    hint = nearest(words[0], [*known, "chant"])
    return f"{shown(words[0])} is not a verb of chant; known: {listed}{hint}"


def _half_a_verb(words: Sequence[str], verbs: Sequence[Verb]) -> str:
    """Say what may follow the words that do begin a verb."""
    begun = 1
    while any(verb.path[: begun + 1] == tuple(words[: begun + 1]) for verb in verbs):
        begun += 1
    group = tuple(words[:begun])
    paths = [verb.path for verb in verbs if verb.path[:begun] == group]
    after = sorted({path[begun] for path in paths if len(path) > begun})
    said = f"chant {' '.join(group)} needs one of {', '.join(after)}"
    if len(words) == begun or words[begun].startswith("-"):
        return said
    return f"{said}, not {shown(words[begun])}{nearest(words[begun], after)}"


class _Reading:
    """One pass over the words after the verb."""

    def __init__(self, verb: Verb) -> None:
        self._verb = verb
        self._known = {flag.name: flag for flag in verb.flags}
        self._flags: dict[str, tuple[str, ...]] = {}
        self._plain: list[str] = []

    def read(self, words: Sequence[str]) -> Parsed:
        rest = list(reversed(words))
        while rest:
            word = rest.pop()
            if word == "--":
                self._plain += reversed(rest)
                break
            if len(word) > 1 and word.startswith("-"):
                reason = self._flag(word, rest)
                if reason:
                    return self._misused(reason)
            else:
                self._plain.append(word)
        if HELP.name in self._flags:
            return HelpAsked(self._verb)
        return self._placed()

    def _flag(self, word: str, rest: list[str]) -> str:
        """Take one flag, and its value from ``rest``; return what is wrong with it."""
        name, equals, value = word.partition("=")
        name = HELP.name if name == SHORT_HELP else name
        flag = self._known.get(name)
        if flag is None:
            return self._no_flag(name)
        if name in self._flags and not flag.many:
            return f"{name} is given twice"
        if flag.value and not equals:
            if not rest:
                return f"{name} needs a value: {name} {flag.value}"
            value = rest.pop()
        elif equals and not flag.value:
            return f"{name} takes no value"
        self._flags[name] = (*self._flags.get(name, ()), value)
        return ""

    def _no_flag(self, name: str) -> str:
        """Say what is known, and what was probably meant."""
        reason = f"no flag {shown(name)}; known: {', '.join(self._known)}"
        hint = nearest(name, self._known)
        for flag in self._verb.own_flags:
            if not hint and flag.value == "NAME=VALUE":
                hint = f"; a value of one's own: {flag.name} {name.lstrip('-')[:80]}=VALUE"
        return reason + hint

    def _placed(self) -> Invocation | Misused:
        """Give the plain words to the params, in order."""
        params: dict[str, tuple[str, ...]] = {}
        plain = self._plain
        for param in self._verb.params:
            taken = plain if param.many else plain[:1]
            if not taken and param.required:
                return self._misused(f"{param.name} is missing: {param.summary}")
            params[param.name] = tuple(taken)
            plain = plain[len(taken) :]
        if plain:
            return self._misused(f"unexpected word {shown(plain[0])}")
        return Invocation(self._verb, params, self._flags)

    def _misused(self, reason: str) -> Misused:
        return Misused(f"chant {self._verb.name}: {reason}", self._verb)
