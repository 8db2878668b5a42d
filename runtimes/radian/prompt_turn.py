"""A prompt of a client as a turn: what it brings is checked and kept before the turn begins."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

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
from protocol.acp.prompts import EmbeddedResource, Image, ResourceLink
from protocol.acp.prompts import Text as TextBlock
from protocol.errors import InternalError, InvalidParams, InvalidRequest
from protocol.values import frozen
from runtimes.models.base import Text
from runtimes.radian.images import MAX_IMAGE_BYTES, mime_type_of
from runtimes.radian.records import Resource
from runtimes.radian.session_errors import JournalError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from actors.turn import TurnEffect, TurnEvent, TurnMachine
    from actors.work import StepEnd, Stream, WorkContext
    from protocol.acp.prompts import ContentBlock, Prompt
    from runtimes.radian.records import ImageFile, UserPart
    from runtimes.radian.session import AgentSession

KEEP = "keep-pictures"


@frozen
class Picture:
    """A picture as the client sent it, in base64; ``where`` names it for people."""

    data: str
    where: str


@frozen
class Kept:
    """What a prompt brings, as it is recorded."""

    content: tuple[UserPart, ...]


Brought: TypeAlias = "UserPart | Picture"


def turn_for(session: AgentSession, prompt: Prompt) -> TurnMachine:
    """Make the machine of a prompt's turn.  Decodes and writes nothing yet.

    Raises:
        InvalidParams: It says nothing, or shows pictures to a model that can't see them.

    """
    brought = [_brought(block, at) for at, block in enumerate(prompt.blocks)]
    if all(isinstance(each, Text) and not each.text.strip() for each in brought):
        message = "the prompt is empty"
        raise InvalidParams(message)
    content = [each for each in brought if not isinstance(each, Picture)]
    if len(content) == len(brought):
        return session.turn(content)
    settings = session.plan.settings
    if settings.provider.facts(settings.model).images is False:
        message = f"model {settings.model} can't see pictures"
        raise InvalidParams(message)
    return PictureTurn(session, brought)


def _brought(block: ContentBlock, at: int) -> Brought:
    match block:
        case TextBlock(text):
            return Text(text)
        case ResourceLink(uri, name):
            return Resource(uri, name)
        case Image(data):
            return Picture(data, f"prompt[{at}]")
        case EmbeddedResource(uri, text=text) if text is not None:
            return Resource(uri, text=text)
        case EmbeddedResource(uri, blob=blob):
            return Picture(blob or "", f"prompt[{at}] ({uri})")
        case _:
            message = f"prompt[{at}]: sounds are not supported"
            raise InvalidParams(message)


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
            return InvalidRequest(str(error))

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
