"""Opening a session: the leaf thread between a request and the answer that names the session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from actors.faults import WITH_ERROR, point
from actors.gate import GateClosed
from actors.messages import SessionAnswered, SessionOpened, SessionRefused
from protocol.errors import InternalError, ProtocolError
from protocol.jsonrpc import encode_result

if TYPE_CHECKING:
    from actors.address import Address
    from actors.connection import Connection
    from actors.faults import Faults
    from actors.messages import RouterMessage
    from actors.opened_session import OpenedSession
    from actors.runtime import Runtime
    from actors.switchboard import Open

BEFORE_OPEN = point("session.open", "a runtime is about to open a session", WITH_ERROR)


def open_session(
    order: Open,
    runtime: Runtime,
    connection: Connection,
    router: Address[RouterMessage],
    faults: Faults,
) -> None:
    """Open a session and answer for it: what is replayed, the answer, what follows it.

    May look at the disk and wait at the gate.  The router learns of the session before the client
    does, so that a prompt that comes at once finds it; turns start when the answer has left.
    """
    try:
        faults.at(BEFORE_OPEN, type(order.wanted).__name__)
        opened = runtime.open_session(order.wanted)
    except BaseException as error:  # noqa: BLE001 - the request must be answered whatever happens
        wanted_id: str | None = getattr(order.wanted, "session_id", None)
        router.tell(SessionRefused(order.request_id, wanted_id, _worded(error)))
        return
    router.tell(SessionOpened(opened))
    try:
        _tell_client(order, opened, runtime, connection)
    except GateClosed:
        pass  # the connection is over
    except BaseException as error:  # noqa: BLE001 - the client has its answer by now
        _log(error)
    finally:
        router.tell(SessionAnswered(opened.session_id))


def _tell_client(
    order: Open, opened: OpenedSession, runtime: Runtime, connection: Connection
) -> None:
    try:
        if opened.before:
            connection.gate.put(runtime.render_items(opened.session_id, opened.before))
        answer = encode_result(order.request_id, opened.result)
    except GateClosed:
        raise
    except BaseException:
        connection.answer(order.request_id, InternalError())
        raise
    if connection.settle(order.request_id):
        connection.deliver(order.request_id, answer)
    if opened.after:
        connection.gate.put(runtime.render_items(opened.session_id, opened.after))


def _worded(error: BaseException) -> ProtocolError:
    if isinstance(error, ProtocolError):
        return error
    _log(error)
    return InternalError()


def _log(error: BaseException) -> None:
    from actors.logs import log

    log().opt(exception=error).error("opening a session failed")
