"""What one client has seen of a session: texts by message, calls by id, in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runtimes.radian.simulation.model import PIECE, TAG
from runtimes.radian.simulation.tools import tag_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from actors.simulation.book import Json


class View:
    """Takes updates as they come."""

    def __init__(self) -> None:
        """See nothing yet."""
        self.texts: dict[str, str] = {}
        """By message id: what the agent said."""
        self.attempts: dict[str, int] = {}
        """By message id: the last attempt that was told of."""
        self.calls: dict[str, list[str]] = {}
        """By id: the statuses of a call, first that of its ``tool_call``."""
        self.users: str = ""
        """What users said, in a replay."""
        self.wrong: list[str] = []

    def take(self, update: Json) -> str:
        """Note an update and return the tag of the prompt that it belongs to, if it says so."""
        kind, name = update["sessionUpdate"], str(update.get("messageId", ""))
        match kind:
            case "agent_message_chunk":
                return self._message(name, str(update["content"]["text"]))
            case "agent_thought_chunk":
                message, again, number = name.partition("-retry-")
                if again:
                    self.attempts[message] = int(number)
                return ""
            case "user_message_chunk":
                self.users += f"{update['content']['text']}\n"
                return ""
            case "tool_call" | "tool_call_update":
                return self._call(kind, update)
            case _:
                return ""

    def text_of(self, turn: int, call: int) -> str:
        """Return what was shown of the last attempt at a call of the model."""
        name = f"{turn}.{call}"
        if name in self.attempts:
            name = f"{name}-again-{self.attempts[name]}"
        return self.texts.get(name, "")

    def completed(self) -> Iterator[str]:
        """Yield the ids of the calls that were shown as having come through."""
        return (call_id for call_id, seen in self.calls.items() if "completed" in seen)

    def finals(self, tag: str) -> dict[str, str]:
        """Return what was said at last to a prompt: texts by turn and call."""
        names = {name.partition("-")[0] for name in self.texts}
        texts = {name: self.text_of(*map(int, name.split("."))) for name in names}
        return {name: text for name, text in texts.items() if f"<{tag}." in text}

    def _message(self, name: str, text: str) -> str:
        self.texts[name] = self.texts.get(name, "") + text
        found = PIECE.search(text)
        return "" if found is None else tag_of(found.group(1))

    def _call(self, kind: str, update: Json) -> str:
        call_id: Any = update["toolCallId"]
        if (kind == "tool_call") == (call_id in self.calls):
            self.wrong.append(f"a {kind} of {call_id}, which is {self.calls.get(call_id)}")
        seen = self.calls.setdefault(call_id, [])
        if {"completed", "failed"}.intersection(seen):
            self.wrong.append(f"an update of {call_id}, which had ended")
        if "status" in update:
            seen.append(update["status"])
        return tag_of(call_id)


def tags_in(text: str) -> list[str]:
    """Return the tags of prompts in a text."""
    return [tag for tag, _ in TAG.findall(text)]
