"""The verbs as a client may offer them: slash commands.  Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from protocol.acp.updates import AvailableCommand, AvailableCommands
from runtimes.chant.help_text import hint
from runtimes.chant.verbs.table import VERBS
from runtimes.chant.verbs.verb import NotInPrompts

if TYPE_CHECKING:
    from runtimes.chant.verbs.verb import Verb


def available_commands() -> AvailableCommands:
    """Return the verbs that a prompt may use."""
    usable = [verb for verb in VERBS if _usable(verb)]
    return AvailableCommands(
        tuple(AvailableCommand(verb.name, verb.summary, hint(verb) or None) for verb in usable)
    )


def _usable(verb: Verb) -> bool:
    """Tell whether any form of a verb may be prompted."""
    return not isinstance(verb.in_prompts, NotInPrompts) or bool(verb.in_prompts.unless)
