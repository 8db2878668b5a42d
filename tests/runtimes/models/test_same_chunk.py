"""Chunks that differ in their text only, read by their bytes as they would be read whole."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtimes.models.base import TextDelta, Usage
from runtimes.models.chat_stream import ChatStream
from runtimes.models.same_chunk import SameChunk


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


@given(st.text(min_size=1))
def test_any_other_text_in_the_same_chunk_is_read(text: str) -> None:
    assert learnt(chunk("a"), "a").text(chunk(text)) == text


@pytest.mark.parametrize(
    "data",
    [
        chunk("b", model="n"),
        chunk("b", usage={"prompt_tokens": 1}),
        chunk("b").replace(b'"b"', b"null"),
        chunk("b").replace(b'"b"', b'"b","role":"x"'),
        chunk("b").replace(b'"b"', b'"\\ud800"'),
        chunk("b")[:-1],
    ],
)
def test_another_chunk_is_not_read(data: bytes) -> None:
    assert learnt(chunk("a"), "a").text(data) == ""


def test_nothing_is_learnt_where_the_text_stands_somewhere_else_first() -> None:
    assert learnt(chunk("m", model="m"), "m").text(chunk("b", model="b")) == ""


def test_a_text_that_is_written_otherwise_teaches_nothing() -> None:
    data = chunk("é").replace("é".encode(), b"\\u00e9")

    assert learnt(data, "é").text(data) == ""


@given(st.lists(st.sampled_from(["a", "b\n", "é", '"', "<think>", "[DONE]", "\ud7ff"]), min_size=3))
def test_a_stream_says_the_same_with_usage_and_end_wherever_they_stand(texts: list[str]) -> None:
    stream = ChatStream()
    events = [each for text in ["start ", *texts] for each in stream.take(chunk(text))]
    events += stream.take(chunk("z", usage={"prompt_tokens": 3, "completion_tokens": 2}))
    events += stream.take(chunk("z", usage={"prompt_tokens": 3, "completion_tokens": 2}))
    last = orjson.loads(chunk("."))
    last["choices"][0]["finish_reason"] = "stop"
    events += stream.take(orjson.dumps(last))
    events += stream.end()

    said = "".join(each.text for each in events if isinstance(each, TextDelta))
    assert said == "start " + "".join(texts) + "zz."
    usages = [each for each in events if isinstance(each, Usage)]
    assert [(each.input_tokens, each.output_tokens) for each in usages] == [(3, 2)]
