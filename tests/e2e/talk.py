"""A client's usual steps over a `Wire`: handshake, session, prompt, cancel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.e2e.wire import Wire, is_news, line, same

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.e2e.agents import AgentKind
    from tests.e2e.referee import Message

HELLO: dict[str, Any] = {
    "protocolVersion": 1,
    "clientCapabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


class Talk(Wire):
    """One agent, talked to as a client does."""

    def __init__(
        self,
        kind: AgentKind,
        folder: Path,
        *,
        command: tuple[str, ...] | None = None,
        env: Mapping[str, str] | None = None,
        cwd: str = "/",
        **pipes: int,
    ) -> None:
        # Started elsewhere on purpose: all work must happen in the session's folder.
        super().__init__(command or kind.command, cwd=cwd, env=env, **pipes)
        self.kind = kind
        self.folder = folder
        self.session = ""
        self.named = "mine"
        """A session that can be taken up; see the fixture ``naming``."""

    def initialize(self) -> dict[str, Any]:
        result: dict[str, Any] = self.call("initialize", HELLO)["result"]
        return result

    def new_session(self, cwd: str | None = None) -> str:
        params = {"cwd": cwd or str(self.folder), "mcpServers": []}
        self.session = self.call("session/new", params)["result"]["sessionId"]
        return self.session

    def open(self) -> str:
        """Do what every prompt needs first."""
        self.initialize()
        return self.new_session()

    def prompt(self, words: str, session: str | None = None) -> int:
        return self.request("session/prompt", prompt_params(session or self.session, words))

    def turn(self, words: str, session: str | None = None) -> Turn:
        """Run a prompt to its end."""
        return self.finish(self.prompt(words, session))

    def finish(self, request_id: object) -> Turn:
        *updates, answer = self.answer(request_id)
        return Turn(updates, answer)

    def cancel(self, session: str | None = None) -> None:
        self.notify("session/cancel", {"sessionId": session or self.session})

    def start_shell(self, text: str) -> int:
        """Prompt a shell script that prints ``ready``, and wait for that."""
        request_id = self.prompt(self.kind.shell(text))
        self.until_text("ready")
        return request_id

    def until_text(self, text: str) -> list[Message]:
        """Collect messages until shown text that contains ``text`` (all of it in one piece)."""
        return self.until(lambda message: text in chunk_text(message) + output_text(message))

    def answers_to(self, *request_ids: object) -> dict[object, Message]:
        """Wait for answers in any order."""
        found: dict[object, Message] = {}
        while len(found) < len(request_ids):
            message = self.next()
            for request_id in request_ids:
                if "method" not in message and same(message, request_id):
                    found[request_id] = message
        return found


def open_mine(talk: Talk, request_id: object) -> bytes:
    """Return the request that takes up a session whose id is known beforehand."""
    params = {"sessionId": talk.named, "cwd": str(talk.folder), "mcpServers": []}
    return line(id=request_id, method=talk.kind.reopen, params=params)


class Turn:
    """What a prompt brought."""

    def __init__(self, messages: list[Message], answer: Message) -> None:
        self.messages = [message for message in messages if not is_news(message)]
        self.answer = answer

    @property
    def stop_reason(self) -> str:
        assert "result" in self.answer, self.answer
        return str(self.answer["result"]["stopReason"])

    @property
    def text(self) -> str:
        """All streamed text, joined."""
        return "".join(chunk_text(message) for message in self.messages)

    def updates(self, kind: str) -> list[dict[str, Any]]:
        """Pick the updates of one kind."""
        found = [message["params"]["update"] for message in self.messages]
        return [update for update in found if update["sessionUpdate"] == kind]


def prompt_params(session: str, words: str) -> dict[str, Any]:
    return {"sessionId": session, "prompt": [{"type": "text", "text": words}]}


def chunk_text(message: Message) -> str:
    """Return the text that a chunk carries; empty for any other message."""
    if message.get("method") != "session/update":
        return ""
    update = message["params"]["update"]
    content = update.get("content")
    if update["sessionUpdate"] != "agent_message_chunk" or not isinstance(content, dict):
        return ""
    return str(content.get("text", ""))


def output_text(message: Message) -> str:
    """Return what an update of a tool call shows of the output so far; else nothing."""
    if message.get("method") != "session/update":
        return ""
    update = message["params"]["update"]
    if update["sessionUpdate"] != "tool_call_update":
        return ""
    parts = [each["content"]["text"] for each in update.get("content", ()) if "content" in each]
    return "".join(parts)
