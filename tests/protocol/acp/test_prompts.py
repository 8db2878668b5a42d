from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings

from protocol.acp.prompts import (
    Audio,
    ContentBlock,
    EmbeddedResource,
    Image,
    Prompt,
    ResourceLink,
    StopReason,
    Text,
    parse_prompt,
    prompt_result,
    prompt_session,
)
from protocol.errors import InvalidParams
from protocol.handshake import AgentCapabilities
from tests.protocol.json_values import VALUES

BASELINE = AgentCapabilities()
EVERYTHING = AgentCapabilities(image=True, audio=True, embedded_context=True)

BLOCKS: list[tuple[dict[str, Any], ContentBlock]] = [
    ({"type": "image", "data": "AA==", "mimeType": "image/png"}, Image("AA==", "image/png")),
    ({"type": "audio", "data": "AA==", "mimeType": "audio/wav"}, Audio("AA==", "audio/wav")),
    (
        {"type": "resource", "resource": {"uri": "file:///a", "text": "t", "mimeType": "text/x"}},
        EmbeddedResource("file:///a", text="t", mime_type="text/x"),
    ),
    (
        {"type": "resource", "resource": {"uri": "file:///a", "blob": "AA=="}},
        EmbeddedResource("file:///a", blob="AA=="),
    ),
]


def prompt(*blocks: object) -> dict[str, Any]:
    return {"sessionId": "s", "prompt": list(blocks)}


def test_text_and_links_are_always_taken() -> None:
    link = {"type": "resource_link", "uri": "file:///a", "name": "a", "size": 3, "annotations": {}}
    params = {**prompt({"type": "text", "text": "hi"}, link), "_meta": {"a": 1}}

    assert parse_prompt(params, BASELINE) == Prompt(
        "s", (Text("hi"), ResourceLink("file:///a", "a", size=3)), {"a": 1}
    )


@pytest.mark.parametrize("text", ["", " ", "\n", "x" * 1_000_000, "\ufffd"])
def test_any_text_is_taken_as_it_is(text: str) -> None:
    assert parse_prompt(prompt({"type": "text", "text": text}), BASELINE).blocks == (Text(text),)


@pytest.mark.parametrize(("block", "read"), BLOCKS)
def test_advertised_blocks_are_taken(block: dict[str, Any], read: ContentBlock) -> None:
    assert parse_prompt(prompt(block), EVERYTHING).blocks == (read,)


@pytest.mark.parametrize("block", [*(block for block, _ in BLOCKS), {"type": "video"}])
def test_blocks_that_were_not_advertised_are_refused_by_type(block: dict[str, Any]) -> None:
    with pytest.raises(InvalidParams, match=rf"prompt\[1\].*'{block['type']}'"):
        parse_prompt(prompt({"type": "text", "text": "hi"}, block), BASELINE)


@pytest.mark.parametrize(
    ("block", "named"),
    [
        (None, r"prompt\[0\] must be an object"),
        ("text", r"prompt\[0\] must be an object"),
        ({}, r"prompt\[0\]\.type is missing"),
        ({"type": 1}, r"prompt\[0\]\.type must be text"),
        ({"type": "text"}, r"prompt\[0\]\.text is missing"),
        ({"type": "text", "text": None}, r"prompt\[0\]\.text must be text"),
        ({"type": "resource_link", "name": "a"}, r"prompt\[0\]\.uri is missing"),
        ({"type": "resource_link", "uri": "a"}, r"prompt\[0\]\.name is missing"),
        ({"type": "image", "data": 1, "mimeType": "x"}, r"prompt\[0\]\.data must be text"),
        ({"type": "audio", "data": ""}, r"prompt\[0\]\.mimeType is missing"),
        ({"type": "resource"}, r"prompt\[0\]\.resource must be an object"),
        ({"type": "resource", "resource": {}}, r"prompt\[0\]\.resource\.uri is missing"),
        ({"type": "resource", "resource": {"uri": "a"}}, r"must have text or blob"),
    ],
)
def test_a_malformed_block_is_refused_by_member(block: object, named: str) -> None:
    with pytest.raises(InvalidParams, match=named):
        parse_prompt(prompt(block), EVERYTHING)


@pytest.mark.parametrize("blocks", [[], None, {}, "text", 1])
def test_an_empty_or_malformed_prompt_is_refused(blocks: object) -> None:
    with pytest.raises(InvalidParams, match="prompt"):
        parse_prompt({"sessionId": "s", "prompt": blocks}, BASELINE)


@settings(deadline=None)
@given(params=VALUES.filter(lambda value: isinstance(value, dict)), blocks=VALUES)
def test_no_params_raise_anything_but_invalid_params(params: dict[str, Any], blocks: Any) -> None:
    for given_params in (params, {**params, "sessionId": "s", "prompt": [blocks]}):
        with pytest.raises(InvalidParams) as caught:
            parse_prompt(given_params, EVERYTHING)
        assert caught.value.message.isprintable()


def test_a_turn_is_answered_with_meta_only_if_it_has_some() -> None:
    assert prompt_result(StopReason.END_TURN) == {"stopReason": "end_turn"}
    assert prompt_result(StopReason.CANCELLED, {}) == {"stopReason": "cancelled"}
    assert prompt_result(StopReason.WAITING, {"chant": {"state": "waiting"}}) == {
        "stopReason": "waiting",
        "_meta": {"chant": {"state": "waiting"}},
    }


def test_the_session_of_a_prompt_can_be_read_before_its_blocks() -> None:
    assert prompt_session({"sessionId": "s", "prompt": "malformed"}) == "s"


@pytest.mark.parametrize("params", [{}, {"sessionId": None}, {"sessionId": 1}])
def test_a_prompt_without_a_session_is_refused_by_name(params: dict[str, Any]) -> None:
    with pytest.raises(InvalidParams, match="sessionId"):
        prompt_session(params)
    with pytest.raises(InvalidParams, match="sessionId"):
        parse_prompt({"prompt": [{"type": "text", "text": "x"}], **params}, BASELINE)
