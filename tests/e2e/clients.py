"""Clients on the official SDKs, each a program that carries out the same orders.

An order is what a person would do: ``steps`` are ``{"do": "new"}``, ``{"do": "load", "session"}``,
``{"do": "prompt", "blocks", "cancelAt"}``, ``{"do": "until", "text"}``; ``choose`` has a kind or a
name of an option for each question to come.  A word that fits none dismisses the question, and
``late`` does so only after the prompt was answered.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from tests.node import node_command
from tests.scripts import script
from tests.shared import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.runtimes.radian.box import Box

E2E = ROOT / "tests" / "e2e"
PYTHON_CLIENT = E2E / "python" / "client.py"
OLD_PYTHON = ROOT / ".venv" / "oldsdk" / "bin" / "python"
ABSENT = "NOT TESTED: {} is not installed (make {} brings it)"


@dataclass(frozen=True)
class Told:
    """What a client saw, as it saw it."""

    hello: dict[str, Any]
    answers: list[Any]
    """One for each step."""
    updates: list[dict[str, Any]]
    asked: list[dict[str, Any]]

    @property
    def session(self) -> str:
        return str(self.answers[0]["sessionId"])

    def text(self, kind: str = "agent_message_chunk") -> str:
        """All text of one kind of chunk."""
        chunks = [each for each in self.updates if each["sessionUpdate"] == kind]
        return "".join(chunk["content"]["text"] for chunk in chunks)

    def calls(self) -> dict[str, dict[str, Any]]:
        """Each tool call as it stands at last, by its title."""
        calls: dict[str, dict[str, Any]] = {}
        for update in self.updates:
            if update["sessionUpdate"] in {"tool_call", "tool_call_update"}:
                calls.setdefault(update["toolCallId"], {}).update(update)
        return {call["title"]: call for call in calls.values()}


@dataclass(frozen=True)
class ClientKind:
    """A client program; ``words`` starts it, or skips the test where it is not installed."""

    name: str
    words: Callable[[], list[str]]

    def converse(self, box: Box, *steps: dict[str, Any], choose: tuple[str, ...] = ()) -> Told:
        """Have it start `radian acp` in a box and carry out the steps."""
        order = {
            "command": [script("radian"), "acp"],
            "folder": str(box.workspace),
            "steps": list(steps),
            "choose": list(choose),
        }
        done = subprocess.run(
            self.words(),
            input=json.dumps(order).encode(),
            env=box.environ,
            capture_output=True,
            timeout=60,
            check=False,
        )
        # An SDK drops what its schema refuses, and only says so here.
        assert (done.returncode, done.stderr.decode()) == (0, "")
        told = json.loads(done.stdout)
        assert told.pop("exitCode") == 0
        return Told(**told)


def _python() -> list[str]:
    pytest.importorskip("acp", reason=ABSENT.format("agent-client-protocol", "dev"))
    return [sys.executable, str(PYTHON_CLIENT)]


def _old_python() -> list[str]:
    if not OLD_PYTHON.exists():
        pytest.skip(ABSENT.format("the old Python SDK", "oldsdk"))
    return [str(OLD_PYTHON), str(PYTHON_CLIENT)]


def _typescript() -> list[str]:
    node = node_command()
    if node is None or not (E2E / "typescript/node_modules/@agentclientprotocol").is_dir():
        pytest.skip(ABSENT.format("the TypeScript SDK", "typescript"))
    return [*node, str(E2E / "typescript" / "steps.mjs")]


OLD = ClientKind("python-0.8.1", _old_python)
"""Reads no line over 64 KiB."""
CLIENTS = (ClientKind("python", _python), OLD, ClientKind("typescript", _typescript))

NEW: dict[str, Any] = {"do": "new"}


def load(session: str) -> dict[str, Any]:
    return {"do": "load", "session": session}


def until(text: str) -> dict[str, Any]:
    return {"do": "until", "text": text}


def prompt(text: str, *blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"do": "prompt", "blocks": [{"type": "text", "text": text}, *blocks], **more}
