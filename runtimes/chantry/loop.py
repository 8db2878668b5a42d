"""One poll loop between the agent's pipes, the user and the conversation.

A single thread: nothing is read while something is written, and no signal comes at a bad time.
"""

from __future__ import annotations

import codecs
import os
import select
import signal
import time
from typing import TYPE_CHECKING, Final

from protocol.framing import Line, LineSplitter
from protocol.jsonrpc import decode
from runtimes.chantry import outcome
from runtimes.chantry.agent import how_it_ended
from runtimes.chantry.effects import Ask, AskNoMore, End, Send, Show
from runtimes.chantry.ending import Ending
from runtimes.chantry.shown import Note
from runtimes.chantry.text import Lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runtimes.chantry.agent import Agent
    from runtimes.chantry.conversation import Conversation
    from runtimes.chantry.effects import Effect
    from runtimes.chantry.screen import Screen
    from runtimes.chantry.terminal import Keyboard
    from runtimes.chantry.wire import WireLog

_REDRAW_MS: Final = 1000
"""How often the time that a running call has taken is drawn again."""
_LAST_READS: Final = 1024
"""Chunks read of a dead agent's pipes at most: a process that it left may write for ever."""
_HURRY: Final = frozenset((signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
"""Whoever sends one of these does not want to wait for an agent that nobody sees."""


class Loop:
    """Waits for whatever comes next and passes it on."""

    def __init__(
        self,
        *,
        agent: Agent,
        conversation: Conversation,
        screen: Screen,
        keyboard: Keyboard,
        wake: int,
        wire: WireLog | None,
        show_stderr: bool,
    ) -> None:
        self._agent = agent
        self._conversation = conversation
        self._screen = screen
        self._keyboard = keyboard
        self._wake = wake
        self._wire = wire
        self._show_stderr = show_stderr
        self._ending = Ending(agent, time.monotonic)
        self._splitter = LineSplitter()
        self._stderr_lines = Lines()
        self._stderr_decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._open = {agent.stdout_fd, agent.stderr_fd}
        self._closed_its_output = False
        self._listening = False
        self._code = outcome.FAILED

    def run(self) -> int:
        """Run until the agent has ended; returns the exit code."""
        self._keyboard.echo(on=False)
        self._perform(self._conversation.begin())
        while (status := self._agent.exit_status()) is None:
            self._flush()
            self._serve(self._wait())
            self._ending.advance()
        self._read_the_rest()
        self._bury(status)
        self._flush()
        return self._code

    def close(self) -> None:
        """Leave nothing behind, also when nobody sees any more what comes."""
        self._end_unseen()
        self._agent.release()
        self._screen.close()

    def _end_unseen(self) -> None:
        """End the agent, which may have clean-up to do, and read on, or it would be stalled."""
        self._listening = False
        if not self._ending.begun:
            self._ending.begin("polite")
        while self._agent.exit_status() is None:
            for descriptor in self._wait():
                if descriptor == self._wake:
                    if _HURRY.intersection(os.read(self._wake, 1024)):
                        self._ending.begin("none")
                elif descriptor == self._agent.stdin_fd:
                    self._agent.write()
                elif descriptor == self._agent.stdout_fd:
                    self._drop(descriptor, self._agent.read())
                else:
                    self._drop(descriptor, self._agent.read_stderr())
            self._ending.advance()

    def _drop(self, descriptor: int, chunk: bytes | None) -> None:
        if chunk == b"":
            self._open.discard(descriptor)

    def _flush(self) -> None:
        self._screen.flush()
        if self._wire:
            self._wire.flush()

    def _wait(self) -> list[int]:
        """Wait for anything; returns the descriptors that are ready."""
        poll = select.poll()
        for descriptor in (self._wake, *self._open):
            poll.register(descriptor, select.POLLIN)
        if self._agent.wants_to_write:
            poll.register(self._agent.stdin_fd, select.POLLOUT)
        if self._listening and not self._keyboard.ended:
            poll.register(self._keyboard.descriptor, select.POLLIN)
        waits = [self._ending.wait_ms, _REDRAW_MS if self._conversation.is_busy else None]
        timeout_ms = min((wait for wait in waits if wait is not None), default=None)
        return [descriptor for descriptor, _ in poll.poll(timeout_ms)]

    def _serve(self, ready: list[int]) -> None:
        for descriptor in ready:
            if descriptor == self._wake:
                self._take_signals()
            elif descriptor == self._agent.stdin_fd:
                self._agent.write()
            elif descriptor == self._agent.stdout_fd:
                self._hear(self._agent.read())
            elif descriptor == self._agent.stderr_fd:
                self._hear_stderr(self._agent.read_stderr())
            else:
                self._keyboard.read()
                self._pass_typed_on()

    def _take_signals(self) -> None:
        for number in os.read(self._wake, 1024):
            match number:
                case signal.SIGINT:
                    self._perform(self._conversation.interrupted())
                case signal.SIGTERM | signal.SIGHUP:
                    self._perform(self._conversation.told_to_end(128 + number))
                case _:
                    pass  # SIGCHLD and SIGWINCH only had to wake us

    def _hear(self, chunk: bytes | None) -> None:
        """Take a chunk of the agent's stdout; its end, without an exit, is the agent's end too."""
        if chunk is None:
            return
        if not chunk:
            self._open.discard(self._agent.stdout_fd)
            if not self._ending.begun:
                self._closed_its_output = True
                self._ending.begin("polite")
            return
        for frame in self._splitter.feed(chunk):
            if isinstance(frame, Line):
                if self._wire:
                    self._wire.message("agent", frame.data)
                self._perform(self._conversation.received(decode(frame.data), frame.data))
            else:
                self._screen.show(Note(f"a line of more than {frame.limit} bytes, dropped"))

    def _hear_stderr(self, chunk: bytes | None) -> None:
        if chunk is None:
            return
        if not chunk:
            self._open.discard(self._agent.stderr_fd)
            lines = self._stderr_lines.flush()
        else:
            lines = self._stderr_lines.feed(self._stderr_decoder.decode(chunk))
        for line in lines:
            self._agent.heard(line)
            if self._show_stderr:
                self._screen.show(Note(f"stderr: {line}"))
            if self._wire:
                self._wire.text("agent-stderr", line)

    def _pass_typed_on(self) -> None:
        """Give the conversation the line it waits for, or tell it that there will be none."""
        if not self._listening:
            return
        line = self._keyboard.take()
        if line is not None:
            self._stop_listening()
            self._screen.answered()
            self._perform(self._conversation.typed(line))
        elif self._keyboard.ended:
            self._stop_listening()
            self._screen.ask("")
            self._perform(self._conversation.typing_ended())

    def _perform(self, effects: Sequence[Effect]) -> None:
        for effect in effects:
            match effect:
                case Send(line):
                    if self._wire:
                        self._wire.message("client", line)
                    self._agent.send(line)
                case Show(item):
                    self._screen.show(item)
                case Ask(prompt, fresh):
                    self._listen(prompt, fresh=fresh)
                case AskNoMore():
                    self._stop_listening()
                    self._screen.ask("")
                case End(code, patience):
                    self._code = code
                    self._ending.begin(patience)

    def _listen(self, prompt: str, *, fresh: bool) -> None:
        if fresh:
            self._keyboard.forget()
        self._keyboard.echo(on=True)
        self._screen.ask(prompt)
        self._listening = True
        self._pass_typed_on()

    def _stop_listening(self) -> None:
        self._listening = False
        self._keyboard.echo(on=False)

    def _read_the_rest(self) -> None:
        """Take what an ended agent left in its pipes."""
        for _ in range(_LAST_READS):
            said, complained = self._agent.read(), self._agent.read_stderr()
            self._hear(said)
            self._hear_stderr(complained)
            if not said and not complained:
                break
        for line in self._stderr_lines.flush():
            self._agent.heard(line)

    def _bury(self, status: int) -> None:
        """Say how the agent ended, where that is news."""
        how = how_it_ended(status)
        if self._closed_its_output and self._ending.signalled:
            how = f"it closed its output, then {how}"
        effects = self._conversation.agent_gone(how, self._agent.last_words)
        if not effects and status != 0 and not self._ending.signalled:
            self._screen.show(Note(f"the agent ended with {how}"))
        self._perform(effects)
