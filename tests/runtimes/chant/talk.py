"""One verb asked twice: through the command line, and by a prompt as a session would."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from actors.opened_session import OpenedSession
from actors.real_platform import RealPlatform
from actors.work import CallableWork
from protocol.acp.prompts import Prompt, Text
from runtimes.chant.runtime import ChantRuntime
from runtimes.chant.verb_turn import VERB
from tests.runtimes.chant.hosts import Context, PlayedHost, Token
from tests.scripts import script

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Said:
    """What the command line answered."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)


def chant(folder: Path, *words: str, **env: str) -> Said:
    """Run one command line."""
    ran = subprocess.run(
        [script("chant"), *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        stdin=subprocess.DEVNULL,
        env={**os.environ, **env},
    )
    return Said(ran.returncode, ran.stdout, ran.stderr)


def prompt(folder: Path, text: str) -> tuple[int, Any]:
    """Prompt a verb that runs no Op; return its exit code and document."""
    value, context = _worked(folder, text)
    assert isinstance(value, int), value
    return value, json.loads("".join(text for _, text in context.printed))


def refused(folder: Path, text: str) -> str:
    """Prompt a verb that is refused; return why."""
    value, context = _worked(folder, text)
    assert isinstance(value, str), value
    assert context.printed == []
    return value


def _worked(folder: Path, text: str) -> tuple[Any, Context]:
    runtime = ChantRuntime(RealPlatform(), {"PATH": "/usr/bin:/bin"})
    session = OpenedSession("s", str(folder))
    host = PlayedHost(runtime.begin_turn(session, Prompt("s", (Text(text),)), "t1")).start()
    work, context = host.running[VERB].work, Context(Silent())
    assert isinstance(work, CallableWork)
    return work.run(context), context


class Silent(Token):
    """A token that nobody sets."""

    def on_cancel(self, callback: Any) -> None:
        del callback
