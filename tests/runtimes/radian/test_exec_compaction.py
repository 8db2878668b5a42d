"""`radian exec` in a conversation that is too long for its model."""

from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING, Any

import pytest

from tests.runtimes.models.servers import chat, events, model_server, status, stream
from tests.runtimes.radian.box import Box, make_box, objects

if TYPE_CHECKING:
    from pathlib import Path

    from tests.runtimes.models.servers import ModelServer, Seen

TOO_LONG = {"error": {"status": 400, "message": "maximum context length exceeded"}}
LONG = "It is a long story. " * 200
USAGE = {"input_tokens": 10, "output_tokens": 5}
LARGE = {"input_tokens": 1000, "output_tokens": 1000}
PRICED = '\n[providers.play.models.script]\nprice_input = "1"\nprice_output = "2"\n'
WINDOW = "\n[providers.play.models.script]\ncontext_window = 1000\n"


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return make_box(tmp_path)


def call(name: str, **values: Any) -> dict[str, Any]:
    return {"name": name, "input": values}


def ask(box: Box, words: str, *flags: str) -> tuple[int, list[dict[str, Any]]]:
    """Go on with the session and return the exit code and the stream."""
    there = (box.home / "sessions" / "s1.jsonl").exists()
    session = ("--resume", "s1") if there else ("--session-id", "s1")
    run = box.run("exec", "-p", words, "--output", "jsonl", *session, *flags)
    return run.returncode, objects(run.stdout)


def types(stream_: list[dict[str, Any]]) -> list[str]:
    return [each["type"] for each in stream_]


def test_a_conversation_that_is_too_long_is_summarised_and_the_call_made_again(box: Box) -> None:
    box.configure(PRICED)
    box.play({"text": LONG, "usage": LARGE})
    ask(box, "Use tabs. Tell me.")
    box.play(
        TOO_LONG,
        {"when": "Summarize the conversation", "text": "They spoke.", "usage": USAGE},
        {"when": "And now?", "text": "Now this.", "usage": USAGE},
    )

    code, said = ask(box, "And now?")

    result = said[-1]
    assert (code, result["text"]) == (0, "Now this.")
    assert result["run_metrics"]["compactions"] == 1
    assert result["run_metrics"]["model_calls"] == 3
    assert result["run_metrics"]["retries"] == 0
    assert result["cost"] == {"micros": 40, "incomplete": True, "estimated": False}
    assert "Retry" not in types(said)
    (told,) = [each for each in said if each["type"] == "Compaction"]
    assert told["turn"] == 2
    assert told["tokens_after"] < told["tokens_before"]
    assert [each["delta"] for each in said if each["type"] == "Text"] == ["Now this."]
    assert [each["call"] for each in said if each["type"] == "Usage"] == [2, 3]
    (record,) = [each for each in box.journal("s1") if each["type"] == "Compacted"]
    assert record["summary"].startswith("They spoke.\n")
    assert "Use tabs. Tell me." in record["summary"]
    assert (record["turn"], record["call"], record["cost_micros"]) == (2, 2, 20)


def test_what_follows_sees_the_summary_and_other_turns_fold_as_before(box: Box) -> None:
    box.play({"text": LONG, "usage": USAGE})
    _, first = ask(box, "Tell me.")
    box.play(TOO_LONG, {"text": "They spoke."}, {"text": "Now this."})
    ask(box, "And now?")
    box.play({"when": "They spoke.", "text": "I know."}, {"text": "I forgot."})

    code, said = ask(box, "Do you remember?")

    assert (code, said[-1]["text"]) == (0, "I forgot.")  # `when` looks at the last message alone
    assert said[-1]["run_metrics"]["compactions"] == 0
    exported = json.loads(box.run("exec", "--export", "s1", "--format", "json").stdout)
    folded = [each["run_metrics"] for each in exported["turns"]]
    assert folded[0] == first[-1]["run_metrics"]
    assert [each["compactions"] for each in folded] == [0, 1, 0]


def test_rounds_of_tools_are_summarised_in_the_middle_of_a_turn(box: Box) -> None:
    (box.workspace / "a.txt").write_text(LONG)
    read = {"tool_calls": [call("read", path="a.txt")]}
    box.play(
        read,
        read,
        TOO_LONG,
        {"when": "[Call of read]", "text": "They read."},
        {"when": "Go.", "text": "Done."},
    )

    code, said = ask(box, "Go.")

    assert (code, said[-1]["text"]) == (0, "Done.")
    assert said[-1]["run_metrics"]["tool_calls"] == 2


def test_a_provider_that_refuses_everything_is_asked_a_few_times_and_nothing_is_lost(
    box: Box,
) -> None:
    box.play({"text": LONG})
    ask(box, "Tell me.")
    box.play(TOO_LONG, then="repeat-last")

    code, said = ask(box, "And now?")

    assert (code, said[-1]["status"], said[-1]["stop_reason"]) == (5, "failed", "refusal")
    assert "maximum context length exceeded" in said[-1]["error"]
    assert said[-1]["run_metrics"]["model_calls"] == 4
    assert said[-1]["run_metrics"]["compactions"] == 0
    box.play(TOO_LONG, {"when": "long story", "text": "They spoke."}, {"text": "Fine."})
    code, said = ask(box, "Shorter?")
    assert (code, said[-1]["text"]) == (0, "Fine.")


def test_a_conversation_that_a_summary_does_not_help_ends_the_turn(box: Box) -> None:
    box.play({"text": LONG})
    ask(box, "Tell me.")
    box.play(TOO_LONG, {"text": "They spoke."}, TOO_LONG, {"text": "never"})

    code, said = ask(box, "And now?")

    assert code == 5
    assert "also with a summary" in said[-1]["error"]
    assert said[-1]["run_metrics"]["model_calls"] == 3


def test_a_first_prompt_that_is_too_long_is_refused_at_once(box: Box) -> None:
    box.play(TOO_LONG, {"text": "never"})

    code, said = ask(box, LONG)

    assert (code, said[-1]["run_metrics"]["model_calls"]) == (5, 1)
    assert "nothing before the last message" in said[-1]["error"]


def test_a_summary_is_made_before_the_window_is_full(box: Box) -> None:
    box.configure(WINDOW)
    box.play({"text": LONG, "usage": {"input_tokens": 100, "output_tokens": 800}})
    ask(box, "Tell me.")
    box.play({"text": "They spoke."}, {"text": "Now this."}, {"text": "And that."})

    code, said = ask(box, "And now?")

    assert (code, said[-1]["text"]) == (0, "Now this.")
    order = [each for each in types(said) if each in {"Compaction", "Text", "Usage"}]
    assert order == ["Compaction", "Text"]
    code, said = ask(box, "Then?")
    assert "Compaction" not in types(said)


def test_an_early_summary_that_fails_is_warned_of_and_the_turn_goes_on(box: Box) -> None:
    box.configure(WINDOW)
    box.play({"text": LONG, "usage": {"input_tokens": 100, "output_tokens": 800}})
    ask(box, "Tell me.")
    box.play({"error": {"status": 400, "message": "odd"}}, {"text": "Now this."})

    code, said = ask(box, "And now?")

    assert (code, said[-1]["text"]) == (0, "Now this.")
    (warning,) = [each for each in said if each["type"] == "Warning"]
    assert "could not be summarised: " in warning["message"]


def test_an_answer_that_filled_the_context_goes_on_after_a_summary(box: Box) -> None:
    box.configure(WINDOW)
    box.play({"text": "A short one."})
    ask(box, "Tell me.")
    full = {"input_tokens": 900, "output_tokens": 95}
    box.play(
        {"text": "One, ", "finish": "length", "usage": full},
        {"text": "They spoke."},
        {"when": "cut off", "text": "two."},
    )

    code, said = ask(box, "Count.")

    assert (code, said[-1]["text"]) == (0, "One, two.")
    assert said[-1]["run_metrics"]["compactions"] == 1


def test_a_summary_needs_a_call_left_to_use_it(box: Box) -> None:
    box.play({"text": LONG})
    ask(box, "Tell me.")
    box.play(TOO_LONG, {"text": "never"})

    code, said = ask(box, "And now?", "--max-model-calls", "2")

    assert (code, said[-1]["reason"]) == (4, "model_calls")


def test_a_summary_can_be_interrupted_and_nothing_is_lost(box: Box) -> None:
    box.play({"text": LONG})
    ask(box, "Tell me.")
    box.play(TOO_LONG, {"text": "They spoke.", "delay_ms": 600_000})
    with box.start("exec", "-p", "And now?", "--resume", "s1") as process:
        assert process.stderr is not None
        for line in process.stderr:
            if "summarising" in line:
                break
        process.send_signal(signal.SIGINT)
        process.wait(30)

    assert process.returncode == 130
    assert "Compacted" not in [each["type"] for each in box.journal("s1")]


def test_retries_of_a_summary_are_told(box: Box) -> None:
    box.play({"text": LONG})
    ask(box, "Tell me.")
    busy = {"error": {"status": 429, "message": "busy", "retry_after_s": 0.01}}
    box.play(TOO_LONG, busy, {"text": "They spoke."}, {"text": "Now this."})

    code, said = ask(box, "And now?")

    assert (code, said[-1]["run_metrics"]["retries"]) == (0, 1)
    assert [each["call"] for each in said if each["type"] == "Retry"] == [2]


def test_people_are_told_what_takes_so_long(box: Box) -> None:
    box.play({"text": LONG})
    ask(box, "Tell me.")
    box.play(TOO_LONG, {"text": "They spoke."}, {"text": "Now this."})

    run = box.run("exec", "-p", "And now?", "--resume", "s1")

    assert run.stdout == "Now this.\n"
    assert "~ the conversation is long; summarising what came before\n~ summarised: " in run.stderr


def test_a_session_is_forked_before_and_after_a_summary_and_exported(box: Box) -> None:
    box.play({"text": LONG})
    ask(box, "Tell me.")
    box.play(TOO_LONG, {"text": "They spoke."}, {"text": "Now this."})
    ask(box, "And now?")

    for at, whole in (("1", True), ("2", False)):
        fork = box.run("exec", "--fork", "s1", "--at", at).stdout.strip()
        box.play({"text": "On we go."}, then="repeat-last")
        run = box.run("exec", "-p", "Go on.", "--resume", fork, "--output", "json")
        assert (run.returncode, json.loads(run.stdout)["text"]) == (0, "On we go.")
        compacted = [each for each in box.journal(fork) if each["type"] == "Compacted"]
        assert (compacted == []) is whole
        for record in compacted:
            assert record["first_kept_seq"] <= record["seq"]

    exported = box.run("exec", "--export", "s1").stdout
    assert "### Summary of what came before\n\nThey spoke." in exported
    assert LONG.strip() in exported


def test_a_subagents_conversation_is_summarised_apart_from_the_turns(box: Box) -> None:
    box.configure(PRICED)
    (box.workspace / "a.txt").write_text(LONG)
    box.play(
        {"tool_calls": [call("subagent", prompt="Find it.", description="find")], "usage": USAGE},
        {"when": "Find it.", "tool_calls": [call("read", path="a.txt")], "usage": USAGE},
        TOO_LONG,
        {"when": "[Person] Find it.", "text": "It read.", "usage": USAGE},
        {"when": "It read.", "text": "Found.", "usage": USAGE},
        {"text": "Done.", "usage": USAGE},
    )

    code, said = ask(box, "Go.")

    assert (code, said[-1]["text"]) == (0, "Done.")
    assert said[-1]["run_metrics"]["compactions"] == 0
    assert said[-1]["run_metrics"]["subagent_model_calls"] == 4
    assert said[-1]["cost"] == {"micros": 100, "incomplete": True, "estimated": False}
    assert "Compaction" not in types(said)
    journal = box.journal("s1")
    (record,) = [each for each in journal if each["type"] == "Compacted"]
    (asked_,) = [each for each in journal if each["type"] == "UserMessage" and "agent" in each]
    assert record["agent"] == asked_["agent"]


# --- over the wire


def far(box: Box, server: ModelServer) -> None:
    box.configure(
        f'\n[providers.far]\nkind = "openai-compatible"\nbase_url = "{server.url}"\n'
        'credential = "none"\ndefault_model = "m"\n'
    )


def answer(words: str) -> Any:
    return stream(events(chat({"content": words}), chat(finish="stop")))


def sent(request: Seen) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = request.body["messages"]
    return messages


def test_what_is_sent_after_a_summary_is_shorter_and_keeps_instructions_and_the_question(
    box: Box,
) -> None:
    (box.workspace / "AGENTS.md").write_text("Never use emojis.")
    refused = status(400, {"error": {"message": "too long", "code": "context_length_exceeded"}})
    with model_server(answer(LONG), refused, answer("They spoke."), answer("Now this.")) as server:
        far(box, server)
        ask(box, "Tell me.", "--provider", "far")
        code, said = ask(box, "And now?", "--provider", "far")
        _, overflowed, summary, again = map(sent, server.requests)
        asked = server.requests[2].body

    assert (code, said[-1]["text"]) == (0, "Now this.")
    assert "tools" not in asked
    assert "It is a long story." in summary[1]["content"]
    assert [each["role"] for each in again] == ["system", "user"]
    assert again[0] == overflowed[0]
    assert "Never use emojis." in again[0]["content"]
    text = json.dumps(again[1]["content"])
    assert "They spoke." in text
    assert "And now?" in text
    assert "It is a long story." not in text
