"""A mutant: one known wrong change, and what must notice it."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias


class Simulate(NamedTuple):
    """Play seeds of the simulation; it must find a violation.  Faults are drawn by the seeds."""

    seeds: int
    scenario: str | None = None

    def __str__(self) -> str:
        return f"chantry simulate {' '.join(self.words[3:])}"

    @property
    def words(self) -> tuple[str, ...]:
        """What follows the interpreter."""
        only = () if self.scenario is None else ("--scenario", self.scenario)
        code = "from runtimes.chantry.cli import main; main()"
        how = ("--jobs", "1", "--backend", "greenlet", "--fail-fast", "--seeds", str(self.seeds))
        return ("-c", code, "simulate", *how, *only)


class Pytest(NamedTuple):
    """Run some tests; one must fail."""

    path: str
    only: str = ""
    """An expression for ``-k``; empty: all tests of the file."""

    def __str__(self) -> str:
        return f"{self.path} {self.only}".rstrip()

    @property
    def words(self) -> tuple[str, ...]:
        """What follows the interpreter."""
        only = ("-k", self.only) if self.only else ()
        return ("-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", self.path, *only)


Catcher: TypeAlias = Simulate | Pytest


class Mutant(NamedTuple):
    """A wrong change of one file: ``old``, which occurs there exactly once, becomes ``new``."""

    name: str
    file: str
    old: str
    new: str
    caught_by: tuple[Catcher, ...]
    """Each of them alone must notice."""
    fast: bool = False
    """Part of ``make test``: caught within a few seconds."""
