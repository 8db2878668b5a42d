"""Radian's own folder: where sessions, trust, keys and the configuration lie."""

from __future__ import annotations

import os

from actors.faults import NoFaults
from runtimes.radian.sessions import Sessions
from runtimes.radian.trust import TrustFile

SESSIONS = "sessions"
TRUST = "trust.json"


def sessions_of(home: str) -> Sessions:
    """Return the sessions below radian's own folder."""
    return Sessions(os.path.join(home, SESSIONS), NoFaults())


def trust_file_of(home: str) -> TrustFile:
    """Return the trust file in radian's own folder."""
    return TrustFile(os.path.join(home, TRUST), NoFaults())
