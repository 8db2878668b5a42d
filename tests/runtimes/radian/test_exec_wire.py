"""`radian exec` against a server that speaks chat completions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.runtimes.models.servers import GOOD, chat, events, hang_up, model_server, status, stream
from tests.runtimes.radian.box import Box, make_box

if TYPE_CHECKING:
    from pathlib import Path

    from tests.runtimes.models.servers import ModelServer

KEY = "sk-0123456789abcdef"


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return make_box(tmp_path)


def far(box: Box, server: ModelServer) -> tuple[str, ...]:
    """Configure the server, store a key, and return the words that call it."""
    box.configure(
        f'\n[providers.far]\nkind = "openai-compatible"\nbase_url = "{server.url}"\n'
        'default_model = "m"\n[providers.far.models.m]\ncontext_window = 1000\n'
        'price_input = "2"\nprice_output = "10"\n'
    )
    box.run("login", "far", stdin=KEY)
    return ("exec", "-p", "go", "--provider", "far", "--output", "json", "--session-id", "s1")


def called(name: str, values: dict[str, Any]) -> dict[str, Any]:
    """Return a chunk with a whole call."""
    function = {"name": name, "arguments": json.dumps(values)}
    return chat({"tool_calls": [{"index": 0, "id": "c1", "function": function}]})


def test_a_task_goes_over_the_wire_and_its_price_is_told(box: Box) -> None:
    usage = {"prompt_tokens": 100, "completion_tokens": 10}
    first = stream(
        events(called("write", {"path": "a", "content": "x"}), chat(finish="tool_calls"))
    )
    last = stream(events(chat({"content": "Done."}), chat(finish="stop", usage=usage)))
    with model_server(first, last) as server:
        run = box.run(*far(box, server))

        asked = server.requests[1].body["messages"]

    result = json.loads(run.stdout)
    assert (run.returncode, result["text"]) == (0, "Done.")
    assert result["cost"] == {"micros": 300, "incomplete": True, "estimated": False}
    assert result["run_metrics"]["usage_missing_calls"] == 1
    assert result["run_metrics"]["context_window"] == 1000
    assert [message["role"] for message in asked] == ["system", "user", "assistant", "tool"]
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert (box.workspace / "a").read_text() == "x"


def test_a_key_is_never_shown_nor_kept(box: Box) -> None:
    echoed = status(400, {"error": {"message": f"bad key {KEY}"}})
    with model_server(echoed) as server:
        run = box.run(*far(box, server))

    assert run.returncode == 5
    assert KEY not in run.stdout + run.stderr + json.dumps(box.journal("s1"))


def test_tools_get_no_key(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_THING", KEY)
    shown = stream(events(called("shell", {"command": "env"}), chat(finish="tool_calls")))
    with model_server(shown, GOOD) as server:
        words = far(box, server)
        box.configure('\n[providers.near]\nkind = "openai-compatible"\n'
                      f'credential_env = "MY_THING"\nbase_url = "{server.url}"\n')  # fmt: skip
        run = box.run(*words, "--provider", "near", "--model", "m")
        heard = server.requests[0].headers["authorization"]

    assert (run.returncode, heard) == (0, f"Bearer {KEY}")
    result = next(each for each in box.journal("s1") if each["type"] == "ToolResult")
    assert "PATH=" in result["output"]
    assert "MY_THING" not in result["output"]
    assert KEY not in json.dumps(box.journal("s1"))


@pytest.mark.parametrize(
    ("script", "code"),
    [
        (status(401, {"error": {"message": "who are you?"}}), 11),
        (status(404, {"error": {"message": "no such model"}}), 5),
        (status(429, {"error": {"message": "later"}}, [("Retry-After", "864000")]), 75),
        (stream(events(chat({"content": "half"}), end=b"")), 75),
        (hang_up, 75),
    ],
)
def test_a_failure_is_no_success(box: Box, script: Any, code: int) -> None:
    with model_server(script) as server:
        words = far(box, server)
        run = box.run(*words, "--turn-timeout", "50")

    result = json.loads(run.stdout)
    assert (run.returncode, result["status"], result["exit_code"]) == (code, "failed", code)
    assert result["error"]
