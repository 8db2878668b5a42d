"""A prompt's turn that brings pictures: they are kept beside the journal before it begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from actors.turn import (
    AbortStep,
    CancelAsked,
    EndTurn,
    MachineFailed,
    StartStep,
    StepEnded,
    TurnResult,
    TurnStarted,
)
from actors.work import CallableWork
from protocol.errors import InternalError, InvalidParams, InvalidRequest
from protocol.values import frozen
from runtimes.radian.images import MAX_IMAGE_BYTES, mime_type_of
from runtimes.radian.prompt_turn import Picture
from runtimes.radian.session_errors import JournalError, for_client

if TYPE_CHECKING:
    from collections.abc import Sequence

    from actors.turn import TurnEffect, TurnEvent, TurnMachine
    from actors.work import StepEnd, Stream, WorkContext
    from runtimes.radian.prompt_turn import Brought
    from runtimes.radian.records import ImageFile, UserPart
    from runtimes.radian.session import AgentSession

KEEP = "keep-pictures"


@frozen
class Kept:
    """What a prompt brings, as it is recorded."""

    content: tuple[UserPart, ...]


class PictureTurn:
    """Puts a prompt's pictures beside the journal, then is the agent's turn."""

    def __init__(self, session: AgentSession, brought: Sequence[Brought]) -> None:
        """``brought`` is the prompt's content, in order."""
        self._session = session
        self._brought = brought
        self._inner: TurnMachine | None = None
        self._cancelled = False

    def handle(self, event: TurnEvent) -> Sequence[TurnEffect]:
        """Take one event; see `actors.turn.TurnMachine`."""
        if self._inner is not None:
            return self._inner.handle(event)
        match event:
            case TurnStarted():
                return [StartStep(KEEP, CallableWork(KEEP, self._keep), _nothing)]
            case StepEnded(end):
                return self._kept(end)
            case CancelAsked():
                self._cancelled = True
                return [AbortStep(KEEP)]
            case MachineFailed():
                return [EndTurn(TurnResult(error=InternalError()))]
            case _:
                return []

    def _keep(self, context: WorkContext) -> Kept | InvalidParams | InvalidRequest:
        del context
        try:
            return Kept(
                tuple(
                    self._kept_picture(each) if isinstance(each, Picture) else each
                    for each in self._brought
                )
            )
        except InvalidParams as error:
            return error
        except JournalError as error:
            return InvalidRequest(for_client(error, self._session.plan.settings.home))

    def _kept_picture(self, picture: Picture) -> ImageFile:
        data = _decoded(picture)
        mime_type = mime_type_of(data)
        if mime_type is None:
            message = f"{picture.where} is no picture: png, jpeg, gif or webp, by its content"
            raise InvalidParams(message)
        return self._session.side_files.keep_image(data, mime_type)

    def _kept(self, end: StepEnd) -> Sequence[TurnEffect]:
        found = end.value
        if self._cancelled:
            return [EndTurn(TurnResult("cancelled"))]
        if isinstance(found, InvalidParams | InvalidRequest):
            return [EndTurn(TurnResult(error=found))]
        if not isinstance(found, Kept):
            return [EndTurn(TurnResult(error=InternalError()))]
        self._inner = self._session.turn(found.content)
        return self._inner.handle(TurnStarted())


def _decoded(picture: Picture) -> bytes:
    import base64
    import binascii

    if len(picture.data) > MAX_IMAGE_BYTES * 4 // 3 + 4:
        message = f"{picture.where} has more than {MAX_IMAGE_BYTES} bytes"
        raise InvalidParams(message)
    try:
        return base64.b64decode(picture.data, validate=True)
    except (binascii.Error, ValueError) as error:
        message = f"{picture.where} is not base64"
        raise InvalidParams(message) from error


def _nothing(stream: Stream, text: str) -> tuple[()]:
    del stream, text
    return ()
