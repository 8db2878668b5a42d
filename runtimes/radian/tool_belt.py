"""A session's tools: those that are built in, and those of MCP servers, which come and go."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from actors.platform import Condition
    from runtimes.models.base import Cancel
    from runtimes.models.base import Tool as OfferedTool
    from runtimes.radian.tools.base import Tool


class MoreTools(Protocol):
    """Where tools come from while a session runs.  Any thread may ask."""

    def await_start(self, cancel: Cancel) -> Iterator[str]:
        """Wait, bounded, until it is known what there is; yield what people should know."""
        ...

    def offered(self) -> tuple[OfferedTool, ...]:
        """Return what the model may call now."""
        ...


class LaterTools(Mapping[str, "Tool"]):
    """Tools that are made when somebody first asks: who opens a session need not wait for them."""

    def __init__(self, make: Callable[[], Mapping[str, Tool]], lock: Condition) -> None:
        self._make = make
        self._lock = lock
        self._known: Mapping[str, Tool] | None = None

    def made(self) -> Mapping[str, Tool]:
        """Return them; any thread may ask."""
        with self._lock:
            if self._known is None:
                self._known = self._make()
            return self._known

    def __getitem__(self, name: str) -> Tool:
        return self.made()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.made())

    def __len__(self) -> int:
        return len(self.made())


class ToolBelt(Mapping[str, "Tool"]):
    """Looks a tool up when it is called.  ``more`` never loses one that it had."""

    def __init__(
        self, built_in: Mapping[str, Tool], more: Callable[[], Mapping[str, Tool]]
    ) -> None:
        self._built_in = built_in
        self._more = more

    def __getitem__(self, name: str) -> Tool:
        return self._built_in[name] if name in self._built_in else self._more()[name]

    def __iter__(self) -> Iterator[str]:
        yield from self._built_in
        yield from self._more()

    def __len__(self) -> int:
        return len(self._built_in) + len(self._more())

    def without(self, name: str) -> ToolBelt:
        """Return the same without one that is built in."""
        return ToolBelt(without(self._built_in, name), self._more)


def without(tools: Mapping[str, Tool], name: str) -> Mapping[str, Tool]:
    """Return tools but for one that is built in."""
    if isinstance(tools, ToolBelt):
        return tools.without(name)
    return {key: tool for key, tool in tools.items() if key != name}
