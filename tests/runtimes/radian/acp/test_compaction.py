"""A conversation that is too long, as a client sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.runtimes.radian.acp.client import Client, told

if TYPE_CHECKING:
    from tests.runtimes.radian.box import Box

TOO_LONG = {"error": {"status": 400, "message": "maximum context length exceeded"}}
LONG = "It is a long story. " * 200
WINDOW = "\n[providers.play.models.script]\ncontext_window = 100000\n"
SLOW: dict[str, Any] = {"text": "They spoke.", "delay_ms": 600_000}


def usage(tokens: int) -> dict[str, int]:
    return {"input_tokens": tokens, "output_tokens": 0}


def test_a_summary_is_told_as_a_thought_and_is_no_part_of_the_answer(box: Box) -> None:
    box.configure(WINDOW)
    box.play(
        {"text": LONG, "usage": usage(5000)},
        TOO_LONG,
        {"text": "They spoke.", "usage": usage(900)},
        {"text": "Now this.", "usage": usage(70)},
    )
    with Client(box) as client:
        client.open()
        client.turn("Tell me.")
        turn = client.turn("And now?")

    assert (turn.stop_reason, turn.text) == ("end_turn", "Now this.")
    assert [each["content"]["text"] for each in turn.updates("agent_thought_chunk")] == [
        "The conversation is being summarised.\n"
    ]
    # What the summary took is not what the conversation takes.
    assert [each["used"] for each in turn.updates("usage_update")] == [70]
    metrics = turn.answer["result"]["_meta"]["radian"]["metrics"]
    assert (metrics["compactions"], metrics["model_calls"]) == (1, 3)
    assert (metrics["input_tokens"], metrics["context_tokens"]) == (970, 70)


def test_a_replay_shows_the_whole_conversation_and_not_the_summary(box: Box) -> None:
    box.play({"text": LONG}, TOO_LONG, {"text": "They spoke."}, {"text": "Now this."})
    with Client(box) as client:
        session = client.open()
        client.turn("Tell me.")
        client.turn("And now?")
    with Client(box) as client:
        replayed = told(client.load(session))
        after = client.turn("Then?")

    assert replayed == [
        ("user_message_chunk", "Tell me."),
        ("agent_message_chunk", LONG),
        ("user_message_chunk", "And now?"),
        ("agent_message_chunk", "Now this."),
    ]
    assert after.stop_reason == "end_turn"


def test_a_conversation_that_can_not_be_shortened_is_refused_with_the_reason(box: Box) -> None:
    box.play(TOO_LONG, then="repeat-last")
    with Client(box) as client:
        client.open()
        turn = client.turn(LONG)

    assert turn.stop_reason == "refusal"
    assert "maximum context length" in turn.answer["result"]["_meta"]["radian"]["error"]


def test_a_cancel_ends_a_summary(box: Box) -> None:
    box.play({"text": LONG}, TOO_LONG, SLOW, {"text": "Fine."})
    with Client(box) as client:
        client.open()
        client.turn("Tell me.")
        prompt = client.prompt("And now?")
        client.until(lambda message: "being summarised" in str(message))
        client.cancel()

        assert client.finish(prompt).stop_reason == "cancelled"
        assert client.turn("Shorter?").text == "Fine."
