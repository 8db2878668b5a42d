"""What a tool answered, as text for the model."""

from __future__ import annotations

from typing import Any

import pytest

from runtimes.radian.mcp.content import MAX_BLOCKS, MAX_TEXT_CHARS, Said, read_content


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


@pytest.mark.parametrize(
    ("result", "said"),
    [
        ({"content": [text("a"), text("b")]}, "a\nb"),
        ({"content": [{"type": "image", "mimeType": "image/png", "data": "AAAA" * 5}]},
         "[image: image/png, 15 bytes]"),
        ({"content": [{"type": "audio", "data": ""}]}, "[audio: of no type, 0 bytes]"),
        ({"content": [{"type": "resource", "resource": {"uri": "file:///a", "text": "t"}}]},
         "[resource: file:///a]\nt"),
        ({"content": [{"type": "resource", "resource": {"uri": "x:b", "blob": "AAAA"}}]},
         "[resource: x:b, of no type, 3 bytes]"),
        ({"content": [{"type": "resource_link", "uri": "x:c", "name": "c"}]}, "[resource: c x:c]"),
        ({"content": [{"type": "holo"}]}, "[something of type 'holo', which can't be shown]"),
        ({"content": [], "structuredContent": {"a": 1}}, '{\n  "a": 1\n}'),
        ({"content": [text("a")], "structuredContent": {"a": 1}}, "a"),
        ({"content": []}, "[the answer is empty]"),
        ({}, "[the answer is empty]"),
        (None, "[the answer is empty]"),
        ({"content": "text"}, "[the answer is empty]"),
        ({"content": [None, 5]}, "[something of type None, which can't be shown]\n" * 2),
    ],
)  # fmt: skip
def test_each_kind_of_content_is_shown_or_named(result: Any, said: str) -> None:
    assert read_content(result) == Said(said.removesuffix("\n"))


def test_an_answer_that_is_nested_deeply_is_shown_as_far_as_it_can_be() -> None:
    deep: dict[str, Any] = {}
    for _ in range(900):
        deep = {"a": deep}

    assert "[nested deeper than 200 levels]" in read_content({"structuredContent": deep}).text


def test_a_tool_that_says_it_failed_has_failed() -> None:
    assert read_content({"content": [text("no")], "isError": True}) == Said("no", failed=True)


def test_an_answer_without_end_is_bounded() -> None:
    many = read_content({"content": [text("x")] * 5000})
    long = read_content({"content": [text("x" * (2 * MAX_TEXT_CHARS))]})

    assert many.text.endswith(f"[{5000 - MAX_BLOCKS} more parts are left out]")
    assert len(long.text) < MAX_TEXT_CHARS + 100
