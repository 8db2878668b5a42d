"""Limits of `radian acp`: a client that does not read stalls the turn and loses nothing."""

from __future__ import annotations

import base64
import re
import signal
import threading
from typing import TYPE_CHECKING

import pytest

from tests.e2e.processes import resident_kib
from tests.e2e.talk import chunk_text, prompt_params
from tests.e2e.wire import line
from tests.judges.far import configure
from tests.runtimes.models.servers import GOOD, HEAD, chat, events, model_server
from tests.runtimes.radian.acp.client import Client, call

if TYPE_CHECKING:
    import socket

    from tests.runtimes.models.servers import ModelServer
    from tests.runtimes.radian.box import Box

MIB = 1 << 20
LIMIT = 67_108_864
"""Bytes of a line without its newline; the number is part of the protocol of this agent."""
FLOOD = " ".join(str(number) for number in range(40_000))


def stalled(client: Client) -> None:
    """Prompt, and read nothing until the agent has come to rest."""
    client.open()
    client.exchange(b"")
    stall(client)


def stall(client: Client) -> None:
    """Do so in a session."""
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


class Counting:
    """A model that streams more than any pipe holds, and counts the pieces that it got rid of."""

    def __init__(self, pieces: int) -> None:
        self.pieces = [f"{number:06d} ".ljust(1000, "x") for number in range(pieces)]
        self.sent = 0
        self.done = threading.Event()

    def __call__(self, sock: socket.socket, server: ModelServer) -> None:
        del server
        sock.sendall(HEAD)
        for piece in self.pieces:
            data = events(chat({"content": piece}), end=b"")
            sock.sendall(b"%x\r\n%b\r\n" % (len(data), data))
            self.sent += 1
        last = events(chat(finish="stop"))
        sock.sendall(b"%x\r\n%b\r\n0\r\n\r\n" % (len(last), last))
        self.done.set()


def test_limits_a_stalled_client_stalls_the_model_too_and_loses_nothing(box: Box) -> None:
    model = Counting(30_000)
    with model_server(GOOD, model) as server:
        configure(box, "openai-compatible", server.url)
        with Client(box, "--provider", "far") as client:
            client.open()
            client.turn("warm")
            before = resident_kib(client.pid)
            stall(client)
            stopped_at = model.sent
            held_kib = resident_kib(client.pid) - before

            assert not model.done.is_set()
            turn = client.finish("p")

    assert turn.text == "".join(model.pieces)
    # Thirty megabytes were on their way.  What was sent lies in pipes and sockets, not in us.
    assert stopped_at < len(model.pieces) // 2
    assert held_kib < 8 * 1024


def test_limits_sixty_four_messages_are_pending_and_an_end_abandons_them(box: Box) -> None:
    box.play({"text": FLOOD, "chunk": 5})
    with Client(box, "--log-level", "debug") as client:
        stalled(client)
        client.process.send_signal(signal.SIGTERM)

        assert client.exit_code() == 143
        (abandoned,) = re.findall(r"abandoned=(\d+)", client.stderr())
    assert int(abandoned) == 64


def test_limits_answers_and_updates_come_in_order_after_a_stall(box: Box) -> None:
    box.play({"text": FLOOD, "chunk": 5}, {"text": "Next."})
    with Client(box) as client:
        stalled(client)
        asked = [line(id=f"x{number}", method="no/such") for number in range(200)]
        client.send_without_reading(b"".join(asked))
        messages = client.answer("p")

        found = [each["id"] for each in messages if "method" not in each]
        while len(found) < 201:
            found.append(client.next()["id"])
        said = "".join(map(chunk_text, messages))
    assert [each for each in found if each != "p"] == [f"x{number}" for number in range(200)]
    assert said == FLOOD


def line_of(session: str, size: int) -> bytes:
    """Return a prompt whose line has ``size`` bytes without its newline."""
    head = b'{"jsonrpc":"2.0","id":"big","method":"session/prompt","params":{"sessionId":"'
    head += session.encode() + b'","prompt":[{"type":"text","text":"'
    return head + b"x" * (size - len(head) - 5) + b'"}]}}' + b"\n"


@pytest.mark.slow
@pytest.mark.parametrize("size", [60 * MIB, LIMIT])
def test_limits_a_line_of_up_to_64_mib_is_a_prompt(box: Box, size: int) -> None:
    with Client(box) as client:
        session = client.open()
        client.turn("warm")
        before = resident_kib(client.pid)
        client.send(line_of(session, size))

        assert client.finish("big").stop_reason == "end_turn"
        assert resident_kib(client.pid, "VmHWM") - before < size // 1024 * 9 // 2
        assert client.turn("and now?").stop_reason == "end_turn"


@pytest.mark.slow
@pytest.mark.parametrize("size", [LIMIT + 1, 65 * MIB, 200 * MIB])
def test_limits_a_longer_line_is_never_held_and_the_next_is_served(box: Box, size: int) -> None:
    with Client(box) as client:
        session = client.open()
        client.turn("warm")
        before = resident_kib(client.pid)
        client.send(line_of(session, size))
        refused = client.next()
        peak = resident_kib(client.pid, "VmHWM")

        assert (refused["id"], refused["error"]["code"]) == (None, -32700)
        assert str(LIMIT) in refused["error"]["message"]
        assert client.turn("and now?").stop_reason == "end_turn"
    assert peak - before < 65 * 1024 // 10


def test_limits_end_of_input_in_an_over_long_line_is_a_normal_end(box: Box) -> None:
    with Client(box) as client:
        session = client.open()
        client.exchange(b"")
        client.send(line_of(session, LIMIT + MIB)[:-1])
        client.end_input()

        assert client.exit_code() == 0
        assert client.drain() == []


def test_limits_several_pictures_fit_into_a_prompt(box: Box) -> None:
    picture = b"\x89PNG\r\n\x1a\n" + bytes(3 * MIB)
    block = {"type": "image", "data": base64.b64encode(picture).decode(), "mimeType": "image/png"}
    with Client(box) as client:
        session = client.open()
        answer = client.blocks({"type": "text", "text": "compare"}, block, block, block)

        assert answer["result"]["stopReason"] == "end_turn"
        (message,) = [each for each in box.journal(session) if each["type"] == "UserMessage"]
    assert [part["type"] for part in message["content"]] == ["text", "image", "image", "image"]


def test_limits_processes_work_side_by_side_in_one_workspace(box: Box) -> None:
    box.play({"text": "slow", "delay_ms": 60_000})
    with Client(box) as first, Client(box) as second:
        first.open()
        first.prompt("go")
        box.play({"tool_calls": [call("write", path="b", content="x")]}, {"text": "Done."})
        second.open()

        assert second.turn("go").text == "Done."
        first.cancel()
    assert box.workspace.joinpath("b").exists()


def test_limits_parallel_work_of_one_process_is_for_subagents(box: Box) -> None:
    tasks = [call("subagent", prompt=f"look at {name}", description=name) for name in "ab"]
    box.play(
        {"tool_calls": tasks},
        {"when": "look at", "text": "Seen."},
        {"when": "look at", "text": "Seen."},
        {"text": "Both."},
    )
    with Client(box) as client:
        client.open()
        turn = client.turn("go")

    assert (turn.stop_reason, len(turn.updates("tool_call"))) == ("end_turn", 2)
    # One may still tell of its progress when the other has ended.
    told = [each for each in turn.updates("tool_call_update") if "status" in each]
    ends = {each["toolCallId"]: each["status"] for each in told}
    assert list(ends.values()) == ["completed", "completed"]
