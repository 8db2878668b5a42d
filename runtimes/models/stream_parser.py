"""What reads one answer, event by event; each wire format has one.  Pure."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Protocol

from runtimes.models.base import CallFailed, Finished

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runtimes.models.base import FinishReason, ModelEvent, ModelRequest

NO_JSON = "it sent an event that is no JSON"
CUT = "its answer ended without saying that it was over"


class StreamParser(Protocol):
    """Reads the events of one answer."""

    @property
    def over(self) -> bool:
        """Whether the answer has said that it is over, or has failed: no need to read on."""
        ...

    def take(self, data: bytes) -> Sequence[ModelEvent]:
        """Read one event and return what it brings, never the last event of the call."""
        ...

    def take_all(self, datas: Sequence[bytes]) -> list[ModelEvent]:
        """Read events in their order, as `take` does; none of them after the answer is over."""
        ...

    def end(self, cause: str = CUT) -> Sequence[ModelEvent]:
        """Return what is left, and at last `Finished` or `CallFailed`.

        ``cause`` says why nothing more comes; it becomes the message if the answer lacks its end.
        """
        ...


def one_by_one(parser: StreamParser, datas: Sequence[bytes]) -> list[ModelEvent]:
    """Return what `StreamParser.take_all` returns, where no two events are alike."""
    events: list[ModelEvent] = []
    for data in datas:
        events += parser.take(data)
        if parser.over:
            break
    return events


def new_call_id() -> str:
    """Return an id for a call that came without one."""
    return f"call_{os.urandom(9).hex()}"


def bare_tools(request: ModelRequest) -> frozenset[str]:
    """Return the names of the tools that take no arguments."""
    return frozenset(each.name for each in request.tools if not each.schema.get("properties"))


def arguments_of(name: str, sent: str, bare: frozenset[str]) -> str | None:
    """Return the arguments of a finished call, or None when they never arrived.

    Nothing is only taken for ``{}`` where nothing else can be meant.
    """
    if sent.strip():
        return sent
    return "{}" if name in bare else None


def without_arguments(name: str) -> CallFailed:
    """Return what becomes of an answer with such a call: it is not to be trusted."""
    return CallFailed(f"its call of {name or 'a tool without a name'} is not whole", retry=True)


class Called:
    """The calls of one answer.  Some proxies send an event twice, which is to be one call."""

    def __init__(self) -> None:
        """Know none."""
        self._known: dict[str, set[tuple[str, str]]] = {}
        self.any = False

    def again(self, given_id: str, name: str, arguments: str) -> bool:
        """Note a call, and tell whether it is the very one that came under this id before.

        ``given_id`` is the provider's; empty: nothing tells the call from another like it.
        """
        self.any = True
        same_id = self._known.setdefault(given_id, set())
        if given_id and (name, arguments) in same_id:
            return True
        same_id.add((name, arguments))
        return False

    def knows(self, given_id: str) -> bool:
        """Tell whether a call came under this id."""
        return given_id in self._known


def finished(reason: FinishReason | None, detail: str, *, calls: bool) -> Finished:
    """Look at the content, then at the reason: calls are to be run, and no calls are not.

    ``reason`` None: a word that we don't know.
    """
    if reason is None:
        return Finished("broken", detail)
    if reason in {"stop", "tools"}:
        return Finished("tools" if calls else "stop", detail)
    return Finished(reason, detail)
