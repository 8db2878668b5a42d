"""The README alone leads from a key to a finished task, in an empty home."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

from tests.runtimes.models.servers import model_server, stream, typed
from tests.shared import ROOT

if TYPE_CHECKING:
    from pathlib import Path

HEADING = "## A coding agent\n"
KEY = "sk-0123456789abcdef"
CALLS = (
    ("read", {"path": "sums.py"}),
    ("patch", {"path": "sums.py", "old": "a - b", "new": "a + b"}),
    ("shell", {"command": "python3 test_sums.py"}),
)


def test_the_commands_of_the_readme_mend_a_project(tmp_path: Path) -> None:
    project = tmp_path / "my-project"
    project.mkdir()
    (project / "sums.py").write_text("def add(a, b):\n    return a - b\n")
    (project / "test_sums.py").write_text("from sums import add\n\nassert add(1, 2) == 3\n")
    (project / "AGENTS.md").write_text("Always be brief.\n")
    answers = [use(number, name, values) for number, (name, values) in enumerate(CALLS)]
    with model_server(*map(stream, answers), stream(words("It is mended."))) as server:
        kind = 'kind = "anthropic"'
        script = commands().replace(kind, f'base_url = "{server.url}"\n{kind}')
        run = subprocess.run(
            ["/bin/bash", "-e", "-c", script],
            cwd=ROOT,
            env={"HOME": str(tmp_path), "PATH": os.defpath, "LANG": "C.UTF-8"},
            input=f"{KEY}\n",
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    assert run.returncode == 0, run.stderr
    assert run.stdout.endswith("\nIt is mended.\n")
    assert "> shell: python3 test_sums.py" in run.stderr
    assert "a + b" in (project / "sums.py").read_text()
    assert [each.headers["x-api-key"] for each in server.requests] == [KEY] * 4
    assert "Always be brief." in json.dumps(server.requests[0].body["system"])
    assert KEY not in run.stdout + run.stderr


def commands() -> str:
    """Return the first block of commands about the agent."""
    section = (ROOT / "README.md").read_text(encoding="utf-8").partition(HEADING)[2]
    return section.partition("```sh\n")[2].partition("```")[0]


def use(number: int, name: str, values: dict[str, Any]) -> bytes:
    """Return an answer that calls a tool."""
    block = {"type": "tool_use", "id": f"c{number}", "name": name, "input": {}}
    delta = {"type": "input_json_delta", "partial_json": json.dumps(values)}
    return answer(block, delta, "tool_use")


def words(text: str) -> bytes:
    """Return an answer in words."""
    return answer({"type": "text", "text": ""}, {"type": "text_delta", "text": text}, "end_turn")


def answer(block: dict[str, Any], delta: dict[str, Any], stop_reason: str) -> bytes:
    """Return an answer of one block."""
    return typed(
        {"type": "message_start", "message": {"usage": {"input_tokens": 1, "output_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": stop_reason}},
        {"type": "message_stop"},
    )
