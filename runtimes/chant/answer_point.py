"""Words on a question, for a command: who speaks, whether they may, and what is recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ops.errors import ParamInvalid
from ops.points_book import IN_STEWARD_TURN, PointRefused, Voice
from ops.step_env import channel_of
from ops.stewards import steward_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ops.project import Project

PLACEHOLDERS = ("<you>", "NAME")
"""What the line that a run prints, and the help, have in place of a name."""


def refuse_steward(environ: Mapping[str, str], question_id: str) -> None:
    """Let no steward answer what people are asked.

    Raises:
        PointRefused: The process works in a steward's turn.

    """
    steward = steward_of(environ)
    if steward:
        reason = f"{question_id[:80]} is for people, and this is the turn of steward {steward}"
        raise PointRefused(IN_STEWARD_TURN, reason)


def voices(names: Sequence[str], project: Project, environ: Mapping[str, str]) -> list[Voice]:
    """Return who speaks; over a channel a name is only a claim, and holds no roles.

    Raises:
        ParamInvalid: A name is missing, or still the placeholder.

    """
    channel = channel_of(environ)
    attested = channel == "cli"
    if not names:
        message = "--by needs the name of the person who says so"
        raise ParamInvalid(message)
    found: list[Voice] = []
    for given in names:
        name = given.strip()
        if not name or name in PLACEHOLDERS or not name.isprintable():
            message = f"--by needs a name, not {given[:80]!r}"
            raise ParamInvalid(message)
        roles = project.roles_of(name) if attested else ()
        found.append(Voice(name, channel, attested=attested, roles=roles))
    return found
