"""Modules that stand in for others while a library is imported, which then starts sooner.

Many a library imports at its top what it needs in trouble only, or not here: `inspect`, TLS.  What
stands in is never in `sys.modules`: whoever else imports the name gets the real one, also another
thread at the same time.
"""

from __future__ import annotations

import builtins
import os
import sys
from _thread import allocate_lock, get_ident
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from protocol.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Container, Generator, Mapping, Sequence

_INSPECT = "inspect"
"""`dataclasses` needs it for classes without a docstring."""
_UNTIL_TROUBLE = ("traceback", "ipaddress")
"""Who logs needs the one for errors, `urllib.parse` the other for hosts in brackets."""
_LOGGING = "logging"
_RESOURCES = "importlib.resources"
_TYPING = "typing"
_PLATFORM = "platform"
_one_at_a_time = allocate_lock()


class Later(ModuleType):
    """A module that is imported when something in it is first used.  Any thread may."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(import_module(self.__name__), name)


class _Platform(Later):
    """Tells `uuid` which system this is: the real one takes ten times as long."""

    @staticmethod
    def system() -> str:
        """Return the name as POSIX gives it."""
        return os.uname().sysname


class _Inspect(Later):
    """Knows how texts of one line look, and what a class says of its members."""

    @staticmethod
    def cleandoc(text: str) -> str:
        """Return what the real one does."""
        if "\n" in text:
            cleaned: str = import_module(_INSPECT).cleandoc(text)
            return cleaned
        return text.expandtabs().lstrip()

    @staticmethod
    def get_annotations(of: Any, **named: Any) -> dict[str, Any]:
        """Return what the real one does; `dataclass` asks for each class, from Python 3.12 on."""
        if isinstance(of, type) and not named and sys.version_info < (3, 14):
            return _own_annotations(of)
        return dict(import_module(_INSPECT).get_annotations(of, **named))


class LaterLogging(Later):
    """Loses what libraries log below a warning until somebody imports the real one.

    It says where records go: before, that is nowhere.
    """

    DEBUG = 10
    NullHandler = object

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._loggers: dict[str, _Logger] = {}

    def getLogger(self, name: str = "") -> _Logger:  # noqa: N802 - its own name
        """Return what stands in for the logger of a name."""
        return self._loggers.setdefault(name, _Logger(name))


class _Logger:
    def __init__(self, name: str) -> None:
        self.name = name
        self._handlers: list[object] = []

    def addHandler(self, handler: object) -> None:  # noqa: N802 - its own name
        """Add one at once, or one that takes no record when there is one to take."""
        if type(handler) is object:
            self._handlers.append(handler)
        else:
            self._real().addHandler(handler)

    def isEnabledFor(self, level: int) -> bool:  # noqa: N802 - its own name
        """Tell whether a record of ``level`` would go anywhere."""
        if level <= LaterLogging.DEBUG and _LOGGING not in sys.modules:
            return False
        told: bool = self._real().isEnabledFor(level)
        return told

    def __getattr__(self, name: str) -> Any:
        if name in {"debug", "info"} and _LOGGING not in sys.modules:
            return _lose
        return getattr(self._real(), name)

    def _real(self) -> Any:
        logging = import_module(_LOGGING)
        real = logging.getLogger(self.name)
        while self._handlers:
            self._handlers.pop()
            real.addHandler(logging.NullHandler())
        return real


def _lose(*_: object, **__: object) -> None:
    pass


class _Typing(Later):
    """Has the `NamedTuple` that is declared in a tenth of the time."""

    NamedTuple = NamedTuple


class _Resources(Later):
    """Finds a package's files when somebody asks for them."""

    @staticmethod
    def files(anchor: Any) -> Any:
        """Return what the real one does."""
        return import_module(_RESOURCES).files(anchor)


@contextmanager
def standing_in(stand_ins: Mapping[str, Any], always: Container[str] = ()) -> Generator[None]:
    """Let imports inside, on this thread, find ``stand_ins``; None: there is no such module.

    One that is imported already is found as it is, but for ``always``.  ``import a.b`` without
    ``as`` finds the real one, since it asks for ``a``.  Threads that come at the same time wait
    for each other.
    """
    mine, thread = dict(stand_ins), get_ident()

    def find(  # the names are what others may call it with
        name: str,
        globals: Mapping[str, Any] | None = None,  # noqa: A002
        locals: Mapping[str, Any] | None = None,  # noqa: A002
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> Any:
        if get_ident() == thread and (fromlist or "." not in name):
            whole = _absolute(name, globals, level)
            if whole in mine and (whole in always or whole not in sys.modules):
                if mine[whole] is None:
                    message = f"No module named {whole!r}"
                    raise ModuleNotFoundError(message, name=whole)
                return mine[whole]
        return found_by(name, globals, locals, fromlist, level)

    with _one_at_a_time:
        found_by = builtins.__import__
        builtins.__import__ = find
        try:
            yield
        finally:
            mine.clear()  # somebody may have put himself before us, and ask us for ever
            if builtins.__import__ is find:
                builtins.__import__ = found_by


def _absolute(name: str, module: Mapping[str, Any] | None, level: int) -> str:
    """Return the whole name of what ``module`` imports."""
    if not level:
        return name
    package = (module or {}).get("__package__") or ""
    return f"{package.rsplit('.', level - 1)[0]}.{name}"


@contextmanager
def without_signatures() -> Generator[None]:
    """Let `dataclass` inside write no signature where a docstring is missing.

    It would import `inspect` for it, and from Python 3.12 on for the annotations of each class; a
    no-op where that has been imported.
    """
    found = getattr(sys.modules.get("dataclasses"), "inspect", None)
    changed: dict[str, Any] = vars(found) if isinstance(found, Later) else {}
    changed |= {"signature": _no_signature, "get_annotations": _own_annotations}
    try:
        yield
    finally:
        del changed["signature"], changed["get_annotations"]


def _no_signature(_: type) -> str:
    return ""


def _own_annotations(cls: type) -> dict[str, Any]:
    return dict(vars(cls).get("__annotations__", ()))


@contextmanager
def until_trouble() -> Generator[None]:
    """Let what is imported inside, on this thread, do without what it needs in trouble only."""
    with standing_in(_until_trouble()):
        yield


def _until_trouble() -> dict[str, Any]:
    stand_ins: dict[str, Any] = {name: Later(name) for name in _UNTIL_TROUBLE}
    stand_ins[_INSPECT] = _Inspect(_INSPECT)
    stand_ins[_LOGGING] = LaterLogging(_LOGGING)
    stand_ins[_RESOURCES] = _Resources(_RESOURCES)
    if "uuid" not in sys.modules:
        stand_ins[_PLATFORM] = _Platform(_PLATFORM)
    return stand_ins


def import_libraries() -> None:
    """Import orjson and pykka in half of their time; before anything else imports them."""
    with until_trouble():
        import_module("orjson")
    stand_ins = _until_trouble() | {_TYPING: _Typing(_TYPING)}
    with standing_in(stand_ins, always={_TYPING}):
        import_module("pykka")
