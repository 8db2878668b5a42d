"""The requests that chant put to its client and that a later prompt answers.

They live as long as the process: what is lasting is the pending fact on the ledger.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from protocol.values import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runtimes.chant.verbs.verb import Invocation

ALLOW = "allow"
REJECT = "reject"
OptionId: TypeAlias = Literal["allow", "reject"]
OPTIONS: dict[str, OptionId] = {"allow": "allow", "reject": "reject"}

MAX_OPEN = 256
"""Requests kept for a client that answers none of them; the oldest are dropped."""


@frozen
class OpenRequest:
    """One request that was sent and not answered."""

    request_id: str
    """Also its id on the wire, so that "the request id" means one thing to a client."""
    session_id: str
    invocation: Invocation
    """The command line that stopped; it is run again when the gate is opened."""
    fact: Mapping[str, Any]
    """The pending fact of the gate."""


@frozen
class Permission:
    """What a prompt says of a request: `_meta.chant.permission`, read."""

    request_id: str
    option: OptionId


@frozen
class UnclearPermission:
    """A prompt that speaks of a request and can't be understood; ``reason`` is for the client."""

    reason: str


class PermissionDesk:
    """The open requests of one connection, for the router's thread and for those of turns.

    Each look at the dict, and each change, is one step: no lock is needed.
    """

    def __init__(self) -> None:
        """Start with none."""
        self._open: dict[tuple[str, str], OpenRequest] = {}

    def open(self, request: OpenRequest) -> None:
        """Keep a request that is about to be sent."""
        self._open[request.session_id, request.request_id] = request
        for oldest in list(self._open)[:-MAX_OPEN]:
            self._open.pop(oldest, None)  # a cancel may have closed it meanwhile

    def take(self, session_id: str, request_id: str) -> OpenRequest | None:
        """Close a request that a prompt of its session answers; None when there is none."""
        return self._open.pop((session_id, request_id), None)

    def close_all(self, session_id: str) -> None:
        """Close a session's requests: the client cancelled."""
        for key in list(self._open):
            if key[0] == session_id:
                self._open.pop(key, None)

    def __len__(self) -> int:
        """How many requests are open."""
        return len(self._open)


def read_permission(meta: Mapping[str, Any]) -> Permission | UnclearPermission | None:
    """Read a prompt's ``_meta``; None when it says nothing of a request."""
    chant = meta.get("chant")
    if not isinstance(chant, dict) or "permission" not in chant:
        return None
    said: Any = cast("dict[str, Any]", chant)["permission"]
    if not isinstance(said, dict):
        return UnclearPermission("_meta.chant.permission must be an object")
    permission = cast("dict[str, Any]", said)
    request_id, option = permission.get("requestId"), permission.get("optionId")
    if not isinstance(request_id, str):
        return UnclearPermission("_meta.chant.permission.requestId must be a text")
    if not isinstance(option, str) or option not in OPTIONS:
        known = " or ".join(OPTIONS)
        return UnclearPermission(f"_meta.chant.permission.optionId must be {known}")
    return Permission(request_id, OPTIONS[option])
