"""What may come next on a command line, by the words before it.  Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from runtimes.chant.verbs.verb import Flag, Verb

OPS = frozenset({"OP", "RUN"})
"""A param of such a name may be an Op of the project; the shell asks chant for their names."""

FILES = frozenset({"FILE", "FOLDER"})


@dataclass(frozen=True, slots=True)
class Choice:
    """A word that may come next, and what it does."""

    word: str
    summary: str


@dataclass(frozen=True, slots=True)
class Place:
    """A place on the command line: after the words of ``path``."""

    path: tuple[str, ...]
    words: tuple[Choice, ...] = ()
    flags: tuple[Flag, ...] = ()
    ops: bool = False
    """An Op's name may come next."""
    files: bool = False

    @property
    def choices(self) -> tuple[Choice, ...]:
        """Everything that may come next and is known beforehand."""
        return (*self.words, *(Choice(flag.name, flag.summary) for flag in self.flags))


def places(verbs: Sequence[Verb]) -> tuple[Place, ...]:
    """Return every place where a verb goes on or ends, the shortest first."""
    paths = {verb.path[:length] for verb in verbs for length in range(len(verb.path) + 1)}
    return tuple(_place(path, verbs) for path in sorted(paths, key=lambda each: (len(each), each)))


def valued_flags(verbs: Iterable[Verb]) -> tuple[str, ...]:
    """Return the flags that take a value: the word behind one is not a verb's."""
    return tuple(sorted({flag.name for verb in verbs for flag in verb.flags if flag.value}))


def _place(path: tuple[str, ...], verbs: Sequence[Verb]) -> Place:
    words: dict[str, str] = {}
    for verb in verbs:
        if verb.path[: len(path)] == path and len(verb.path) > len(path):
            word = verb.path[len(path)]
            ends_here = len(verb.path) == len(path) + 1
            if ends_here or word not in words:
                words[word] = verb.summary if ends_here else ""
    here = next((verb for verb in verbs if verb.path == path), None)
    choices = tuple(Choice(word, words[word]) for word in sorted(words))
    if here is None:
        return Place(path, choices)
    names = {param.name for param in here.params[:1]}
    choices += tuple(Choice(word, "") for param in here.params[:1] for word in param.choices)
    return Place(path, choices, here.flags, bool(OPS & names), bool(FILES & names))
