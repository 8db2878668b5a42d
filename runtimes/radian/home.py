"""Radian's own folder: where sessions, trust, keys and the configuration lie."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from actors.faults import NoFaults
from runtimes.radian.journal_disk import THE_JOURNALS
from runtimes.radian.sessions import Sessions
from runtimes.radian.trust import TrustFile

if TYPE_CHECKING:
    from actors.faults import Faults
    from runtimes.radian.journal_disk import JournalDisk

SESSIONS = "sessions"
TRUST = "trust.json"


def sessions_of(
    home: str, faults: Faults | None = None, disk: JournalDisk = THE_JOURNALS
) -> Sessions:
    """Return the sessions below radian's own folder."""
    return Sessions(os.path.join(home, SESSIONS), faults or NoFaults(), disk)


def trust_file_of(home: str) -> TrustFile:
    """Return the trust file in radian's own folder."""
    return TrustFile(os.path.join(home, TRUST), NoFaults())
