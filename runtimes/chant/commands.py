"""The verbs as a client may offer them: slash commands.  Pure."""

from __future__ import annotations

from protocol.acp.updates import AvailableCommand, AvailableCommands
from runtimes.chant.help_text import hint
from runtimes.chant.verbs.table import VERBS
from runtimes.chant.verbs.verb import NotInPrompts


def available_commands() -> AvailableCommands:
    """Return the verbs that a prompt may use."""
    usable = [verb for verb in VERBS if not isinstance(verb.in_prompts, NotInPrompts)]
    return AvailableCommands(
        tuple(AvailableCommand(verb.name, verb.summary, hint(verb) or None) for verb in usable)
    )
