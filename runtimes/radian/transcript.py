"""From records to the messages that a model gets: any prefix of any journal makes a valid request.

Pure.  Sides alternate and the user's comes first; each call is answered by the very next message,
in the order of the calls; no message and no text is empty.  Providers answer 400 otherwise, and
a session that builds one such request is dead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtimes.models.base import ToolUse
from runtimes.models.json_text import read_object
from runtimes.radian.healing import Healing
from runtimes.radian.message_building import Building
from runtimes.radian.records import Compacted, ToolCall

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from runtimes.models.answer import AnswerPart
    from runtimes.models.base import Message
    from runtimes.radian.message_building import LoadImage
    from runtimes.radian.records import AssistantPart, Entry, ImageFile


def no_images(image: ImageFile) -> str | None:
    """Load none: for views in which pictures don't matter."""
    del image
    return None


class Transcript:
    """A conversation that grows; each record is looked at once, but for compactions.

    ``images`` returns a picture as base64, None when it is gone.  ``agent``: the conversation of
    that subagent instead of the session's own.
    """

    def __init__(
        self,
        entries: Iterable[Entry] = (),
        *,
        images: LoadImage = no_images,
        agent: str | None = None,
    ) -> None:
        """Begin with what is there already."""
        self._images = images
        self._agent = agent
        self._entries: list[Entry] = []
        self._start()
        self.add(entries)

    def add(self, entries: Iterable[Entry]) -> None:
        """Add records as they were written."""
        new = [each for each in entries if _is_of(each, self._agent)]
        self._entries += new
        if any(isinstance(each.record, Compacted) for each in new):
            new = kept_entries(self._entries)
            self._start()
        for entry in new:
            for healed in self._healing.take(entry):
                self._building.take(healed)

    def messages(self) -> tuple[Message, ...]:
        """Return the conversation as the next call gets it, from the last compaction on.

        The last message is the user's, unless the last record that counts is an answer without
        calls.
        """
        whole = self._building.fork()
        for healed in self._healing.left():
            whole.take(healed)
        return whole.messages()

    def _start(self) -> None:
        self._healing = Healing()
        self._building = Building(self._images)


def build_messages(
    entries: Iterable[Entry], *, images: LoadImage = no_images, agent: str | None = None
) -> tuple[Message, ...]:
    """Return the messages of a `Transcript` of ``entries``."""
    return Transcript(entries, images=images, agent=agent).messages()


def kept_entries(entries: Sequence[Entry]) -> list[Entry]:
    """Return what compactions left of one conversation: the last `Compacted` comes first."""
    last = next(each for each in reversed(entries) if isinstance(each.record, Compacted))
    assert isinstance(last.record, Compacted)  # noqa: S101 - that is what was looked for
    # What came after the compaction is always part of it.
    first = min(last.record.first_kept_seq, last.seq)
    kept = (each for each in entries if each.seq >= first)
    return [last, *(each for each in kept if not isinstance(each.record, Compacted))]


def from_answer(parts: Iterable[AnswerPart]) -> tuple[AssistantPart, ...]:
    """Return the parts of an answer as they are recorded."""
    return tuple(
        ToolCall(part.call_id, part.name, read_object(part.arguments) or {})
        if isinstance(part, ToolUse)
        else part
        for part in parts
    )


def _is_of(entry: Entry, agent: str | None) -> bool:
    # Records that have no agent (a turn began, ended) speak of the session.
    return getattr(entry.record, "agent", None) == agent
