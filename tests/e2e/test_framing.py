"""Bytes on the pipes: rows F01 to F22 of the conformance list, B001, B003, B009."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.e2e.talk import HELLO, Talk, chunk_text, prompt_params
from tests.e2e.wire import line

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.agents import AgentKind

MIB = 1 << 20
LIMIT = 64 * MIB


def codes(messages: list[dict[str, object]]) -> list[tuple[object, object]]:
    """Shorten answers to id and error code; None for a result."""
    found: list[tuple[object, object]] = []
    for message in messages:
        error = message.get("error")
        found.append((message["id"], error["code"] if isinstance(error, dict) else None))
    return found


def with_param(value: bytes) -> bytes:
    return b'{"jsonrpc":"2.0","id":1,"method":"no/such","params":{"x":' + value + b"}}\n"


def test_f01_a_silent_client_hears_nothing(talk: Talk) -> None:
    talk.end_input()

    assert talk.exit_code() == 0
    assert talk.drain() == []
    assert talk.raw == 0


def test_f02_the_first_byte_is_the_handshakes(talk: Talk) -> None:
    talk.send(line(id=0, method="initialize", params=HELLO))

    first = talk.next()

    assert first["id"] == 0
    assert first["result"]["protocolVersion"] == 1


def test_f03_whatever_prints_stdout_stays_pure(talk: Talk) -> None:
    talk.open()
    noise = "noise" if talk.kind.name == "echo" else talk.kind.shell("echo noise; echo noise >&2")

    turn = talk.turn(noise)

    assert turn.stop_reason == "end_turn"
    if talk.kind.name == "echo":
        assert "noise" not in turn.text
        assert talk.stderr().count("noise from a") == 3


def test_f03_what_prints_in_the_agent_itself_reaches_stderr_at_the_most(talk: Talk) -> None:
    talk.open()
    talk.turn(talk.kind.quick)

    out, err = (os.stat(f"/proc/{talk.pid}/fd/{number}") for number in (1, 2))

    assert os.path.samestat(out, err)
    assert os.readlink(f"/proc/{talk.pid}/fd/0") == os.devnull


def test_f03_a_step_reads_nothing_from_the_client(talk: Talk) -> None:
    talk.open()

    turn = talk.turn(talk.kind.shell("cat; readlink /proc/self/fd/0"))

    assert "/dev/null" in turn.text


def test_f03_a_step_inherits_no_descriptor_of_the_protocol(talk: Talk) -> None:
    talk.open()

    turn = talk.turn(talk.kind.shell("exec ls -l /proc/self/fd"))

    # 0, 1, 2 and the folder that ls itself reads.
    assert turn.text.count(" -> ") == 4, turn.text


@pytest.mark.parametrize(
    ("sent", "answered"),
    [
        pytest.param(b'{"jsonrpc":"2.0","id":1,"method":"no"}\r\n', [(1, -32601)], id="F05 CRLF"),
        pytest.param(b"\n\r\n   \n\t\n \r\n", [], id="F06 blank lines"),
        pytest.param(b'{"jsonrpc":"2.0","id":1,"x":"\xff\xfe"}\n', [(None, -32700)], id="F08"),
        pytest.param(b"\xc3\x28\n", [(None, -32700)], id="F08 not even JSON"),
        pytest.param(b'{"jsonrpc":"2.0",\n', [(None, -32700)], id="F09 cut"),
        pytest.param(b"hello\n", [(None, -32700)], id="F09 a word"),
        pytest.param(
            b'{"jsonrpc":"2.0",\r"id":1,\r"method":"no"}\n', [(1, -32601)], id="F10 CR is a space"
        ),
        pytest.param(
            '{"jsonrpc":"2.0","id":1,"method":"a\u2028b\u2029c\x85d"}\n'.encode(),
            [(1, -32601)],
            id="F10 separators as they are",
        ),
        # JSON has these escaped: one line that is none, not six.
        pytest.param(b'{"x":"\x0b\x0c\x1c\x1d\x1e"}\n', [(None, -32700)], id="F10 controls"),
        pytest.param(b"[" * 100_000 + b"\n", [(None, -32700)], id="F15 never closed"),
        pytest.param(b"[" * 100_000 + b"]" * 100_000 + b"\n", [(None, -32700)], id="F15 arrays"),
        pytest.param(b'{"a":' * 100_000 + b"}" * 100_000 + b"\n", [(None, -32700)], id="F15"),
        pytest.param(with_param(b"NaN"), [(None, -32700)], id="F17 NaN"),
        pytest.param(with_param(b"-Infinity"), [(None, -32700)], id="F17 Infinity"),
        pytest.param(b'{"jsonrpc":"2.0","id":1,"id":2,"method":"no"}\n', [(2, -32601)], id="F19"),
    ],
)  # fmt: skip
def test_a_strange_line_is_answered_and_the_next_is_served(
    shared: Talk, sent: bytes, answered: list[tuple[object, object]]
) -> None:
    assert codes(shared.exchange(sent)) == answered


def test_f07_b009_mark_crlf_and_blank_lines_are_tolerated(talk: Talk) -> None:
    hello = line(id=1, method="initialize", params=HELLO)[:-1]
    new = line(id=2, method="session/new", params={"cwd": str(talk.folder), "mcpServers": []})
    talk.send(b"\xef\xbb\xbf" + hello + b"\r\n\r\n\n \n" + new)

    first, second = talk.next(), talk.next()

    assert (first["id"], second["id"]) == (1, 2)
    assert "result" in first
    assert "result" in second


def test_f10_f11_only_a_line_feed_ends_a_line(talk: Talk) -> None:
    talk.open()
    strange = "a\u2028b\u2029c\u0085d\x0b\x0c\x1c\x1d\x1e\ne\rf\tg\U0001f4a9"
    # Not escaped: they travel as they are, but for the control characters, which JSON escapes.
    raw = json.dumps(
        {
            "jsonrpc": "2.0",
            "id": 9,
            "method": "session/prompt",
            "params": prompt_params(talk.session, talk.kind.shell(f"printf %s '{strange}'")),
        },
        ensure_ascii=False,
    )
    talk.send(raw.encode() + b"\n")

    turn = talk.finish(9)

    assert strange in turn.text


def test_f14_a_message_in_pieces_and_twenty_in_one_write(shared: Talk) -> None:
    one = '{"jsonrpc":"2.0","id":"piéces","method":"no/such"}\n'.encode()
    for at in range(len(one)):
        shared.send(one[at : at + 1])
        shared.wait_until_taken()
    assert codes(shared.answer("piéces")[-1:]) == [("piéces", -32601)]

    many = b"".join(line(id=100 + n, method="no/such") for n in range(20))

    assert codes(shared.exchange(many)) == [(100 + n, -32601) for n in range(20)]


@pytest.mark.parametrize("digits", [b"9" * 5000, b"1e5000", b"-" + b"9" * 5000, b"1" + b"0" * 400])
def test_f16_a_huge_number_is_an_error_or_served(shared: Talk, digits: bytes) -> None:
    answers = codes(shared.exchange(with_param(digits)))

    assert answers in ([(1, -32601)], [(None, -32700)])


def test_f18_lone_surrogates_do_no_harm(talk: Talk) -> None:
    talk.open()
    words = json.dumps(talk.kind.quick)[1:-1] + r" \ud800 x"
    if talk.kind.name == "chant":
        words = r"run no-such-\ud800-op"
    text = '{"type":"text","text":"' + words + '"}'
    params = f'{{"sessionId":"{talk.session}","prompt":[{text}]}}'
    talk.send(
        f'{{"jsonrpc":"2.0","id":"\\udfff","method":"session/prompt","params":{params}}}\n'.encode()
    )

    *updates, last = talk.until(lambda message: "method" not in message)

    assert last["id"] == "\ufffd"
    assert last["result"]["stopReason"] == ("refusal" if talk.kind.name == "chant" else "end_turn")
    if talk.kind.name == "chant":
        assert "'no-such-\ufffd-op'" in "".join(map(chunk_text, updates))


def test_f18_a_lone_surrogate_in_a_session_id_is_an_unknown_session(shared: Talk) -> None:
    raw = (
        rb'{"jsonrpc":"2.0","id":5,"method":"session/prompt","params":'
        rb'{"sessionId":"\ud83d","prompt":[{"type":"text","text":"x"}]}}' + b"\n"
    )
    # The referee knows the escaped id; what comes back is the replaced one.
    assert codes(shared.exchange(raw)) == [(5, -32002)]


@pytest.mark.parametrize("size", [70_000, 1_000_000, 4 * MIB, 8_000_000])
def test_f12_b003_a_long_line_is_served(shared: Talk, size: int) -> None:
    shared.exchange(b"")
    long = line(id="long", method="no/such", params={"text": "x" * size})

    assert codes(shared.exchange(long)) == [("long", -32601)]


@pytest.mark.parametrize("size", [70_000, 1_000_000])
def test_b003_a_long_prompt_is_answered(shared: Talk, size: int) -> None:
    turn = shared.turn(f"{shared.kind.long} {'x' * size}")

    assert turn.stop_reason in {"end_turn", "refusal"}
    if turn.stop_reason == "refusal":
        assert turn.text


def test_f13_a_60_mib_line_is_served(talk: Talk) -> None:
    talk.open()
    prompt = talk.kind.long + " " + "x" * (60 * MIB)
    words = b'{"jsonrpc":"2.0","id":"big","method":"session/prompt","params":{"sessionId":"'
    words += talk.session.encode() + b'","prompt":[{"type":"text","text":"' + prompt.encode()
    talk.send(words + b'"}]}}\n')

    *_, answer = talk.answer("big")

    assert "result" in answer, answer
    assert talk.exchange(b"") == []


def test_f13_a_line_over_the_limit_is_dropped_and_answered(talk: Talk) -> None:
    talk.open()

    answers = talk.exchange(b"x" * (LIMIT + MIB) + b"\n")

    assert codes(answers) == [(None, -32700)]
    assert str(LIMIT) in answers[0]["error"]["message"]
    assert talk.turn(talk.kind.quick).stop_reason == "end_turn"


def test_f13_end_of_input_inside_an_over_long_line_is_a_normal_end(talk: Talk) -> None:
    talk.initialize()
    raw = talk.raw
    talk.send(b"x" * (LIMIT + MIB))
    talk.end_input()

    assert talk.exit_code() == 0
    assert talk.drain() == []
    assert talk.raw == raw


def test_f20_a_nul_in_cwd_is_refused(shared: Talk) -> None:
    params = {"sessionId": shared.session, "cwd": "/tmp\0x", "mcpServers": []}

    for method in ("session/new", shared.kind.reopen):
        assert shared.call(method, params)["error"]["code"] == -32602


def test_f22_stdout_may_be_a_file(kind: AgentKind, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    out.write_bytes(b"before\n")
    fd = os.open(out, os.O_WRONLY)
    os.lseek(fd, 0, os.SEEK_END)
    process = subprocess.Popen(kind.command, stdin=subprocess.PIPE, stdout=fd, cwd="/")
    os.close(fd)
    assert process.stdin is not None
    process.stdin.write(line(id=1, method="initialize", params=HELLO))
    process.stdin.write(line(id=2, method="no/such"))
    process.stdin.flush()
    # Ends with the second answer, or with the agent.
    subprocess.run(
        ["sh", "-c", f"tail -n +1 -f --pid={process.pid} {out} | sed '/\"id\":2/q'"],
        stdout=subprocess.DEVNULL,
        timeout=20,
        check=True,
    )
    process.stdin.close()

    assert process.wait(20) == 0
    before, *lines = out.read_bytes().splitlines()
    assert before == b"before"
    assert [json.loads(each)["id"] for each in lines] == [1, 2]


def test_f22_both_pipes_may_be_one_socket(kind: AgentKind, folder: Path) -> None:
    ours, theirs = socket.socketpair()
    ours.settimeout(20)
    with ours:
        process = subprocess.Popen(
            kind.command, stdin=theirs.fileno(), stdout=theirs.fileno(), cwd=folder
        )
        theirs.close()
        ours.sendall(line(id=1, method="initialize", params=HELLO))
        answer = json.loads(ours.makefile("rb").readline())
        ours.shutdown(socket.SHUT_WR)

        assert process.wait(20) == 0
    assert answer["result"]["protocolVersion"] == 1


def test_b001_a_library_that_prints_and_a_bad_project_reach_stderr_only(talk: Talk) -> None:
    if talk.kind.name == "chant":
        (talk.folder / "ops" / "broken.op.toml").write_text("name = \n", encoding="utf-8")
        (talk.folder / "chant.toml").write_text("[projekt]\n", encoding="utf-8")
    talk.open()

    # Each line of stdout is held to be a message as it is read.
    turn = talk.turn(talk.kind.quick)

    if talk.kind.name == "chant":
        assert turn.stop_reason == "refusal"
        assert "chant.toml:1: unknown key 'projekt'" in turn.text
    else:
        assert turn.stop_reason == "end_turn"
