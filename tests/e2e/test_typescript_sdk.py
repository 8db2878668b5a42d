"""The official TypeScript SDK as the client; ``make typescript`` installs it where Node is."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from tests.node import node_command
from tests.shared import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.agents import AgentKind

# What radian shows to clients on this SDK and others is in test_radian_clients.
pytestmark = pytest.mark.needs("many_sessions")

FOLDER = ROOT / "tests" / "e2e" / "typescript"
ABSENT = "NOT TESTED: {} (make typescript brings it)"


def converse(kind: AgentKind, folder: Path, **more: str) -> dict[str, Any]:
    node = node_command()
    if node is None:
        pytest.skip(ABSENT.format("there is no Node"))
    if not (FOLDER / "node_modules" / "@agentclientprotocol").is_dir():
        pytest.skip(ABSENT.format("the TypeScript SDK is not installed"))
    order = {
        "command": kind.command,
        "folder": str(folder),
        "prompt": kind.shell("echo from the step; pwd"),
        "slow": kind.shell("echo ready; sleep 600"),
        **more,
    }
    done = subprocess.run(
        [*node, str(FOLDER / "client.mjs"), json.dumps(order)],
        capture_output=True,
        timeout=60,
        check=False,
    )
    # The SDK drops an update that its schema refuses, and only says so here.
    assert (done.returncode, done.stderr.decode()) == (0, "")
    answers: dict[str, Any] = json.loads(done.stdout)
    return answers


def test_new_prompt_cancel_and_resume_in_a_new_process(kind: AgentKind, folder: Path) -> None:
    first = converse(kind, folder)

    assert first["hello"]["protocolVersion"] == 1
    assert first["hello"]["agentInfo"]["name"] == kind.name
    assert first["cancelled"]["stopReason"] == "cancelled"
    assert first["done"]["stopReason"] == "end_turn"
    assert f"from the step\n{folder}" in first["text"]
    assert first["refused"] == -32002
    assert first["exitCode"] == 0

    second = converse(kind, folder, resume=first["sessionId"])

    assert second["sessionId"] == first["sessionId"]
    assert second["done"]["stopReason"] == "end_turn"
    assert second["exitCode"] == 0
