"""Real servers, good and bad: each starts, answers, ends and is told of within bounds."""

from __future__ import annotations

import json
import os
import signal
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from runtimes.radian.mcp import server as server_module
from runtimes.radian.mcp import servers as servers_module
from runtimes.radian.mcp.connection import RequestCancelled, RequestTimedOut, ServerEnded
from runtimes.radian.mcp.server import MAX_RESTARTS
from tests.actors.stepping import open_descriptors, survivors, wait_gone
from tests.runtimes.radian.mcp.serving import WAIT_S, Running, log_of, stub

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def mark() -> Iterator[str]:
    """What every process of a test carries; none may be left."""
    name = uuid4().hex
    yield name
    wait_gone(name)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits long for what never comes."""
    monkeypatch.setattr(server_module, "FIRST_DELAY_S", 0.01)
    monkeypatch.setattr(server_module, "RELIST_S", 0.0)


def text_of(result: Any) -> str:
    text: str = result["content"][0]["text"]
    return text


def test_a_good_server_offers_its_tools_and_answers(tmp_path: Path, mark: str) -> None:
    with Running(tmp_path, stub(mark=mark)) as running:
        offered = running.ready()

        assert offered[0] == "mcp__db__echo"
        assert running.servers.offered()[0].schema["properties"] == {"text": {"type": "string"}}
        assert text_of(running.call("echo", text="hi")) == "hi"
    assert running.told == []


def test_servers_start_side_by_side(tmp_path: Path, mark: str) -> None:
    specs = [stub(f"s{at}", mark=mark) for at in range(4)]
    with Running(tmp_path, *specs) as running:
        assert {name.split("__")[1] for name in running.ready()} == {"s0", "s1", "s2", "s3"}


def test_it_runs_in_the_workspace_without_secrets_and_with_its_own_variables(
    tmp_path: Path, mark: str
) -> None:
    with Running(tmp_path, stub(env={"API_TOKEN": "hunter2hunter2"}, mark=mark)) as running:
        running.ready()
        env = json.loads(text_of(running.call("env")))

    assert env["cwd"] == str(tmp_path)
    assert env["API_TOKEN"] == "hunter2hunter2"
    assert running.secrets.mask("it is hunter2hunter2") == "it is [secret]"


@pytest.mark.parametrize("mode", ["garbage", "flood", "noisy", "long-line", "pages", "child"])
def test_bad_manners_do_no_harm(tmp_path: Path, mark: str, mode: str) -> None:
    with Running(tmp_path, stub(mode=mode, mark=mark)) as running:
        assert len(running.ready()) == 11
        assert text_of(running.call("echo", text="hi")) == "hi"


def test_a_list_without_end_is_cut(tmp_path: Path, mark: str) -> None:
    with Running(tmp_path, stub(mode="endless", mark=mark)) as running:
        assert 0 < len(running.ready()) <= 50


def test_a_server_without_tools_is_no_mistake(tmp_path: Path, mark: str) -> None:
    with Running(tmp_path, stub(mode="toolless", mark=mark)) as running:
        assert running.ready() == []
    assert running.told == []


def test_bad_schemas_cost_only_their_own_tools(tmp_path: Path, mark: str) -> None:
    with Running(tmp_path, stub(mode="bad-schemas", mark=mark)) as running:
        names = [name.removeprefix("mcp__db__") for name in running.ready()]

        assert names[:3] == ["nothing", "list", "echo"]
        assert "tool 'text'" in running.wait_told("not for an object")
        assert "tool 'nothing'" in running.wait_told("it has no inputSchema")
        assert "tool 'list'" in running.wait_told("lists of unsaid kind")


@pytest.mark.parametrize(
    ("mode", "why"),
    [("exit", "it exited with code 3: no database here"), ("old", "it speaks MCP '1999-01-01'")],
)
def test_one_that_can_not_be_used_says_why_and_others_work(
    tmp_path: Path, mark: str, mode: str, why: str
) -> None:
    bad, good = stub("bad", mode, mark=mark), stub("good", mark=mark)
    with Running(tmp_path, bad, good) as running:
        assert all(name.startswith("mcp__good__") for name in running.ready())
        assert why in running.wait_told("'bad' did not start")


def test_one_that_is_not_there_is_tried_once(tmp_path: Path) -> None:
    spec = replace(stub(), command="/no/such/server")
    with Running(tmp_path, spec) as running:
        assert running.ready() == []
        assert "No such file" in running.wait_told("its tools are not there")
    assert len(running.told) == 1


def test_a_silent_server_holds_up_a_turn_for_a_while_only(
    tmp_path: Path, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(servers_module, "HINT_S", 0.1)
    monkeypatch.setattr(servers_module, "PATIENCE_S", 0.3)
    with Running(tmp_path, stub("mute", "mute", mark=mark), stub(mark=mark)) as running:
        first = list(running.servers.await_start(running.cancel()))
        again = list(running.servers.await_start(running.cancel()))

        assert "'mute'" in first[0]
        assert "waiting for MCP servers to start" in first[0]
        assert "'mute' is not ready" in " ".join([*first, *again])
    assert len([each for each in running.told if "'mute' is not ready" in each]) == 1


def test_a_cancel_ends_the_wait_for_a_silent_server(tmp_path: Path, mark: str) -> None:
    with Running(tmp_path, stub(mode="mute", mark=mark)) as running:
        cancel = running.cancel()
        waiting = threading.Thread(target=lambda: list(running.servers.await_start(cancel)))
        waiting.start()

        cancel.set()

        waiting.join(WAIT_S)
        assert not waiting.is_alive()
    assert running.told == []


def test_a_call_that_is_given_up_is_cancelled_at_the_server(tmp_path: Path, mark: str) -> None:
    log = tmp_path / "log"
    spec = stub(timeout_s=2.0, env={"STUB_LOG": str(log)}, mark=mark)
    with Running(tmp_path, spec) as running:
        running.ready()

        with pytest.raises(RequestTimedOut, match=r"no answer within 2 s"):
            running.call("hang")

        assert text_of(running.call("echo", text="still there")) == "still there"
    (asked,) = [each for each in log_of(log) if each.get("params", {}).get("name") == "hang"]
    (told,) = [each for each in log_of(log) if each["method"] == "notifications/cancelled"]
    assert told["params"]["requestId"] == asked["id"]


def test_a_cancel_ends_a_call_at_once_and_tells_the_server(tmp_path: Path, mark: str) -> None:
    log = tmp_path / "log"
    with Running(tmp_path, stub(env={"STUB_LOG": str(log)}, mark=mark)) as running:
        running.ready()
        cancel = running.cancel()
        cancel.set()

        with pytest.raises(RequestCancelled):
            running.call("hang", cancel)

        running.call("echo", text="flush")
    assert [each["method"] for each in log_of(log)][-2:] == [
        "notifications/cancelled",
        "tools/call",
    ]


@pytest.mark.parametrize("way", ["die", "leave"])
def test_a_server_that_dies_in_a_call_fails_it_and_is_started_again(
    tmp_path: Path, mark: str, way: str
) -> None:
    with Running(tmp_path, stub(mark=mark)) as running:
        running.ready()

        with pytest.raises(ServerEnded, match="whether the call had effects is unknown"):
            running.call(way)

        assert f"started again (1 of {MAX_RESTARTS})" in running.wait_told("'db' ended")
        assert text_of(running.call("echo", text="back")) == "back"


def test_one_that_dies_again_and_again_is_given_up(tmp_path: Path, mark: str) -> None:
    with Running(tmp_path, stub(mark=mark)) as running:
        running.ready()
        for _ in range(MAX_RESTARTS + 1):
            with pytest.raises(ServerEnded):
                running.call("die")

        running.wait_told("its tools are not there")
        assert running.servers.offered() == ()
        with pytest.raises(ServerEnded, match="'db' is not running: it exited with code 7"):
            running.call("echo")
    assert len(running.told) == MAX_RESTARTS + 1


def test_tools_that_come_later_are_offered_then(tmp_path: Path, mark: str) -> None:
    with Running(tmp_path, stub(mark=mark)) as running:
        before = running.ready()
        running.call("more")
        while len(running.servers.offered()) == len(before):
            running.call("echo")

        assert running.servers.offered()[-1].name == "mcp__db__extra"


def test_an_answer_that_is_too_long_fails_its_call_only(tmp_path: Path, mark: str) -> None:
    with Running(tmp_path, stub(mark=mark)) as running:
        running.ready()

        with pytest.raises(Exception, match="longer than 16777216 bytes"):
            running.call("long")

        assert text_of(running.call("echo", text="hi")) == "hi"


def test_questions_of_a_server_are_answered(tmp_path: Path, mark: str) -> None:
    with Running(tmp_path, stub(mark=mark)) as running:
        running.ready()
        ping, roots, sampling = json.loads(text_of(running.call("ask")))

    assert ping["result"] == {}
    assert roots["result"]["roots"][0]["uri"] == f"file://{tmp_path}"
    assert sampling["error"]["code"] == -32601


def test_the_profile_for_reading_offers_only_what_says_that_it_reads(
    tmp_path: Path, mark: str
) -> None:
    with Running(tmp_path, stub(mark=mark), profile="read-only") as running:
        assert running.ready() == ["mcp__db__echo"]


def test_closing_leaves_no_process_and_no_descriptor(tmp_path: Path, mark: str) -> None:
    before = open_descriptors()
    modes = ("good", "flood", "child", "mute", "exit")
    with Running(tmp_path, *(stub(mode, mode, mark=mark) for mode in modes)) as running:
        running.wait_told("'exit' did not start")

    assert survivors(mark) == []
    running.servers.close()
    assert open_descriptors() <= before


def test_a_server_whose_guardian_is_killed_is_started_again(tmp_path: Path, mark: str) -> None:
    with Running(tmp_path, stub(mark=mark)) as running:
        running.ready()
        guardian = running.servers.guardian.ensure().pid

        os.kill(guardian, signal.SIGKILL)

        running.wait_told("'db' ended")
        assert text_of(running.call("echo", text="back")) == "back"
