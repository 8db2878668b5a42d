"""Turn after turn at a terminal: one line, one turn, until Ctrl-D."""

from __future__ import annotations

import sys
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING

from actors.signals import end_at_once
from runtimes.models.base import Text
from runtimes.radian.exit_codes import OK
from runtimes.radian.home import trust_file_of
from runtimes.radian.trust import TrustInvalidError
from runtimes.radian.turn_shown import run_shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runtimes.radian.records import UserPart
    from runtimes.radian.session import AgentSession
    from runtimes.radian.turn_shown import Shown

PROMPT = "> "


def converse(session: AgentSession, shown: Shown, first: Sequence[UserPart] = ()) -> int:
    """Read prompts and run their turns; return the exit code of the last one.

    ``first``: pictures that go with the first prompt.
    """
    with suppress(ImportError):
        import_module("readline")  # `input` uses it from then on
    code, more = OK, tuple(first)
    while (line := ask_line(PROMPT)) is not None:
        text = line.strip().encode("utf-8", "replace").decode()
        if not text:
            continue
        code, more = run_shown(session, shown, (Text(text), *more)), ()
        if shown.broken:
            break
    return code


def ask_line(prompt: str) -> str | None:
    """Read a line; None at the end of input.  Ctrl-C ends the process: no turn runs."""
    end_at_once()
    try:
        return input(prompt)
    except EOFError:
        sys.stdout.write("\n")
        return None


def asks_for_trust(workspace: str, home: str) -> bool:
    """Ask once whether the project is trusted, and note the answer."""
    sys.stderr.write(f"Is the project in {workspace} trusted? Its AGENTS.md is read then.\n")
    answer = ask_line("Trust it? [y/N] ")
    trusted = (answer or "").strip().lower() in {"y", "yes"}
    try:
        trust_file_of(home).save(workspace, trusted=trusted)
    except (OSError, TrustInvalidError) as error:
        sys.stderr.write(f"radian: the answer can't be kept: {error}\n")
    return trusted
