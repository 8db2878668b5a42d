"""Limits of `radian acp`: a client that does not read stalls the turn and loses nothing."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from tests.e2e.talk import prompt_params
from tests.e2e.wire import line
from tests.runtimes.radian.acp.client import Client

if TYPE_CHECKING:
    from tests.runtimes.radian.box import Box

FLOOD = " ".join(str(number) for number in range(40_000))


def stalled(client: Client) -> None:
    """Prompt, and read nothing until the agent has come to rest."""
    client.open()
    client.exchange(b"")
    prompt = prompt_params(client.session, "go")
    client.send_without_reading(line(id="p", method="session/prompt", params=prompt))
    client.wait_until_stalled()


def test_limits_a_client_that_stops_reading_stalls_the_turn_and_then_gets_all_in_order(
    box: Box,
) -> None:
    box.play({"text": FLOOD, "chunk": 5})
    with Client(box) as client:
        stalled(client)

        turn = client.finish("p")

    assert turn.text == FLOOD
    assert turn.answer["result"]["_meta"]["radian"]["text"] == FLOOD


@pytest.mark.parametrize("ending", ["end of input", "SIGTERM"])
def test_limits_an_end_frees_a_producer_that_waits_for_room(box: Box, ending: str) -> None:
    box.play({"text": FLOOD, "chunk": 5})
    with Client(box) as client:
        stalled(client)
        if ending == "SIGTERM":
            client.process.send_signal(signal.SIGTERM)
        else:
            client.end_input()

        assert client.exit_code() == (143 if ending == "SIGTERM" else 0)
    last = box.journal(client.session)[-1]
    assert (last["type"], last["end"]) == ("TurnEnded", "Interrupted")


def test_limits_one_prompt_runs_at_a_time_and_an_early_cancel_hits_it(box: Box) -> None:
    box.play({"when": "and now?", "text": "Here."}, {"text": "slow", "delay_ms": 60_000})
    with Client(box) as client:
        client.open()
        cancel = line(method="session/cancel", params={"sessionId": client.session})
        prompt = prompt_params(client.session, "go")
        client.send(line(id="p", method="session/prompt", params=prompt) + cancel)

        assert client.finish("p").stop_reason == "cancelled"
        client.cancel()
        assert client.exchange(b"") == []
        assert client.turn("and now?").stop_reason == "end_turn"
