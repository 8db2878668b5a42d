"""Section 1 of the page behind `radian`: what `radian exec` takes; see `test_radian_seed`."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

from tests.e2e.radian_page import MIB, OUTPUTS, far, talker
from tests.runtimes.models.servers import (
    GOOD,
    chat,
    events,
    model_server,
    status,
    stream,
)
from tests.runtimes.radian.acp.client import Client, call
from tests.runtimes.radian.box import Box, objects
from tests.runtimes.radian.terminal import at_terminal
from tests.scripts import script

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return talker(tmp_path)


@pytest.mark.parametrize("output", OUTPUTS)
def test_s1_1_resume_wins_and_another_id_gets_one_warning_on_stderr(box: Box, output: str) -> None:
    assert box.run("exec", "-p", "x", "--session-id", "one").returncode == 0

    words = ("exec", "-p", "y", "--resume", "one", "--output", output)
    other = box.run(*words, "--session-id", "two")
    same = box.run(*words, "--session-id", "one")

    assert other.returncode == 0
    assert other.stderr == "warning: --session-id two is ignored: --resume goes on\n"
    assert (same.returncode, same.stderr) == (0, "")
    assert [each["turn"] for each in box.journal("one") if each["type"] == "TurnEnded"] == [1, 2, 3]
    assert not box.home.joinpath("sessions", "two.jsonl").exists()


def test_s1_1_a_generated_id_is_a_uuid_of_version_7_and_ids_have_limits(box: Box) -> None:
    made = objects(box.run("exec", "-p", "x", "--output", "json").stdout)[0]["session_id"]
    longest = box.run("exec", "-p", "x", "--session-id", "a.b_c-" + "d" * 122)
    codes = {
        each: box.run("exec", "-p", "x", f"--session-id={each}").returncode
        for each in ("a" * 129, ".a", "-a", "_a", "a/b", "é", "", "A.B_C-" + "d" * 122)
    }

    assert UUID(made).version == 7
    assert longest.returncode == 0
    assert list(codes.values()) == [2] * 7 + [10]


def test_s1_1_two_hundred_calls_are_a_turns_limit_and_zero_is_none(box: Box) -> None:
    more = {"tool_calls": [call("todo", items=[])]}
    ends: list[tuple[Any, ...]] = []
    for flags in ((), ("--max-model-calls", "0")):
        box.play(*[more] * 205, {"text": "end"})
        run = box.run("exec", "-p", "x", "--output", "json", *flags)
        result = objects(run.stdout)[0]
        ends.append((run.returncode, result.get("reason"), result["run_metrics"]["model_calls"]))

    assert ends == [(4, "model_calls", 200), (0, None, 206)]


@pytest.mark.parametrize("output", OUTPUTS)
def test_s1_1_an_effort_without_effect_is_warned_of_once(box: Box, output: str) -> None:
    refusal = status(400, {"error": {"message": "unknown field reasoning_effort"}})
    called = [chat({"tool_calls": [{"index": 0, "id": "c", "function":
                                    {"name": "todo", "arguments": '{"items": []}'}}]}),
              chat(finish="tool_calls")]  # fmt: skip
    words = ("exec", "-p", "x", "--effort", "high", "--output", output)
    with model_server(refusal, stream(events(*called)), GOOD) as server:
        refused = box.run(*words, *far(box, server.url))
        asked = [each.body.get("reasoning_effort") for each in server.requests]
    box.play({"tool_calls": [call("todo", items=[])]}, {"text": "ok"})
    played = box.run(*words)

    assert (refused.returncode, played.returncode) == (0, 0)
    assert asked == ["high", None, None]
    said = "warning: far: the provider does not take --effort for this model\n"
    assert refused.stderr.count(said) == refused.stderr.count("warning: ") == 1
    assert played.stderr.count("warning: a script does not take --effort\n") == 1
    assert played.stderr.count("warning: ") == 1


def test_s1_1_a_limit_of_tokens_goes_with_each_call(box: Box) -> None:
    with model_server(GOOD) as server:
        words = ("exec", "-p", "x", *far(box, server.url))
        assert box.run(*words, "--max-output-tokens", "77").returncode == 0
        assert box.run(*words).returncode == 0
        limits = [each.body.get("max_tokens") for each in server.requests]

    assert limits == [77, None]


def test_s1_1_a_hermetic_run_has_nothing_of_the_persons(box: Box) -> None:
    veto = '["/bin/sh", "-c", "exit 7"]'
    box.configure(f'\n[[hooks]]\nevent = "user_prompt"\ncommand = {veto}\nrequired = true\n')
    words = ("exec", "-p", "x", "--provider", "openai", "--model", "m")

    assert box.run(*words).returncode == 5  # the hook fails the turn
    run = box.run(*words, "--no-user-config")
    assert (run.returncode, run.stdout) == (11, "")
    assert "radian login openai" in run.stderr
    unknown = box.run("exec", "-p", "x", "--no-user-config", "--provider", "play")
    assert (unknown.returncode, unknown.stderr.count("\n")) == (2, 1)
    assert "known: openai, anthropic, gemini" in unknown.stderr


def test_s1_2_a_prompt_of_stdin_is_utf_8_of_at_most_64_mib(box: Box) -> None:
    seen: list[tuple[int, bytes, bytes]] = []
    for data in (b"\xff\xfe x", b" \n\t", b"x" * (64 * MIB + 1), b"x" * (64 * MIB)):
        run = subprocess.run(
            [script("radian"), "exec", "-p", "-"], cwd=box.workspace, env=box.environ,
            input=data, capture_output=True, check=False, timeout=60,
        )  # fmt: skip
        seen.append((run.returncode, run.stdout, run.stderr))

    assert seen == [
        (2, b"", b"radian exec: the prompt is no UTF-8: byte 0\n"),
        (2, b"", b"radian exec: the prompt is empty\n"),
        (2, b"", b"radian exec: the prompt is longer than 67108864 bytes\n"),
        (0, b"ok\n", b""),
    ]


def test_s1_2_pictures_are_known_by_content_and_have_20_mib_at_most(box: Box) -> None:
    png = b"\x89PNG\r\n\x1a\n"
    heads = {
        "a.txt": png, "b.png": b"\xff\xd8\xff\xe0", "c": b"GIF89a",
        "d.gif": b"RIFF\x10\0\0\0WEBPVP8 ", "big.png": png, "e.png": b"BM",
    }  # fmt: skip
    sizes = {"a.txt": 20 * MIB, "big.png": 20 * MIB + 1}
    for name, head in heads.items():
        box.workspace.joinpath(name).write_bytes(head.ljust(sizes.get(name, 40), b"\0"))

    fine = [word for name in list(heads)[:4] for word in ("--image", name)]
    assert box.run("exec", "-p", "x", "--session-id", "s1", *fine).returncode == 0
    (asked,) = [each for each in box.journal("s1") if each["type"] == "UserMessage"]
    kinds = [part["mime_type"] for part in asked["content"] if part["type"] == "image"]
    assert kinds == ["image/png", "image/jpeg", "image/gif", "image/webp"]
    for name, said in (("big.png", "more than 20971520 bytes"), ("e.png", "is no picture")):
        run = box.run("exec", "-p", "x", "--image", name)
        assert (run.returncode, run.stdout, said in run.stderr) == (2, "", True)
    assert box.run("exec", "--image", "a.txt").returncode == 2  # a picture needs a prompt


def test_s1_2_a_fork_takes_all_up_to_the_last_ended_turn_and_calls_no_model(box: Box) -> None:
    for number in (1, 2):
        flag = "--session-id" if number == 1 else "--resume"
        assert box.run("exec", "-p", f"turn {number}", flag, "s1").returncode == 0
    path = box.home / "sessions" / "s1.jsonl"
    *rest, last = path.read_text().splitlines(keepends=True)
    assert '"TurnEnded"' in last
    path.write_text("".join(rest))  # as a process leaves it that was killed
    box.home.joinpath("turns.json").unlink()

    forked = box.run("exec", "--fork", "s1").stdout.strip()

    assert UUID(forked).version == 7
    assert [each["turn"] for each in box.journal(forked) if each["type"] == "TurnStarted"] == [1]
    parent = box.journal(forked)[0]["parent"]
    assert (parent["session_id"], box.journal("s1")[parent["seq"] - 1]["type"]) == (
        "s1",
        "TurnEnded",
    )


def test_s1_2_an_export_that_can_not_be_written_names_the_place_and_leaves_nothing(
    box: Box,
) -> None:
    assert box.run("exec", "-p", "x", "--session-id", "s1").returncode == 0
    folder = box.workspace / "reports"
    folder.mkdir()

    run = box.run("exec", "--export", "s1", "--out", "reports", "--force")

    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr == f"radian exec: Is a directory: {folder}\n"
    assert list(box.workspace.iterdir()) == [folder]


def test_s1_2_a_session_that_is_open_elsewhere_can_be_read_and_forked(box: Box) -> None:
    with Client(box, "--session-id", "live") as client:
        client.open()
        client.turn("hi")
        commands = {
            each: box.run("exec", *each).returncode
            for each in (("--export", "live"), ("--fork", "live"), ("--list",), ("--search", "hi"))
        }
        taken = [box.run("exec", "-p", "x", flag, "live") for flag in ("--resume", "--session-id")]
        assert client.turn("still mine").stop_reason == "end_turn"

    assert set(commands.values()) == {0}, commands
    assert [each.returncode for each in taken] == [10, 10]
    assert all("session live is in use" in each.stderr for each in taken)


@pytest.mark.parametrize("output", OUTPUTS)
def test_s1_2_a_question_is_put_at_the_terminal_whatever_the_output(box: Box, output: str) -> None:
    question = {"question": "Which colour?", "options": [{"label": "red"}, {"label": "blue"}]}
    box.play({"tool_calls": [call("ask_user", questions=[question])]}, {"text": "I see."})

    with at_terminal(box, "--session-id", "s1", "--output", output) as terminal:
        terminal.wait_for("> ")
        terminal.type("go\n")
        terminal.wait_for("? Which colour?")
        terminal.wait_for("2. blue")
        terminal.type("2\n")
        terminal.wait_for("I see.")

    answers = [each["option"] for each in box.journal("s1") if each["type"] == "QuestionAnswered"]
    assert answers == ["blue"]


def test_s1_2_an_export_has_usage_as_it_was_sent_where_that_is_asked_for(box: Box) -> None:
    sent = {
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "prompt_tokens_details": {"cached_tokens": 3},
        "cost_in_vendor_points": 0.25,
    }
    last = chat(finish="stop", usage=sent)
    with model_server(stream(events(chat({"content": "Yes."}), last))) as server:
        words = ("exec", "-p", "x", "--session-id", "s1", *far(box, server.url))
        assert box.run(*words).returncode == 0

    (kept_of_it,) = [each for each in box.journal("s1") if each["type"] == "AssistantMessage"]
    counts = {"input_tokens": 10, "output_tokens": 5, "cache_read_tokens": 3}
    assert (kept_of_it["usage"], kept_of_it["payload"]) == (counts, {"usage": sent})
    for form in ("json", "jsonl", "markdown"):
        export = ("exec", "--export", "s1", "--format", form)
        raw = box.run(*export, "--include-provider-payload").stdout
        assert "cost_in_vendor_points" in raw
        assert "cost_in_vendor_points" not in box.run(*export, "--include-reasoning").stdout
