"""ModelCallActor: owns the model streams of one session; each runs on a leaf thread of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from actors.base import Actor
from actors.cancel import CancelSignal
from actors.faults import WITH_ERROR, point
from protocol.named_tuple import NamedTuple
from protocol.values import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from actors.address import Address
    from actors.base import System
    from actors.work import CancelToken, OutputSource

BEFORE_OPEN = point("model.open", "a model's stream is about to be opened", WITH_ERROR)
BEFORE_CHUNK = point("model.chunk", "a piece of a model's stream has arrived", WITH_ERROR)


def _everything(event: Any) -> bool:
    del event
    return True


@frozen
class ModelRequest:
    """One call: how to open the stream, and who gets to know what of it.

    ``open`` runs on the leaf thread and yields the provider's events; it must end soon after the
    token is set, and may yield what it has so far as its last event.  ``render`` is pure and turns
    one event into outlet items; nothing is rendered after a cancel.  ``tells`` says which events
    the turn hears: thousands of deltas need not pass its mailbox one by one.
    """

    open: Callable[[CancelToken], Iterable[Any]]
    render: Callable[[Any], Iterable[Any]]
    tells: Callable[[Any], bool] = _everything


@frozen
class ModelEnded:
    """The last event of every call; ``error`` is set when it failed."""

    how: Literal["done", "cancelled", "failed"]
    error: BaseException | None = None


class StartModelCall(NamedTuple):
    """Executor to model call: open a stream and tell ``heard`` of each event.

    ``call_id`` must be new in its session: an abort may come before its start, or after its end.
    """

    call_id: str
    request: ModelRequest
    source: OutputSource
    heard: Callable[[str, Any], None]


class AbortModelCall(NamedTuple):
    """Executor to model call: end a stream; its `ModelEnded` still follows."""

    call_id: str

    @property
    def urgent(self) -> bool:
        """It travels in the control lane."""
        return True


class ModelCallEnded(NamedTuple):
    """Leaf thread to model call: the stream is over."""

    call_id: str


ModelCallMessage: TypeAlias = StartModelCall | AbortModelCall | ModelCallEnded


class ModelCallActor(Actor[ModelCallMessage]):
    """Starts and aborts streams.  Never waits for one."""

    def __init__(self, system: System, address: Address[ModelCallMessage]) -> None:
        """Own no stream yet."""
        super().__init__(system, address)
        self._live: dict[str, CancelSignal] = {}
        self._aborted_early: set[str] = set()

    def receive(self, message: ModelCallMessage) -> None:
        """Start, abort or forget a stream."""
        match message:
            case StartModelCall():
                self._start(message)
            case AbortModelCall(call_id):
                self._abort(call_id)
            case ModelCallEnded(call_id):
                self._live.pop(call_id, None)
                self._aborted_early.discard(call_id)

    def last_words(self, message: ModelCallMessage) -> None:
        """A call that never started has ended all the same."""
        if isinstance(message, StartModelCall) and message.call_id not in self._live:
            lost = ModelEnded("failed", RuntimeError("the model call actor crashed"))
            message.heard(message.call_id, lost)

    def ended(self, reason: BaseException | None) -> None:
        """End every stream with us, also after a crash: each still tells its own end."""
        del reason
        for signal in self._live.values():
            signal.set()

    def _start(self, call: StartModelCall) -> None:
        signal = self._live[call.call_id] = CancelSignal(self.system.platform)
        if call.call_id in self._aborted_early:
            signal.set()
        self.system.platform.spawn(f"model {call.call_id}", lambda: self._run(call, signal))

    def _abort(self, call_id: str) -> None:
        signal = self._live.get(call_id)
        if signal is not None:
            signal.set()
        else:  # it overtook its start in the mailbox, or the call is over
            self._aborted_early.add(call_id)

    def _run(self, call: StartModelCall, signal: CancelSignal) -> None:
        ended = ModelEnded("done")
        signal.on_cancel(call.source.end)
        try:
            self.system.faults.at(BEFORE_OPEN, call.call_id)
            for event in call.request.open(signal):
                self.system.faults.at(BEFORE_CHUNK, call.call_id)
                if not signal.is_set():
                    call.source.offer(call.request.render(event))
                if call.request.tells(event):
                    call.heard(call.call_id, event)
        except BaseException as error:  # noqa: BLE001 - told to the turn, which decides what it means
            ended = ModelEnded("failed", error)
        call.heard(call.call_id, ModelEnded("cancelled") if signal.is_set() else ended)
        self.address.tell(ModelCallEnded(call.call_id))
