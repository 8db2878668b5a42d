"""`initialize` waits for every import, so what it needs must load little."""

from __future__ import annotations

import subprocess
import sys

from tests.shared import ROOT

HANDSHAKE = "framing, errors, jsonrpc, owed, pending, handshake"
SCRIPT = f"""
import sys
import __future__, orjson, dataclasses, typing, collections.abc
before = set(sys.modules)
from protocol import {HANDSHAKE}
print(*sorted(set(sys.modules) - before))
"""


def test_the_way_to_the_handshake_loads_nothing_but_its_own_modules() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=ROOT, capture_output=True, text=True, check=True
    )

    own = {f"protocol.{name}" for name in HANDSHAKE.split(", ")}
    assert set(done.stdout.split()) == own | {
        "protocol",
        "protocol.constructors",
        "protocol.members",
        "protocol.named_tuple",
        "protocol.writable",
    }
