"""One provider's wire format: how a call is put, and what reads the answer.  Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runtimes.models.base import Image, Message, ModelRequest, Part
    from runtimes.models.config import ProviderConfig
    from runtimes.models.stream_parser import StreamParser


class Dialect(Protocol):
    """What `runtimes.models.wire_provider` needs to know of a kind of provider."""

    @property
    def base_url(self) -> str:
        """Where the vendor itself listens; empty where there is no such place."""
        ...

    @property
    def optional(self) -> Mapping[str, str]:
        """Fields that a server may refuse: sent again without, with this remark if it is any."""
        ...

    def path(self, request: ModelRequest) -> str:
        """Return what follows the base URL."""
        ...

    def headers(self, key: str | None) -> dict[str, str]:
        """Return the headers that carry the key, and what else the vendor demands."""
        ...

    def body(
        self, request: ModelRequest, config: ProviderConfig, omit: frozenset[str]
    ) -> dict[str, Any]:
        """Return the call; ``omit``: optional fields that this server has refused."""
        ...

    def parser(self, request: ModelRequest) -> StreamParser:
        """Return what reads the answer."""
        ...


def data_url(image: Image) -> str:
    """Return a picture as OpenAI's APIs take it."""
    return f"data:{image.mime_type};base64,{image.data}"


def sides(messages: tuple[Message, ...]) -> list[tuple[str, list[Part]]]:
    """Return (role, parts) with the parts of one side's neighbouring messages joined."""
    joined: list[tuple[str, list[Part]]] = []
    for message in messages:
        if joined and joined[-1][0] == message.role:
            joined[-1][1].extend(message.parts)
        else:
            joined.append((message.role, list(message.parts)))
    return joined
