"""A remote that can be reached and says nothing."""

from __future__ import annotations

import os
import select
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

DEATH_LIMIT_MS = 20_000


class SilentRemote:
    """An ssh that connects and then hears nothing; also tells that nobody waits for it."""

    def __init__(self, folder: Path) -> None:
        sign = folder / "sign"
        silence = folder / "silence"
        os.mkfifo(sign)
        os.mkfifo(silence)
        self._sign = os.open(sign, os.O_RDONLY | os.O_NONBLOCK)
        self._poll = select.poll()
        self._poll.register(self._sign, select.POLLIN)
        self.command = folder / "ssh"
        self.command.write_text(f"#!/bin/sh\nexec 3>{sign}\necho here >&3\necho <{silence}\n")
        self.command.chmod(0o755)

    def is_set(self) -> bool:
        """As soon as it is being talked to."""
        return bool(self._poll.poll(0))

    def is_gone(self) -> bool:
        """Wait until no process of it lives."""
        os.read(self._sign, 1024)
        gone = bool(self._poll.poll(DEATH_LIMIT_MS))
        os.close(self._sign)
        return gone
