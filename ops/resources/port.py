"""The reader `port`."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any

from ops.resources.reader import ABSENT, Observation, present, unobserved

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.resources.reader import Look

MAX_PORT = 65535


def read(keys: Mapping[str, Any], look: Look) -> Observation:
    """See the table of readers."""
    if not 0 < keys["port"] <= MAX_PORT:
        return unobserved(f"{keys['port']} is no port")
    where = keys.get("host", "127.0.0.1"), keys["port"]
    try:
        socket.create_connection(where, timeout=look.timeout_s).close()
    except ConnectionRefusedError:
        return ABSENT
    except TimeoutError:
        return unobserved(f"no answer within {look.timeout_s:g} s")
    return present(listening=True)
