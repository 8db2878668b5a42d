"""Prompts, updates and cancels of `radian acp`."""

from __future__ import annotations

import base64
import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.runtimes.radian.acp.client import Client, call

if TYPE_CHECKING:
    from tests.e2e.referee import Message
    from tests.runtimes.radian.box import Box

PNG = b"\x89PNG\r\n\x1a\n" + bytes(16)
USAGE = {"input_tokens": 10, "output_tokens": 5}
WINDOW = "\n[providers.play.models.script]\ncontext_window = 1000\n"
SLOW: dict[str, Any] = {"text": "slowly, letter by letter", "chunk": 1, "delay_ms": 50}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def user_parts(box: Box, session: str) -> list[dict[str, Any]]:
    (message,) = [each for each in box.journal(session) if each["type"] == "UserMessage"]
    parts: list[dict[str, Any]] = message["content"]
    return parts


def meta_of(answer: Message) -> dict[str, Any]:
    meta: dict[str, Any] = answer["result"]["_meta"]["radian"]
    return meta


def test_methods_a_prompt_is_answered_once_its_end_is_in_the_session_file(box: Box) -> None:
    box.play({"text": "Yes.", "reasoning": "Hm.", "usage": USAGE})
    with Client(box) as client:
        session = client.open()
        turn = client.turn("well?")

        # Read while the process lives.
        assert box.journal(session)[-1]["type"] == "TurnEnded"
    assert (turn.stop_reason, turn.text) == ("end_turn", "Yes.")
    (thought,) = turn.updates("agent_thought_chunk")
    (said,) = turn.updates("agent_message_chunk")
    assert thought["content"]["text"] == "Hm."
    assert thought["messageId"] != said["messageId"]


def test_methods_meta_has_cost_text_and_the_metrics_of_the_turn(box: Box) -> None:
    box.configure('\n[providers.play.models.script]\nprice_input = "1"\nprice_output = "2"\n')
    box.play(
        {"text": "One.", "usage": USAGE},
        {"text": "Looking.", "tool_calls": [call("glob", pattern="*")], "usage": USAGE},
        {"text": "Two.", "usage": USAGE},
    )
    with Client(box) as client:
        client.open()
        client.turn("first")
        meta = meta_of(client.turn("second").answer)

    assert set(meta) == {"cost", "text", "metrics"}
    assert meta["text"] == "Two."
    assert meta["cost"] == {"micros": 40, "incomplete": False, "estimated": False}
    assert (meta["metrics"]["model_calls"], meta["metrics"]["tool_calls"]) == (2, 1)
    assert meta["metrics"]["input_tokens"] == 20


def test_methods_meta_cost_is_null_without_a_price_and_error_only_on_a_refusal(box: Box) -> None:
    box.play({"error": {"status": 400, "message": "no such thing"}}, {"text": "Again."})
    with Client(box) as client:
        client.open()
        failed = client.turn("one")
        fine = client.turn("two")

    assert failed.stop_reason == "refusal"
    assert "no such thing" in meta_of(failed.answer)["error"]
    assert meta_of(failed.answer)["text"] == ""
    assert "error" not in meta_of(fine.answer)
    assert meta_of(fine.answer)["cost"] is None


@pytest.mark.parametrize(
    ("script", "flags", "reason"),
    [
        ({"text": "half", "finish": "length"}, (), "max_tokens"),
        ({"tool_calls": [call("glob", pattern="*")]}, ("--max-model-calls", "1"),
         "max_turn_requests"),
        ({"text": "no", "finish": "refused"}, (), "refusal"),
    ],
)  # fmt: skip
def test_methods_stop_reasons_follow_the_end_of_the_turn(
    box: Box, script: dict[str, Any], flags: tuple[str, ...], reason: str
) -> None:
    box.play(script, then="repeat-last")
    with Client(box, *flags) as client:
        client.open()

        assert client.turn("go").stop_reason == reason


def test_methods_a_resource_link_becomes_a_line_and_embedded_text_is_put_in(box: Box) -> None:
    box.play({"when": "file:///a.txt", "text": "Seen."})
    link = {"type": "resource_link", "uri": "file:///a.txt", "name": "a.txt"}
    inside = {"type": "resource", "resource": {"uri": "file:///b.txt", "text": "b's text"}}
    with Client(box) as client:
        session = client.open()

        assert client.blocks(text("look:"), link, inside)["result"]["stopReason"] == "end_turn"
    _, first, second = user_parts(box, session)
    assert (first["uri"], first["name"]) == ("file:///a.txt", "a.txt")
    assert second["text"] == "b's text"


def test_pictures_are_kept_beside_the_journal(box: Box) -> None:
    box.play({"text": "Nice."})
    data = base64.b64encode(PNG).decode()
    image = {"type": "image", "data": data, "mimeType": "image/png"}
    blob = {"type": "resource", "resource": {"uri": "file:///p", "blob": data}}
    with Client(box) as client:
        session = client.open()

        assert client.blocks(text("what is it?"), image, blob)["result"]["stopReason"] == "end_turn"
    (kept,) = box.home.joinpath("sessions", f"{session}.files").iterdir()
    assert kept.read_bytes() == PNG
    assert [part["type"] for part in user_parts(box, session)][1:] == ["image", "image"]


@pytest.mark.parametrize(
    ("block", "named"),
    [
        ({"type": "image", "data": "%%%", "mimeType": "image/png"}, "prompt[0]"),
        ({"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"}, "prompt[0]"),
        ({"type": "resource", "resource": {"uri": "file:///x.pdf", "blob": "aGVsbG8="}}, "x.pdf"),
        ({"type": "audio", "data": "aGVsbG8=", "mimeType": "audio/wav"}, "audio"),
        (text("  \n"), "empty"),
    ],
)
def test_a_prompt_that_can_not_be_taken_is_refused_and_leaves_no_turn(
    box: Box, block: dict[str, Any], named: str
) -> None:
    box.play({"text": "Fine."})
    with Client(box) as client:
        session = client.open()
        error = client.blocks(block)["error"]

        assert (error["code"], named in error["message"]) == (-32602, True)
        assert client.turn("and now?").stop_reason == "end_turn"
    assert [each["turn"] for each in box.journal(session) if each["type"] == "TurnEnded"] == [1]


def test_methods_a_second_prompt_in_a_turn_is_refused_and_the_first_is_unharmed(box: Box) -> None:
    box.play(SLOW, {"text": "Quick."})
    with Client(box) as client:
        client.open()
        running = client.prompt("go")
        client.until_text("s")
        refused = client.call(
            "session/prompt", {"sessionId": client.session, "prompt": [text("me too")]}
        )
        first = client.finish(running)

    assert refused["error"]["code"] == -32600
    assert "running" in refused["error"]["message"]
    assert first.stop_reason == "end_turn"
    assert meta_of(first.answer)["text"] == SLOW["text"]


# --- updates


def test_updates_a_tool_call_is_shown_with_what_it_changes(box: Box) -> None:
    box.workspace.joinpath("a.txt").write_text("old\n")
    box.play(
        {"tool_calls": [call("read", path="a.txt")]},
        {"tool_calls": [call("patch", path="a.txt", old="old", new="new")]},
        {"text": "Done."},
    )
    with Client(box) as client:
        client.open()
        turn = client.turn("change it")

    path = str(box.workspace / "a.txt")
    edit = turn.updates("tool_call")[1]
    diff = {"type": "diff", "path": path, "oldText": "old\n", "newText": "new\n"}
    assert (edit["kind"], edit["status"]) == ("edit", "pending")
    assert edit["rawInput"] == {"path": "a.txt", "old": "old", "new": "new"}
    assert edit["locations"][0]["path"] == path
    assert edit["content"] == [diff]
    steps = [each for each in turn.updates("tool_call_update")
             if each["toolCallId"] == edit["toolCallId"]]  # fmt: skip
    assert [each["status"] for each in steps] == ["in_progress", "completed"]
    assert steps[-1]["content"] == [diff]
    assert steps[-1]["rawOutput"]["output"]


def test_updates_usage_is_told_where_the_window_is_known(box: Box) -> None:
    box.play({"text": "Yes.", "usage": USAGE}, then="repeat-last")
    with Client(box) as client:
        client.open()
        assert client.turn("well?").updates("usage_update") == []
    box.configure(WINDOW)
    with Client(box) as client:
        client.open()
        (usage,) = client.turn("well?").updates("usage_update")

    assert (usage["used"], usage["size"]) == (15, 1000)


def test_what_is_tried_again_is_another_message(box: Box) -> None:
    busy = {"text": "Half", "error": {"status": 503, "message": "busy", "retry_after_s": 0}}
    box.play(busy, {"text": "Whole."})
    with Client(box) as client:
        client.open()
        turn = client.turn("go")

    half, whole = turn.updates("agent_message_chunk")
    assert half["messageId"] != whole["messageId"]
    assert any("again" in each["content"]["text"] for each in turn.updates("agent_thought_chunk"))
    assert meta_of(turn.answer)["text"] == "Whole."
    assert meta_of(turn.answer)["metrics"]["retries"] == 1


def test_long_output_stays_in_short_lines(box: Box) -> None:
    long = "\n".join("é" * 90 for _ in range(400))
    box.workspace.joinpath("a.txt").write_text(long)
    said = "é💫" * 50_000
    box.play({"text": said, "tool_calls": [call("read", path="a.txt")]}, {"text": "Ok."})
    with Client(box) as client:
        client.open()
        turn = client.turn("read")

    lines = [json.dumps(each, ensure_ascii=False).encode() for each in turn.messages]
    assert max(map(len, lines)) < 60 * 1024
    # Cut between characters, and nothing lost.
    assert turn.text == f"{said}Ok."


@pytest.mark.parametrize(
    ("used", "note"),
    [
        (call("read", path="lines"), "the file goes on: next offset"),
        (call("read", path="line"), "line cut"),
        (call("grep", pattern="é", path="lines"), "limit"),
        (call("shell", command="cat lines"), "bytes left out; all of it is in "),
        (call("shell", command="cat line"), "bytes left out; all of it is in "),
    ],
    ids=["lines", "one line", "matches", "output of lines", "output of one line"],
)
def test_two_megabytes_are_shown_in_part_and_that_is_said(
    box: Box, used: dict[str, Any], note: str
) -> None:
    box.workspace.joinpath("lines").write_text("\n".join("é" * 90 for _ in range(11_000)))
    box.workspace.joinpath("line").write_text("x" * 2_000_000)
    box.play({"tool_calls": [used]}, {"text": "Ok."})
    with Client(box) as client:
        client.open()
        turn = client.turn("go")

    lines = [json.dumps(each, ensure_ascii=False).encode() for each in turn.messages]
    assert max(map(len, lines)) < 60 * 1024
    last = turn.updates("tool_call_update")[-1]
    assert last["status"] == "completed"
    assert note in last["content"][0]["content"]["text"]
    assert turn.text == "Ok."


@pytest.mark.parametrize(
    "text", ["é" * 1_000_000, "one line\n" * 222_222, "\x01" * 100_000, "x" * 40_000]
)
def test_of_a_long_output_it_is_said_how_much_is_not_shown_and_where_it_is(
    box: Box, text: str
) -> None:
    box.workspace.joinpath("out").write_text(text)
    box.play({"tool_calls": [call("shell", command="cat out")]}, {"text": "Ok."})
    with Client(box) as client:
        session = client.open()
        turn = client.turn("go")
    with Client(box) as client:
        loaded = client.load(session)

    for messages in (turn, loaded):
        last = messages.updates("tool_call_update")[-1]
        shown = last["content"][0]["content"]["text"]
        head, left_out, where, tail = re.split(
            r"\n\[\.\.\. (\d+) bytes left out; (.*) \.\.\.\]\n", shown
        )
        assert text.startswith(head)
        assert text.endswith(tail)
        assert len(f"{head}{tail}".encode()) + int(left_out) == len(text.encode())
        assert where.startswith("all of it is in ")
        assert last["rawOutput"]["output"] == shown


# --- cancels


def test_methods_cancel_leaves_the_prefix_in_the_journal(box: Box) -> None:
    box.play(SLOW, {"text": "Here."})
    with Client(box) as client:
        session = client.open()
        running = client.prompt("go")
        client.until_text("s")
        client.cancel()
        turn = client.finish(running)

        assert turn.stop_reason == "cancelled"
        assert client.turn("still there?").stop_reason == "end_turn"
    (partial, _) = [each for each in box.journal(session) if each["type"] == "AssistantMessage"]
    assert partial["partial"] is True
    assert SLOW["text"].startswith(partial["parts"][0]["text"])
    ends = [each["end"] for each in box.journal(session) if each["type"] == "TurnEnded"]
    assert ends == ["Interrupted", "Completed"]


def test_cancel_ends_a_command_and_all_that_it_started(box: Box) -> None:
    box.play({"tool_calls": [call("shell", command="echo ready; sleep 600 & sleep 600")]})
    with Client(box, "--profile", "full") as client:
        client.open()
        running = client.prompt("go")
        client.until(lambda message: "ready" in str(message.get("params", {}).get("update", {})
                     .get("content", "")))  # fmt: skip
        client.cancel()
        turn = client.finish(running)

        assert turn.stop_reason == "cancelled"
        assert turn.updates("tool_call_update")[-1]["status"] == "failed"
    assert client.wait_for_no_one() == set()


def test_end_of_input_in_a_turn_ends_it_and_the_journal_says_so(box: Box) -> None:
    box.play(SLOW)
    with Client(box) as client:
        session = client.open()
        client.prompt("go")
        client.until_text("s")
        client.end_input()

        assert client.exit_code() == 0
    assert box.journal(session)[-1]["end"] == "Interrupted"


def test_limits_background_jobs_are_not_awaited_and_end_with_the_process(box: Box) -> None:
    started = call("shell", command="sleep 600", background=True)
    box.play({"tool_calls": [started]}, {"text": "It runs."})
    with Client(box, "--profile", "full") as client:
        session = client.open()

        assert client.turn("go").stop_reason == "end_turn"
        client.end_input()
        assert client.exit_code() == 0
    assert client.wait_for_no_one() == set()
    last = box.journal(session)[-1]
    assert (last["type"], last["killed"]) == ("JobFinished", True)
