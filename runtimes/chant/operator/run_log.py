"""Where an operator writes what it does: a file of its own that is rotated, and stderr."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, Any

from actors.logs import full_log, say
from runtimes.chant.render import TerminalView

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_FILE = "5 MB"
KEPT_FILES = 5


class OperatorLog:
    """The log of one operator.  What runs print is only in the file."""

    def __init__(self, state_dir: str, env: str) -> None:
        """Open the file, new or where it ended.

        Raises:
            OSError: It can't be written.

        """
        self.path = os.path.join(state_dir, "operator", f"{env}.log")
        self._sink = full_log().add(
            self.path,
            level="INFO",
            format="{time:YYYY-MM-DDTHH:mm:ss.SSSZZ} {level} {message}",
            rotation=MAX_FILE,
            retention=KEPT_FILES,
            diagnose=False,
            backtrace=False,
        )

    def tell(self, text: str) -> None:
        """Write one line for people."""
        full_log().info("{}", text)
        say(text)

    def close(self) -> None:
        """Let the file go."""
        full_log().remove(self._sink)


class LoggedRun:
    """Shows one run in the log."""

    def __init__(self) -> None:
        self._bytes = io.BytesIO()
        self._page = io.TextIOWrapper(self._bytes, encoding="utf-8", newline="\n")
        self._view = TerminalView(self._page, self._page, colors=False)

    def show(self, items: Sequence[Any]) -> None:
        """Write a line for each line that a terminal would show."""
        self._view.show(items)
        self._page.flush()
        for line in self._bytes.getvalue().decode("utf-8").splitlines():
            full_log().info("{}", line)
        self._page.seek(0)
        self._page.truncate()
