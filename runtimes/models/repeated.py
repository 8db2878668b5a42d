"""Messages as they were sent before: a conversation grows, and most of each call repeats the last.

Pure.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

from runtimes.models.dialect import sides

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from runtimes.models.base import Message, Part, Role

    Convert: TypeAlias = Callable[[Role, Sequence[Part]], list[dict[str, Any]]]


class Repeated:
    """Converts each message once, while calls go on with the same conversation.

    Threads may share it; conversations that take turns cost what they would without it.
    """

    def __init__(self) -> None:
        """Know nothing."""
        self._known: dict[int, tuple[Message, list[dict[str, Any]]]] = {}
        """By identity; holds the message, so that no other one can have its identity."""
        self._settings: object = None

    def convert(
        self, messages: tuple[Message, ...], convert: Convert, settings: object
    ) -> list[dict[str, Any]]:
        """Return ``messages`` as ``convert`` makes them of each side; nobody may change them.

        ``settings``: what else the result depends on; with others all is converted anew.
        """
        if any(one.role == next_.role for one, next_ in pairwise(messages)):
            return [each for role, parts in sides(messages) for each in convert(role, parts)]
        known, converted = self._known, list[dict[str, Any]]()
        if self._settings != settings:
            known, self._settings = {}, settings
        now: dict[int, tuple[Message, list[dict[str, Any]]]] = {}
        for message in messages:
            found = known.get(id(message))
            if found is None:
                found = message, convert(message.role, message.parts)
            now[id(message)] = found
            converted += found[1]
        self._known = now
        return converted
