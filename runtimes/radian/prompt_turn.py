"""A prompt of a client as a turn: what it brings is checked and kept before the turn begins."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from protocol.acp.prompts import EmbeddedResource, Image, ResourceLink
from protocol.acp.prompts import Text as TextBlock
from protocol.errors import InvalidParams, shown
from protocol.values import frozen
from runtimes.models.base import Text
from runtimes.radian.records import Resource

if TYPE_CHECKING:
    from actors.turn import TurnMachine
    from protocol.acp.prompts import ContentBlock, Prompt
    from runtimes.radian.records import UserPart
    from runtimes.radian.session import AgentSession


@frozen
class Picture:
    """A picture as the client sent it, in base64; ``where`` names it for people."""

    data: str
    where: str


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
    from runtimes.radian.picture_turn import PictureTurn

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
            return Picture(blob or "", f"prompt[{at}] ({shown(uri)})")
        case _:
            message = f"prompt[{at}]: sounds are not supported"
            raise InvalidParams(message)
