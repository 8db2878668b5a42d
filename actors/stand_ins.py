"""Modules that stand in for others while a library is imported, which then starts sooner.

Many a library imports at its top what it needs in trouble only, or not here: `inspect`, TLS.  What
stands in is gone from `sys.modules` afterwards: whoever else imports the name gets the real one.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

UNTIL_TROUBLE = ("inspect", "traceback")
"""`dataclasses` needs the one for classes without a docstring, `logging` the other for errors."""
_PLATFORM = "platform"


class Later(ModuleType):
    """A module that is imported when something in it is first used.  Any thread may."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


class _Platform(ModuleType):
    """Tells `uuid` which system this is, and only that: the real one takes ten times as long."""

    @staticmethod
    def system() -> str:
        """Return the name as POSIX gives it."""
        return os.uname().sysname


@contextmanager
def standing_in(stand_ins: Mapping[str, Any]) -> Generator[None]:
    """Let an import inside find ``stand_ins`` by name; None: there is no such module."""
    mine = {name: module for name, module in stand_ins.items() if name not in sys.modules}
    sys.modules.update(mine)
    try:
        yield
    finally:
        for name, module in mine.items():
            if name in sys.modules and sys.modules[name] is module:
                del sys.modules[name]


@contextmanager
def without_signatures() -> Generator[None]:
    """Let `dataclass` inside write no signature where a docstring is missing.

    It would import `inspect` for it; a no-op where that has been imported.
    """
    found = getattr(sys.modules.get("dataclasses"), "inspect", None)
    changed: dict[str, Any] = vars(found) if isinstance(found, Later) else {}
    changed["signature"] = _no_signature
    try:
        yield
    finally:
        del changed["signature"]


def _no_signature(_: type) -> str:
    return ""


def import_libraries() -> None:
    """Import orjson and pykka in two thirds of their time; before anything else imports them."""
    stand_ins: dict[str, Any] = {name: Later(name) for name in UNTIL_TROUBLE}
    if "uuid" not in sys.modules:
        stand_ins[_PLATFORM] = _Platform(_PLATFORM)
    with standing_in(stand_ins):
        import_module("orjson")
        import_module("pykka")
