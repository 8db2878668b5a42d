"""`radian acp` in a box, talked to by bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.e2e.agents import RADIAN
from tests.e2e.talk import Talk, Turn
from tests.e2e.wire import line
from tests.scripts import script

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.referee import Message
    from tests.runtimes.radian.box import Box

ASK = "session/request_permission"
ONE = "one process holds one session"


def call(name: str, **values: Any) -> dict[str, Any]:
    """Make a call of a tool for the model to make."""
    return {"name": name, "input": values}


class Client(Talk):
    """One process of the agent, with the flags of a command line."""

    def __init__(self, box: Box, *flags: str) -> None:
        command = (script("radian"), "acp", *flags)
        super().__init__(RADIAN, box.workspace, command=command, env=box.environ)

    def load(self, session: str, cwd: Path | None = None) -> Turn:
        """Initialize and load a session, which may be refused."""
        self.initialize()
        params = {"sessionId": session, "cwd": str(cwd or self.folder), "mcpServers": []}
        self.session = session
        return self.finish(self.request("session/load", params))

    def blocks(self, *blocks: dict[str, Any]) -> Message:
        """Prompt content blocks and return the answer."""
        return self.call("session/prompt", {"sessionId": self.session, "prompt": list(blocks)})

    def question(self) -> Message:
        """Wait for a question of the agent."""
        return self.until(lambda message: message.get("method") == ASK)[-1]

    def choose(self, question: Message, option_id: str) -> None:
        """Answer it."""
        outcome = {"outcome": "selected", "optionId": option_id}
        self.send(line(id=question["id"], result={"outcome": outcome}))


def told(turn: Turn) -> list[tuple[Any, ...]]:
    """Shorten a replay, or what a turn showed: kind and text, or kind, id and status of a call."""
    short: list[tuple[Any, ...]] = []
    for message in turn.messages:
        update = message["params"]["update"]
        kind = update["sessionUpdate"]
        if kind.endswith("_chunk"):
            short.append((kind, update["content"]["text"]))
        else:
            short.append((kind, update.get("toolCallId"), update.get("status")))
    return short


def new(client: Client, cwd: object, servers: list[Any] | None = None) -> dict[str, Any]:
    """Ask for a session and return the answer."""
    params = {"cwd": str(cwd), "mcpServers": servers or []}
    return client.call("session/new", params)


def refusal(answer: dict[str, Any]) -> tuple[int, str]:
    """Return the code and the message of an error."""
    return answer["error"]["code"], answer["error"]["message"]


def spoken(box: Box, session: str = "s1") -> None:
    """Have a session: a thought, a file that is made, and an answer."""
    box.play(
        {
            "reasoning": "Hm.",
            "text": "First.",
            "tool_calls": [call("write", path="a", content="1")],
        },
        {"tool_calls": [call("read", path="nowhere"), call("read", path="a")]},
        {"text": "Done."},
    )
    assert box.run("exec", "-p", "make it", "--session-id", session).returncode == 0
