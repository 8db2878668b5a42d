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
from runtimes.radian.records import Compacted, ToolCall, TurnEnded, TurnStarted, UserMessage

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
        new = conversation_of(entries, self._agent)
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


def conversation_of(entries: Iterable[Entry], agent: str | None = None) -> list[Entry]:
    """Return the records of one conversation: the session's, or that of a subagent."""
    # Records that have no agent (a turn began, ended) speak of the session.
    return [each for each in entries if getattr(each.record, "agent", None) == agent]


def kept_entries(entries: Sequence[Entry]) -> list[Entry]:
    """Return what compactions left of one conversation: the last `Compacted`, and what stays.

    Before it comes the person's last message, where that is older than what stays: what is being
    worked on is sent word for word, with its pictures.  So does what tells whether a turn runs.
    """
    last = next(each for each in reversed(entries) if isinstance(each.record, Compacted))
    assert isinstance(last.record, Compacted)  # noqa: S101 - that is what was looked for
    # What came after the compaction is always part of it.
    first = min(last.record.first_kept_seq, last.seq)
    asked = _latest(each for each in entries if each.seq < last.seq and _is_question(each))
    before = [each for each in entries if each.seq < first]
    mark = _latest(each for each in before if isinstance(each.record, TurnStarted | TurnEnded))
    ahead = [each for each in before if each is asked or each is mark]
    kept = (each for each in entries if each.seq >= first)
    return [*ahead, last, *(each for each in kept if not isinstance(each.record, Compacted))]


def _latest(entries: Iterable[Entry]) -> Entry | None:
    return max(entries, key=lambda each: each.seq, default=None)


def _is_question(entry: Entry) -> bool:
    return isinstance(entry.record, UserMessage) and entry.record.source == "user"


def from_answer(parts: Iterable[AnswerPart]) -> tuple[AssistantPart, ...]:
    """Return the parts of an answer as they are recorded."""
    return tuple(
        ToolCall(part.call_id, part.name, read_object(part.arguments) or {})
        if isinstance(part, ToolUse)
        else part
        for part in parts
    )
