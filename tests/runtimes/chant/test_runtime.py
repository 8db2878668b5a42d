"""chant behind the protocol: sessions are folders, prompts are command lines."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from actors.opened_session import OpenedSession
from actors.real_platform import RealPlatform
from protocol.acp.prompts import Prompt, ResourceLink, Text
from protocol.acp.sessions import NewSession, ResumeSession, StdioServer
from protocol.errors import InvalidParams
from protocol.handshake import parse_initialize
from runtimes.chant.op_turn import PREPARE
from runtimes.chant.runtime import ChantRuntime
from runtimes.chant.verb_turn import VERB
from tests.runtimes.chant.hosts import Context, PlayedHost
from tests.runtimes.chant.projects import BROKEN, RELEASE, make_project

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def runtime() -> ChantRuntime:
    return ChantRuntime(RealPlatform(), {"PATH": "/usr/bin:/bin"})


def played(runtime: ChantRuntime, folder: Path, *texts: str) -> PlayedHost:
    session = OpenedSession("s", str(folder))
    prompt = Prompt("s", tuple(Text(text) for text in texts))
    return PlayedHost(runtime.begin_turn(session, prompt, "t1")).start()


def texts(runtime: ChantRuntime, items: Any) -> list[str]:
    lines = [json.loads(line) for line in runtime.render_items("s", items)]
    assert all(line["params"]["sessionId"] == "s" for line in lines)
    return [line["params"]["update"]["content"]["text"] for line in lines]


def test_it_offers_resume_and_text_only_prompts(runtime: ChantRuntime) -> None:
    offered = runtime.capabilities(parse_initialize({"protocolVersion": 1}))

    assert (offered.resume, offered.load_session) == (True, False)
    assert (offered.image, offered.audio, offered.embedded_context) == (False, False, False)
    assert runtime.agent_info().name == "chant"
    assert runtime.turn_rule == "queue"
    assert runtime.methods == frozenset({"session/resume"})


def test_new_sessions_have_ids_that_nobody_guesses(runtime: ChantRuntime, tmp_path: Path) -> None:
    opened = [runtime.open_session(NewSession(str(tmp_path))) for _ in range(100)]

    assert len({each.session_id for each in opened}) == 100
    assert all(each.result == {"sessionId": each.session_id} for each in opened)
    assert min(len(each.session_id) for each in opened) >= 32


def test_any_id_is_resumed_in_the_folder_it_names(runtime: ChantRuntime, tmp_path: Path) -> None:
    opened = runtime.open_session(ResumeSession("../../etc/passwd", str(tmp_path)))

    assert (opened.session_id, opened.cwd) == ("../../etc/passwd", str(tmp_path))
    assert (opened.result, opened.before) == ({}, ())


@pytest.mark.parametrize("name", ["absent", "file"])
def test_a_folder_that_is_not_there_is_refused(
    runtime: ChantRuntime, tmp_path: Path, name: str
) -> None:
    (tmp_path / "file").touch()
    for request in (NewSession(str(tmp_path / name)), ResumeSession("s", str(tmp_path / name))):
        with pytest.raises(InvalidParams, match=r"^cwd must be an existing directory$"):
            runtime.open_session(request)


def test_mcp_servers_are_ignored_with_a_word_that_names_no_secret(
    runtime: ChantRuntime, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    server = StdioServer("db", "/bin/db", ("--password=hunter2",))

    assert runtime.open_session(NewSession(str(tmp_path), (server,))).session_id

    said = capfd.readouterr()
    assert "1 MCP server(s) ignored" in said.err
    assert "hunter2" not in said.err
    assert said.out == ""


def test_the_verbs_are_offered_after_the_answer(runtime: ChantRuntime, tmp_path: Path) -> None:
    opened = runtime.open_session(NewSession(str(tmp_path)))
    (line,) = runtime.render_items(opened.session_id, opened.after)

    update = json.loads(line)["params"]["update"]
    assert update["sessionUpdate"] == "available_commands_update"
    offered = [each["name"] for each in update["availableCommands"]]
    assert offered[0] == "run"
    assert {"list", "build", "help", "lifecycle diff"} <= set(offered)
    assert not {"acp", "acp serve"} & set(offered)


def test_a_run_begins_with_one_step_that_prepares(runtime: ChantRuntime, tmp_path: Path) -> None:
    host = played(runtime, tmp_path, "run release")

    assert host.started == [PREPARE]
    assert host.said == []


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        ("run nope", "unknown op 'nope'; known: release"),
        ("run broken", "ops/broken.op.toml:1: "),
        ("run release --env nix", "unknown environment 'nix'; known: local, prod"),
    ],
)
def test_a_run_that_cannot_be_is_refused_with_what_is_known(
    runtime: ChantRuntime, tmp_path: Path, prompt: str, said: str
) -> None:
    folder = make_project(tmp_path / "box", release=RELEASE, broken=BROKEN)
    host = played(runtime, folder, prompt)
    host.perform(PREPARE)

    assert host.result is not None
    assert host.result.stop_reason == "refusal"
    (text,) = texts(runtime, host.said)
    assert said in text


def test_another_verb_answers_in_json(runtime: ChantRuntime, tmp_path: Path) -> None:
    folder = make_project(tmp_path / "box", release=RELEASE, broken=BROKEN)
    host = played(runtime, folder, "chant", "list")
    step = host.running[VERB]
    context = Context()

    assert step.work.run(context) == 0  # type: ignore[union-attr]

    items = [item for stream, text in context.printed for item in step.render(stream, text)]  # type: ignore[arg-type]
    document = json.loads("".join(texts(runtime, items)))
    assert [op["name"] for op in document["ops"]] == ["release"]
    assert document["problems"][0]["file"] == "ops/broken.op.toml"


def test_a_verb_outside_a_project_is_refused(runtime: ChantRuntime, tmp_path: Path) -> None:
    host = played(runtime, tmp_path, "list")
    host.perform(VERB)

    assert host.result is not None
    assert host.result.stop_reason == "refusal"
    assert texts(runtime, host.said)[0].startswith("no project at ")


@pytest.mark.parametrize("prompt", ["rm -rf /", 'chant run "prod', "acp", "x" * 70_000])
def test_what_is_no_command_line_is_refused_at_once(
    runtime: ChantRuntime, tmp_path: Path, prompt: str
) -> None:
    host = played(runtime, tmp_path, prompt)

    assert host.result is not None
    assert host.result.stop_reason == "refusal"
    assert host.started == []
    assert len(texts(runtime, host.said)) == 1


def test_help_is_shown_and_nothing_runs(runtime: ChantRuntime, tmp_path: Path) -> None:
    for prompt, begin in (("--help", "Usage: chant VERB"), ("run --help", "Usage: chant run OP")):
        host = played(runtime, tmp_path, prompt)

        assert host.result is not None
        assert host.result.stop_reason == "end_turn"
        assert host.started == []
        assert "".join(texts(runtime, host.said)).startswith(begin)


def test_help_for_what_is_no_verb_is_refused(runtime: ChantRuntime, tmp_path: Path) -> None:
    host = played(runtime, tmp_path, "help me")
    host.perform(VERB)

    assert host.result is not None
    assert host.result.stop_reason == "refusal"
    assert "'me' is not a verb of chant" in "".join(texts(runtime, host.said))


def test_a_link_beside_the_text_is_passed_over_and_said(
    runtime: ChantRuntime, tmp_path: Path
) -> None:
    prompt = Prompt("s", (Text("run release"), ResourceLink("file:///a", "a")))
    host = PlayedHost(runtime.begin_turn(OpenedSession("s", str(tmp_path)), prompt, "t")).start()

    assert texts(runtime, host.said) == ["links are not part of a command line: passed over\n"]
    assert host.started == [PREPARE]


def test_message_ids_of_two_turns_never_meet(runtime: ChantRuntime, tmp_path: Path) -> None:
    said = [played(runtime, tmp_path, "nonsense").said[0].message_id for _ in range(50)]

    assert len(set(said)) == 50
