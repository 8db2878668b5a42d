"""What `_meta.radian` tells of a turn, and that it is what `radian exec` tells."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.judges.far import KEY, configure
from tests.runtimes.models.servers import model_server, status
from tests.runtimes.radian.acp.client import Client, call

if TYPE_CHECKING:
    from tests.e2e.referee import Message
    from tests.runtimes.radian.box import Box

USAGE = {"input_tokens": 10, "output_tokens": 5}
PRICES = '\n[providers.play.models.script]\nprice_input = "1"\nprice_output = "2"\n'
BUSY = {"text": "Half", "error": {"status": 503, "message": "busy", "retry_after_s": 0}}
TIMES = {"wall_ms", "model_ms", "ttft_ms", "tool_ms", "permission_wait_ms"}


def meta_of(answer: Message) -> dict[str, Any]:
    meta: dict[str, Any] = answer["result"]["_meta"]["radian"]
    return meta


def told_by_exec(box: Box, *flags: str) -> dict[str, Any]:
    run = box.run("exec", "-p", "go", "--output", "json", *flags)
    result: dict[str, Any] = json.loads(run.stdout)
    return result


@pytest.mark.parametrize("usage", [{"usage": USAGE}, {}], ids=["counted", "uncounted"])
def test_methods_meta_is_what_the_result_of_exec_carries(box: Box, usage: dict[str, Any]) -> None:
    box.configure(PRICES)
    box.play(
        {"reasoning": "Hm.", "text": "Look.", "tool_calls": [call("glob", pattern="*")], **usage},
        {"tool_calls": [call("read", path="nowhere")], **usage},
        {**BUSY, **usage},
        {"text": "Done.", **usage},
    )
    result = told_by_exec(box)
    with Client(box) as client:
        client.open()
        answer = client.turn("go").answer

    assert set(answer["result"]) == {"stopReason", "_meta"}
    meta = meta_of(answer)
    ours, theirs = meta["metrics"], result["run_metrics"]
    assert set(ours) == set(theirs)
    assert {key: type(each) for key, each in ours.items()} == {
        key: type(each) for key, each in theirs.items()
    }
    assert {key: ours[key] for key in ours if not key.endswith("_ms")} == {
        key: theirs[key] for key in theirs if not key.endswith("_ms")
    }
    assert (meta["cost"], meta["text"]) == (result["cost"], result["text"])


def test_methods_meta_metrics_cover_the_answering_turn_alone(box: Box) -> None:
    box.configure(PRICES)
    box.play(
        {**BUSY, "usage": USAGE},
        {"tool_calls": [call("glob", pattern="*")], "usage": USAGE},
        {"text": "One.", "usage": USAGE},
        {"text": "Two.", "usage": USAGE},
    )
    with Client(box) as client:
        client.open()
        first, second = (meta_of(client.turn(words).answer) for words in ("one", "two"))

    assert first["metrics"]["retries"] == 1
    assert not second["metrics"].get("retries")
    assert (second["metrics"]["model_calls"], second["metrics"].get("tool_calls", 0)) == (1, 0)
    assert second["cost"] == {"micros": 20, "incomplete": False, "estimated": False}


def test_methods_meta_text_is_the_last_message_in_full_or_empty(box: Box) -> None:
    long = "é✓ " * 50_000
    box.play(
        {"text": "Before.", "tool_calls": [call("glob", pattern="*")]},
        {"text": long},
        {"error": {"status": 400, "message": "no"}},
    )
    with Client(box) as client:
        client.open()
        said, failed = (meta_of(client.turn(words).answer) for words in ("one", "two"))

    assert said["text"] == long
    assert failed["text"] == ""


def test_methods_meta_error_is_masked(box: Box) -> None:
    with model_server(status(400, {"error": {"message": f"bad key {KEY}"}})) as server:
        configure(box, "openai-compatible", server.url)
        with Client(box, "--provider", "far") as client:
            client.open()
            turn = client.turn("go")
            shown = json.dumps([turn.answer, *turn.messages]) + client.stderr()

    assert turn.stop_reason == "refusal"
    assert "bad key" in meta_of(turn.answer)["error"]
    assert KEY not in shown


@pytest.mark.parametrize(
    ("script", "flags", "reason", "code"),
    [
        ({"text": "Yes."}, (), "end_turn", 0),
        ({"text": "half", "finish": "length"}, (), "max_tokens", 3),
        ({"tool_calls": [call("glob", pattern="*")]}, ("--max-model-calls", "1"),
         "max_turn_requests", 4),
        ({"text": "no", "finish": "refused"}, (), "refusal", 6),
        ({"text": "hm", "finish": "broken"}, (), "refusal", 6),
        ({"error": {"status": 400, "message": "no"}}, (), "refusal", 5),
    ],
)  # fmt: skip
def test_methods_stop_reasons_go_with_the_exit_codes_of_exec(
    box: Box, script: dict[str, Any], flags: tuple[str, ...], reason: str, code: int
) -> None:
    box.play(script, then="repeat-last")
    result = told_by_exec(box, *flags)
    with Client(box, *flags) as client:
        client.open()
        turn = client.turn("go")

    assert (turn.stop_reason, result["exit_code"]) == (reason, code)
    # An answer that is not finished is no error of anybody.
    assert ("error" in meta_of(turn.answer)) == ("error" in result) == (code == 5)


def test_methods_a_length_that_can_be_continued_is_no_max_tokens(box: Box) -> None:
    box.play({"text": "One, ", "finish": "length"}, {"text": "two."})
    with Client(box) as client:
        client.open()
        turn = client.turn("go")

    assert (turn.stop_reason, turn.text) == ("end_turn", "One, two.")
