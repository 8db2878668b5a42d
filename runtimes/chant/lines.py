"""What a turn says as wire lines: updates of the session, or a request to the client.  Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from protocol.acp.updates import encode_updates
from runtimes.chant.items import PermissionAsked
from runtimes.chant.updates import updates_of

if TYPE_CHECKING:
    from runtimes.chant.items import Item


def lines_of(session_id: str, item: Item | PermissionAsked) -> list[bytes]:
    """Return the lines of one item, newline included."""
    if isinstance(item, PermissionAsked):
        from runtimes.chant.permission_request import request_line

        return [request_line(session_id, item)]
    return encode_updates(session_id, updates_of(item))
