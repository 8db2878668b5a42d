"""``chantry drive``: put the parts together and hold the conversation."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runtimes.chantry import outcome
from runtimes.chantry.agent import Agent, AgentNotStartedError
from runtimes.chantry.conversation import Conversation, Script
from runtimes.chantry.loop import Loop
from runtimes.chantry.terminal import Keyboard, choose_screen, is_interactive, signals
from runtimes.chantry.wire import WireLog

if TYPE_CHECKING:
    from runtimes.chantry.permission import Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class DriveOptions:
    """Checked flags."""

    command: tuple[str, ...]
    prompts: tuple[str, ...]
    """Empty: prompts are read from stdin, a line each."""
    cwd: str
    """Absolute."""
    policy: Policy
    json: bool
    """Print the wire instead of the conversation."""
    stderr: bool
    """Show what the agent writes to stderr."""


def drive(options: DriveOptions) -> int:
    """Hold the conversation; returns the exit code.  Main thread only: it handles signals."""
    clock = time.monotonic
    interactive = is_interactive() and not options.json
    screen = choose_screen(clock, wire=options.json)
    script = Script(
        prompts=options.prompts,
        cwd=options.cwd,
        policy=options.policy,
        interactive=interactive,
    )
    keyboard = Keyboard(terminal=interactive)
    with signals() as wake, keyboard.kept():
        try:
            agent = Agent(options.command)
        except AgentNotStartedError as error:
            sys.stderr.write(f"chantry: {error}\n")
            return outcome.FAILED
        loop = Loop(
            agent=agent,
            conversation=Conversation(script, clock),
            screen=screen,
            keyboard=keyboard,
            wake=wake,
            wire=WireLog(sys.stdout.buffer) if options.json else None,
            show_stderr=options.stderr,
        )
        try:
            return loop.run()
        finally:
            loop.close()
