"""Sessions: rows S02 to S20 of the conformance list as far as an agent without load has them.

Also B012, B015 and, for a folder reached by two names, the like of B017.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.talk import HELLO, Talk, open_mine, prompt_params
from tests.e2e.wire import line

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.agents import AgentKind


def new(talk: Talk, **params: Any) -> dict[str, Any]:
    return talk.call("session/new", {"cwd": str(talk.folder), "mcpServers": [], **params})


@pytest.mark.parametrize("method", ["session/new", "reopen"])
@pytest.mark.parametrize("cwd", ["relative", "", ".", "..", "~", 7, None, [], {}, True], ids=repr)
def test_s02_b015_cwd_must_be_absolute(shared: Talk, cwd: object, method: str) -> None:
    method = shared.kind.reopen if method == "reopen" else method
    params = {"sessionId": "r", "cwd": cwd, "mcpServers": []}

    answer = shared.call(method, params)

    assert answer["error"]["code"] == -32602
    assert "cwd" in answer["error"]["message"]
    prompt = prompt_params("r", shared.kind.quick)
    assert shared.call("session/prompt", prompt)["error"]["code"] == -32002


@pytest.mark.parametrize("method", ["session/new", "reopen"])
@pytest.mark.parametrize("name", ["gone", "file", "gone/deeper"])
def test_s02_b015_cwd_must_be_a_folder(
    opener: Talk, tmp_path: Path, method: str, name: str
) -> None:
    method = opener.kind.reopen if method == "reopen" else method
    (tmp_path / "file").touch()

    params = {"sessionId": "r", "cwd": str(tmp_path / name), "mcpServers": []}
    answer = opener.call(method, params)

    assert answer["error"]["code"] in {-32602, -32002}
    assert "director" in answer["error"]["message"]
    assert new(opener)["result"]["sessionId"]


@pytest.mark.parametrize("method", ["session/new", "reopen"])
def test_s02_cwd_absent(shared: Talk, method: str) -> None:
    method = shared.kind.reopen if method == "reopen" else method

    answer = shared.call(method, {"sessionId": "r", "mcpServers": []})

    assert answer["error"]["code"] == -32602


def test_s03_s05_the_next_process_has_an_id_of_its_own_too(kind: AgentKind, folder: Path) -> None:
    with Talk(kind, folder) as first, Talk(kind, folder) as second:
        ids = {first.open(), second.open()}

    assert len(ids - {""}) == 2


@pytest.mark.needs("many_sessions")
def test_s03_s05_each_new_session_has_an_id_of_its_own(shared: Talk) -> None:
    ids = [new(shared)["result"]["sessionId"] for _ in range(5)]

    assert all(isinstance(each, str) and each for each in ids)
    assert len(set(ids)) == 5


def test_s06_work_happens_in_the_sessions_folder(talk: Talk, tmp_path: Path) -> None:
    other = tmp_path / "other place é"
    other.mkdir()
    talk.kind.prepare(other)
    talk.initialize()
    talk.new_session(str(other))

    turn = talk.turn(talk.kind.shell("pwd -P; echo x > here"))

    assert str(other) in turn.text
    assert (other / "here").exists()


def test_s07_b012_a_prompt_for_an_unknown_session_names_it(shared: Talk) -> None:
    answer = shared.call("session/prompt", prompt_params("no-such", "x"))

    assert answer["error"]["code"] == -32002
    assert answer["error"]["data"]["sessionId"] == "no-such"
    assert "no-such" in answer["error"]["message"]


def test_s07_a_prompt_before_any_session_is_for_an_unknown_one(opener: Talk) -> None:
    answer = opener.call("session/prompt", prompt_params("early", opener.kind.quick))

    assert (answer["error"]["code"], answer["error"]["data"]["sessionId"]) == (-32002, "early")


def test_s08_cancelling_an_unknown_session_is_silent(shared: Talk) -> None:
    assert shared.exchange(line(method="session/cancel", params={"sessionId": "no-such"})) == []


def test_s08_cancelling_an_unknown_session_leaves_the_running_turn_alone(talk: Talk) -> None:
    talk.open()
    running = talk.start_shell("mkfifo go; echo ready; read line < go; echo one $line")
    for unknown in ("no-such", "", f"{talk.session} ", talk.session.upper()):
        assert talk.exchange(line(method="session/cancel", params={"sessionId": unknown})) == []
    (talk.folder / "go").write_text("went\n", encoding="utf-8")

    turn = talk.finish(running)

    assert turn.stop_reason == "end_turn"
    assert "one went" in turn.text


def test_s09_b012_a_session_is_resumed_in_a_new_process(kind: AgentKind, folder: Path) -> None:
    with Talk(kind, folder) as first:
        session = first.open()
        assert first.turn(kind.shell("echo one")).stop_reason == "end_turn"
    with Talk(kind, folder) as second:
        second.initialize()
        params = {"sessionId": session, "cwd": str(folder), "mcpServers": []}
        if kind.reopen == "session/resume":
            del params["mcpServers"]  # not needed there

        *shown, answer = second.answer(second.request(kind.reopen, params))

        assert isinstance(answer["result"], dict)
        assert bool(shown) == (kind.reopen == "session/load"), "only a load replays"
        turn = second.turn(kind.shell("echo two"), session)
    assert turn.stop_reason == "end_turn"
    assert "two" in turn.text


@pytest.mark.needs("many_sessions")
def test_s10_resume_takes_up_the_cwd_that_it_brings(talk: Talk, tmp_path: Path) -> None:
    talk.open()
    other = tmp_path / "other"
    other.mkdir()
    talk.kind.prepare(other)
    talk.call("session/resume", {"sessionId": talk.session, "cwd": str(other), "mcpServers": []})

    turn = talk.turn(talk.kind.shell("pwd -P"))

    assert str(other) in turn.text


def test_s12_an_id_is_never_a_path(talk: Talk) -> None:
    talk.initialize()
    strange = "../../../etc/passwd"

    params = {"sessionId": strange, "cwd": str(talk.folder), "mcpServers": []}
    answer = talk.call(talk.kind.reopen, params)

    if talk.kind.reopen == "session/load":
        assert answer["error"]["code"] in {-32602, -32002}
        assert "root:" not in str(answer)
        return
    # chant: a session is its folder and the id only a name for it.
    assert "result" in answer
    turn = talk.turn(talk.kind.quick, strange)
    assert turn.stop_reason == "end_turn"
    assert "root:" not in turn.text


def test_s12_a_run_in_a_session_makes_no_file_of_its_id(chant: Talk, tmp_path: Path) -> None:
    chant.initialize()
    strange = f"../strange-{tmp_path.name}"
    assert "result" in chant.call("session/resume", {"sessionId": strange, "cwd": str(tmp_path)})

    assert chant.turn(chant.kind.shell("echo ran"), strange).stop_reason == "end_turn"
    assert not (tmp_path / strange).exists()
    assert [path for path in tmp_path.rglob("*") if "strange" in path.name] == []


@pytest.mark.parametrize("session_id", ["", 7, None, [], {}], ids=repr)
def test_s12_an_id_must_be_a_text(opener: Talk, session_id: object) -> None:
    params = {"sessionId": session_id, "cwd": str(opener.folder), "mcpServers": []}

    answer = opener.call(opener.kind.reopen, params)

    assert "error" not in answer or answer["error"]["code"] == -32602
    assert session_id == "" or "error" in answer


@pytest.mark.needs("many_sessions")
def test_b017_a_folder_reached_by_two_names(talk: Talk, tmp_path: Path) -> None:
    talk.open()
    link = tmp_path.parent / f"{tmp_path.name}-link"
    link.symlink_to(talk.folder)
    for spelling in (str(link), f"{talk.folder}/./ops/..", f"{talk.folder}//"):
        if "ops" in spelling:
            (talk.folder / "ops").mkdir(exist_ok=True)
        params = {"sessionId": talk.session, "cwd": spelling, "mcpServers": []}
        assert "result" in talk.call("session/resume", params)

        turn = talk.turn(talk.kind.shell("pwd -P"))

        assert os.path.realpath(talk.folder) in turn.text


@pytest.mark.parametrize(
    "members",
    [
        {"additionalDirectories": ["/tmp"]},
        {"additionalDirectories": ["relative"]},
        {"additionalDirectories": 7},
        {"_meta": {"x": {"y": [1]}}},
        {"_meta": None},
        {"futureMember": {"a": 1}},
    ],
    ids=repr,
)
def test_s15_s16_members_that_nobody_asked_for_are_passed_over(
    opener: Talk, members: dict[str, Any]
) -> None:
    session = new(opener, **members)["result"]["sessionId"]
    if opener.kind.reopen == "session/resume":
        session = "taken-up"
        params = {"sessionId": session, "cwd": str(opener.folder), **members}
        assert "result" in opener.call("session/resume", params)
    prompt = {**prompt_params(session, opener.kind.quick), **members}
    assert opener.call("session/prompt", prompt)["result"]["stopReason"] == "end_turn"


EXTRA: dict[str, Any] = {"_meta": {"traceparent": "00-1-1-01", "x": [1]}, "futureMember": [1]}


def test_s16_unknown_members_are_accepted_everywhere(talk: Talk) -> None:
    """In each request and notification, in what stands in them, and beside them."""
    client = {"clientCapabilities": {"fs": EXTRA, **EXTRA}, "clientInfo": {"name": "x", **EXTRA}}
    assert "result" in talk.call("initialize", {**HELLO, **client, **EXTRA})
    env = [{"name": "A", "value": "b", **EXTRA}]
    server = {"name": "gone", "command": "/no/such/program", "args": [], "env": env, **EXTRA}
    opened = new(talk, mcpServers=[server], **EXTRA)["result"]
    talk.session = opened["sessionId"]
    blocks = [
        {"type": "text", "text": talk.kind.quick, "annotations": EXTRA, **EXTRA},
        {"type": "resource_link", "uri": "file:///a", "name": "a", "size": "7", **EXTRA},
    ]
    params = {"sessionId": talk.session, "prompt": blocks, "messageId": "m", **EXTRA}
    talk.send(line(id="p", method="session/prompt", params=params, **EXTRA))
    assert talk.finish("p").stop_reason == "end_turn"
    running = talk.start_shell("echo ready; exec sleep 600")
    talk.notify("session/cancel", {"sessionId": talk.session, **EXTRA})
    assert talk.finish(running).stop_reason == "cancelled"
    running = talk.start_shell("echo ready; exec sleep 600")
    talk.send(line(method="$/cancel_request", params={"requestId": running, **EXTRA}, **EXTRA))
    assert talk.finish(running).stop_reason == "cancelled"


def test_s16_unknown_members_are_accepted_where_a_session_is_taken_up(naming: Talk) -> None:
    naming.initialize()
    params = {"sessionId": naming.named, "cwd": str(naming.folder), "mcpServers": [], **EXTRA}

    assert isinstance(naming.call(naming.kind.reopen, params)["result"], dict)
    assert naming.turn(naming.kind.quick, naming.named).stop_reason == "end_turn"


def test_s17_updates_of_a_session_follow_the_answer_that_names_it(talk: Talk) -> None:
    talk.initialize()
    params = {"cwd": str(talk.folder), "mcpServers": []}

    messages = talk.answer(talk.request("session/new", params))

    assert len(messages) == 1
    if talk.kind.name == "chant":
        assert "run" in offered_by(talk.next(), messages[0]["result"]["sessionId"])


@pytest.mark.needs("many_sessions")
def test_s17_updates_of_a_resumed_session_follow_the_answer_too(talk: Talk) -> None:
    talk.initialize()
    params = {"sessionId": "taken-up", "cwd": str(talk.folder)}

    assert len(talk.answer(talk.request("session/resume", params))) == 1
    if talk.kind.name == "chant":
        assert "run" in offered_by(talk.next(), "taken-up")


def offered_by(message: dict[str, Any], session: str) -> list[str]:
    """Read the commands that an update offers in a session."""
    assert message["params"]["sessionId"] == session
    return [each["name"] for each in message["params"]["update"]["availableCommands"]]


def test_s17_all_at_once_is_answered(naming: Talk) -> None:
    talk = naming
    sent = line(id=1, method="initialize", params=HELLO) + open_mine(talk, 2)
    sent += line(id=3, method="session/prompt", params=prompt_params(talk.named, talk.kind.quick))
    sent += line(id=4, method="session/prompt", params=prompt_params(talk.named, talk.kind.quick))
    talk.send(sent)

    found = talk.answers_to(1, 2, 3, 4)

    assert found[3]["result"]["stopReason"] == "end_turn"
    if talk.kind.queues:
        assert list(found) == [1, 2, 3, 4]
    else:
        assert found[4]["error"]["code"] == -32600
        assert [each for each in found if each != 4] == [1, 2, 3]


def test_s13_s14_s21_s22_what_is_not_served_is_not_offered(talk: Talk) -> None:
    """Closing, listing, deleting, modes and options: see also the rows of I11."""
    offered = talk.initialize()["agentCapabilities"]

    taken_up = {"resume"} if talk.kind.reopen == "session/resume" else set[str]()
    assert set(offered["sessionCapabilities"]) == taken_up
    assert "auth" not in offered
    assert set(new(talk)["result"]) == {"sessionId"}


def test_s19_new_without_mcp_servers(opener: Talk) -> None:
    answer = opener.call("session/new", {"cwd": str(opener.folder)})

    assert "result" in answer or answer["error"]["code"] == -32602


@pytest.mark.parametrize(
    "servers",
    [
        7,
        None,
        "none",
        {},
        [7, None, [], "x"],
        [{}],
        [{"name": "x"}],
        [{"name": "x", "command": "/no/such/program", "args": [], "env": []}],
        [{"name": "x", "command": "relative", "args": 7, "env": {}}],
        [{"type": "http", "name": "x", "url": "http://127.0.0.1:1/", "headers": []}],
        [{"type": "sse", "name": "x", "url": "http://127.0.0.1:1/", "headers": []}],
        [{"type": "future", "name": "x"}],
    ],
    ids=repr,
)
def test_s20_strange_mcp_servers_do_no_harm(opener: Talk, servers: object) -> None:
    answer = new(opener, mcpServers=servers)

    if "error" in answer:
        assert answer["error"]["code"] == -32602
        answer = new(opener)
    turn = opener.turn(opener.kind.quick, answer["result"]["sessionId"])
    assert turn.stop_reason == "end_turn"
