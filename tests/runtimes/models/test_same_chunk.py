"""Chunks that differ in their text only, read by their bytes as they would be read whole."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtimes.models.base import TextDelta, Usage
from runtimes.models.chat_stream import ChatStream
from runtimes.models.same_chunk import SameChunk

if TYPE_CHECKING:
    from runtimes.models.base import ModelEvent


def chunk(text: str, *, model: str = "m", **more: Any) -> bytes:
    choice = {"index": 0, "delta": {"content": text}, "logprobs": None, "finish_reason": None}
    return orjson.dumps({"id": "c1", "model": model, "choices": [choice], **more})


def read(data: bytes) -> str | None:
    found: str = orjson.loads(data)["choices"][0]["delta"]["content"]
    return found


def learnt(data: bytes, text: str) -> SameChunk:
    same = SameChunk()
    same.learn(data, text, read)
    return same


def put(text: bytes) -> bytes:
    """Return a chunk with ``text`` in the place of the string and its quotes."""
    return chunk("b").replace(b'"b"', text)


OTHERS = [
    chunk("b", model="n"),
    chunk("b", usage={"prompt_tokens": 1}),
    chunk("b")[:-1],
    put(b""),
    put(b"null"),
    put(b'"b","role":"x"'),
    put(b'"b",\n"c"'),
    put(b'"b'),
    put(b'b"'),
    put(b'"b\\"'),
    put(b'",\n"'),
    put(b'"\\ud800"'),
]


@given(st.lists(st.text(), min_size=1))
def test_other_texts_in_the_same_chunk_are_read(texts: list[str]) -> None:
    assert learnt(chunk("a"), "a").texts([chunk(text) for text in texts], 0) == texts


@pytest.mark.parametrize("data", OTHERS)
def test_another_chunk_is_not_read(data: bytes) -> None:
    assert learnt(chunk("a"), "a").texts([data], 0) == []


def value_of(data: bytes) -> str | None:
    try:
        found = orjson.loads(data)
    except orjson.JSONDecodeError:
        return None
    delta = found["choices"][0]["delta"]
    same = orjson.dumps(found) == chunk(str(delta["content"]))
    return delta["content"] if same and type(delta["content"]) is str else None


@given(st.lists(st.sampled_from([chunk("x"), chunk(""), chunk('"'), *OTHERS])), st.integers(0, 3))
def test_texts_end_before_the_first_chunk_that_is_another_one(datas: list[bytes], at: int) -> None:
    found = learnt(chunk("a"), "a").texts(datas, at)

    values = [value_of(data) for data in datas[at:]]
    assert found == list(takewhile(lambda value: value is not None, values))


def test_chunks_that_are_no_text_are_looked_at_once_each() -> None:
    same, null = learnt(chunk("a"), "a"), put(b"null")

    assert same.texts([null] * 3, 0) == []
    assert same.texts([chunk("b")], 0) == []  # what was learnt is no help with such a server


def test_nothing_is_learnt_where_the_text_stands_somewhere_else_first() -> None:
    assert learnt(chunk("m", model="m"), "m").texts([chunk("b", model="b")], 0) == []


def test_a_text_that_is_written_otherwise_teaches_nothing() -> None:
    data = chunk("é").replace("é".encode(), b"\\u00e9")

    assert learnt(data, "é").texts([data], 0) == []


TEXTS = st.sampled_from(["a", "b\n", "é", '"', "<think>", "[DONE]", "\ud7ff", "long " * 500])


def cut(datas: list[bytes], size: int) -> list[list[bytes]]:
    return [datas[at : at + size] for at in range(0, len(datas), size)]


@given(st.lists(TEXTS, min_size=3), st.integers(1, 9))
def test_a_stream_says_the_same_with_usage_and_end_wherever_they_stand(
    texts: list[str], sizes: int
) -> None:
    stream = ChatStream()
    counted = chunk("z", usage={"prompt_tokens": 3, "completion_tokens": 2})
    last = orjson.loads(chunk("."))
    last["choices"][0]["finish_reason"] = "stop"
    datas = [*map(chunk, ["start ", *texts]), counted, counted, orjson.dumps(last)]
    events = [each for group in cut(datas, sizes) for each in stream.take_all(group)]
    events += stream.end()

    said = "".join(each.text for each in events if isinstance(each, TextDelta))
    assert said == "start " + "".join(texts) + "zz."
    usages = [each for each in events if isinstance(each, Usage)]
    assert [(each.input_tokens, each.output_tokens) for each in usages] == [(3, 2)]


def with_finish(text: str, finish: str) -> bytes:
    return chunk(text).replace(b'"finish_reason":null', f'"finish_reason":"{finish}"'.encode())


PIECES = [
    *map(chunk, ["", "a", "</think>", "<think>", '"', "\\", "\n", "\r", "\u2028", "ab" * 3000]),
    chunk("m"),
    chunk("a", model="a"),
    *OTHERS,
    put(b'"\\u00e9"'),
    put(b'"\\ud83d\\ude00"'),
    put(b' "a" '),
    put(b'"a" , "b"'),
    put(b'"a"}},{"index":1,"delta":{"content":"b"'),
    put(b'["a"]'),
    put(b'[{"type":"text","text":"part"}]'),
    put(b'"a","reasoning_content":"r"'),
    put(b'"a","refusal":"no"'),
    put(b'"a","tool_calls":[{"index":0,"id":"1","function":{"name":"f","arguments":"{}"}}]'),
    put(b'"a","content":"b"'),
    put(b'"\xff"'),
    with_finish("a", "stop"),
    with_finish("", "length"),
    b'{"choices":[],"usage":{"prompt_tokens":1}}',
    b'{"error":{"message":"it broke"}}',
    b"[DONE]",
    b"",
]


def outcome(events: list[ModelEvent]) -> list[ModelEvent]:
    """Join what is one text, wherever it was cut."""
    whole: list[ModelEvent] = []
    for event in events:
        if isinstance(event, TextDelta) and whole and isinstance(whole[-1], TextDelta):
            whole[-1] = TextDelta(whole[-1].text + event.text)
        else:
            whole.append(event)
    return whole


@given(st.lists(st.sampled_from(PIECES) | st.sampled_from(PIECES[:12])), st.integers(1, 9))
def test_a_stream_read_at_once_is_what_it_is_chunk_by_chunk(datas: list[bytes], size: int) -> None:
    quick, slow = ChatStream(new_id=lambda: "id"), ChatStream(new_id=lambda: "id")
    begun = [chunk("begun "), *datas]

    at_once = [each for group in cut(begun, size) for each in quick.take_all(group)]
    singly: list[ModelEvent] = []
    for data in begun:
        singly += () if slow.over else slow.take(data)

    assert quick.over == slow.over
    assert outcome([*at_once, *quick.end()]) == outcome([*singly, *slow.end()])
