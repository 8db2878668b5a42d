"""Tables of a declaration in Python, each with the line it was made in.  Pure."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType

MODULE_NAME = "chant_op"
"""What a file of an Op is called while it is evaluated."""


class Declared:
    """A table of a declaration; ``line`` is where in its file it was made (0: elsewhere)."""

    __slots__ = ("line", "table")

    def __init__(self, table: Mapping[str, Any]) -> None:
        self.table = {key: plain(value, key) for key, value in table.items() if value is not None}
        self.line = _line()


class Step(Declared):
    """One step of a phase."""


class Phase(Declared):
    """A phase and its steps."""


def plain(value: Any, where: str) -> Any:
    """Return ``value`` in the types of a declaration.

    Raises:
        TypeError: It holds something that no TOML file could.

    """
    if isinstance(value, Declared | str | int | float):
        return value
    if isinstance(value, Mapping):
        table = cast("Mapping[object, Any]", value)
        if any(not isinstance(key, str) for key in table):
            message = f"{where} has a key that is no text"
            raise TypeError(message)
        return {key: plain(item, f"{where}.{key}") for key, item in table.items()}
    if isinstance(value, list | tuple):
        items = cast("Sequence[Any]", value)
        return [plain(item, f"{where}[{index}]") for index, item in enumerate(items)]
    message = f"{where} is of type {type(value).__name__}; a declaration holds texts, numbers,"
    message += " true and false, lists and tables"
    raise TypeError(message)


def _line() -> int:
    """Return the line of the Op's own file that is being executed; 0 where there is none."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
    while frame is not None:
        if frame.f_globals.get("__name__") == MODULE_NAME:
            return frame.f_lineno
        frame = frame.f_back
    return 0
