"""One provider's wire format: how a call is put, and what reads the answer.  Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from protocol.named_tuple import NamedTuple

if TYPE_CHECKING:
    from runtimes.models.base import Image, Message, ModelRequest, Part, Role
    from runtimes.models.config import ProviderConfig
    from runtimes.models.stream_parser import StreamParser

NO_EFFORT = "the provider does not take --effort for this model"
NO_LIMIT = "the provider takes no limit of output tokens"
NO_TEMPERATURE = "the provider takes no temperature"


class Optional(NamedTuple):
    """A field that some servers refuse; the call is then sent again without it."""

    name: str
    words: str
    """What the refusal must contain, in lower case."""
    note: str = ""
    """Said to people, if they should know."""


class Dialect(Protocol):
    """What `runtimes.models.wire_provider` needs to know of a kind of provider."""

    @property
    def base_url(self) -> str:
        """Where the vendor itself listens; empty where there is no such place."""
        ...

    @property
    def optional(self) -> tuple[Optional, ...]:
        """Fields that a server may refuse, the more likely ones first."""
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


def sides(messages: tuple[Message, ...]) -> list[tuple[Role, list[Part]]]:
    """Return (role, parts) with the parts of one side's neighbouring messages joined."""
    joined: list[tuple[Role, list[Part]]] = []
    for message in messages:
        if joined and joined[-1][0] == message.role:
            joined[-1][1].extend(message.parts)
        else:
            joined.append((message.role, list(message.parts)))
    return joined
