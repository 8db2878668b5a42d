"""What most verbs begin with: the project, the environment that is meant, the ledger."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ops.digits import whole_number
from ops.errors import OpsError, ParamInvalid
from ops.ledger import NoLedger, open_ledger
from ops.project import choose_environment, find_project
from protocol.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from ops.faults import Faults
    from ops.git import Stopping
    from ops.ledger import Ledger
    from ops.project import Project
    from runtimes.chant.verbs.verb import Invocation, Surroundings

MAX_LIMIT = 100_000


class LedgerMissing(OpsError):  # noqa: N818 - the tree names what happened
    """There is no repository to read facts from."""


@dataclass(frozen=True, slots=True)
class Place:
    """A project and one of its environments."""

    project: Project
    env: str


def place_of(invocation: Invocation, around: Surroundings) -> Place:
    """Return the project at the working directory and the environment: --env, ENV or default.

    Raises:
        OpsError: There is no project, or the environment is not declared.

    """
    project = find_project(around.cwd)
    asked = invocation.value("--env") or invocation.param("ENV") or None
    return Place(project, choose_environment(project, asked))


def ledger_of(
    project: Project, faults: Faults | None = None, *, stop: Stopping | None = None
) -> Ledger:
    """Return the project's ledger, whose remote gets a few seconds after ``stop``.

    Raises:
        LedgerMissing: There is none.

    """
    opened = open_ledger(project.root, project.ledger, faults)
    if isinstance(opened, NoLedger):
        raise LedgerMissing(opened.reason)
    return opened if stop is None else opened.heeding(stop)


class Premises(NamedTuple):
    """Where verbs that write find their project, its ledger and the time; a test has its own."""

    project: Callable[[str], Project] = find_project
    """By a working directory; raises `OpsError`."""
    ledger: Callable[[Project], Ledger] = ledger_of
    wall: Callable[[], float] = time.time


def limit_of(invocation: Invocation, default: int) -> int:
    """Return the value of --limit.

    Raises:
        ParamInvalid: It is no number from 1 to a hundred thousand.

    """
    text = invocation.value("--limit")
    if text is None:
        return default
    number = whole_number(text)
    if number is None or not 0 < number <= MAX_LIMIT:
        msg = f"--limit needs a whole number from 1 to {MAX_LIMIT}, not {text[:40]!r}"
        raise ParamInvalid(msg)
    return number
