"""What is sent: a conversation with everything in it, in four wire formats."""

from __future__ import annotations

from typing import Any

import pytest

from runtimes.models.anthropic import Anthropic
from runtimes.models.base import (
    Effort,
    Image,
    Kept,
    Message,
    ModelRequest,
    Reasoning,
    Text,
    Tool,
    ToolOutput,
    ToolUse,
)
from runtimes.models.chat_completions import ChatCompletions
from runtimes.models.config import ModelFacts, ProviderConfig
from runtimes.models.gemini import Gemini
from runtimes.models.responses import Responses

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}
BLOCK = {"type": "thinking", "thinking": "hm", "signature": "sig"}
ITEM = {"type": "reasoning", "id": "rs_1", "encrypted_content": "xyz", "summary": []}
CONVERSATION = ModelRequest(
    "m",
    (
        Message("user", (Text("look"), Image("image/png", "QUJD"))),
        Message(
            "assistant",
            (
                Reasoning("hm"),
                Kept({"from": "anthropic", "block": BLOCK}),
                Kept({"from": "openai", "item": ITEM}),
                Kept({"from": "gemini", "call_id": "a", "thoughtSignature": "gsig"}),
                Kept({"from": "openai-compatible", "reasoning_field": "reasoning"}),
                Text("I look."),
                ToolUse("a", "read", '{"path":"x"}'),
                ToolUse("b", "read", '{"path":"y"}'),
            ),
        ),
        Message("user", (ToolOutput("a", "text of x"), ToolOutput("b", "gone", failed=True))),
        Message("user", (Text("go on"),)),
    ),
    system="Be short.",
    tools=(Tool("read", "Reads.", SCHEMA),),
    max_output_tokens=100,
)
NONE: frozenset[str] = frozenset()


def config(kind: Any) -> ProviderConfig:
    return ProviderConfig("p", kind, "http://h/v1")


def test_chat_completions() -> None:
    body = ChatCompletions().body(CONVERSATION, config("openai-compatible"), NONE)

    def used(call_id: str, arguments: str) -> dict[str, Any]:
        function = {"name": "read", "arguments": arguments}
        return {"id": call_id, "type": "function", "function": function}

    assert body == {
        "model": "m",
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 100,
        "tools": [
            {
                "type": "function",
                "function": {"name": "read", "description": "Reads.", "parameters": SCHEMA},
            }
        ],
        "messages": [
            {"role": "system", "content": "Be short."},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "look"},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}},
                ],
            },
            {
                "role": "assistant",
                "content": "I look.",
                "reasoning": "hm",
                "tool_calls": [used("a", '{"path":"x"}'), used("b", '{"path":"y"}')],
            },
            {"role": "tool", "tool_call_id": "a", "content": "text of x"},
            {"role": "tool", "tool_call_id": "b", "content": "gone"},
            {"role": "user", "content": "go on"},
        ],
    }


def test_responses() -> None:
    body = Responses().body(CONVERSATION, config("openai"), NONE)

    def used(call_id: str, arguments: str) -> dict[str, Any]:
        return {
            "type": "function_call",
            "call_id": call_id,
            "name": "read",
            "arguments": arguments,
        }

    assert body == {
        "model": "m",
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "instructions": "Be short.",
        "max_output_tokens": 100,
        "tools": [
            {
                "type": "function",
                "name": "read",
                "description": "Reads.",
                "parameters": SCHEMA,
                "strict": False,
            }
        ],
        "input": [
            {
                "type": "message",
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "look"},
                    {"type": "input_image", "image_url": "data:image/png;base64,QUJD"},
                ],
            },
            ITEM,
            {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "I look."}],
            },
            used("a", '{"path":"x"}'),
            used("b", '{"path":"y"}'),
            {"type": "function_call_output", "call_id": "a", "output": "text of x"},
            {"type": "function_call_output", "call_id": "b", "output": "gone"},
            {
                "type": "message",
                "role": "user",
                "content": [{"type": "input_text", "text": "go on"}],
            },
        ],
    }


def test_anthropic() -> None:
    body = Anthropic().body(CONVERSATION, config("anthropic"), NONE)
    mark = {"cache_control": {"type": "ephemeral"}}

    assert body == {
        "model": "m",
        "stream": True,
        "max_tokens": 100,
        "system": [{"type": "text", "text": "Be short.", **mark}],
        "tools": [{"name": "read", "description": "Reads.", "input_schema": SCHEMA, **mark}],
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "look"},
                    {
                        "type": "image",
                        "source": {"type": "base64", "media_type": "image/png", "data": "QUJD"},
                    },
                ],
            },
            {
                "role": "assistant",
                "content": [
                    BLOCK,
                    {"type": "text", "text": "I look."},
                    {"type": "tool_use", "id": "a", "name": "read", "input": {"path": "x"}},
                    {"type": "tool_use", "id": "b", "name": "read", "input": {"path": "y"}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "a", "content": "text of x"},
                    {
                        "type": "tool_result",
                        "tool_use_id": "b",
                        "content": "gone",
                        "is_error": True,
                    },
                    {"type": "text", "text": "go on", **mark},
                ],
            },
        ],
    }


def test_gemini() -> None:
    body = Gemini().body(CONVERSATION, config("gemini"), NONE)

    def used(path: str, **more: str) -> dict[str, Any]:
        return {"functionCall": {"name": "read", "args": {"path": path}}, **more}

    assert body == {
        "systemInstruction": {"parts": [{"text": "Be short."}]},
        "generationConfig": {"maxOutputTokens": 100},
        "tools": [
            {
                "functionDeclarations": [
                    {"name": "read", "description": "Reads.", "parametersJsonSchema": SCHEMA}
                ]
            }
        ],
        "contents": [
            {
                "role": "user",
                "parts": [
                    {"text": "look"},
                    {"inlineData": {"mimeType": "image/png", "data": "QUJD"}},
                ],
            },
            {
                "role": "model",
                "parts": [{"text": "I look."}, used("x", thoughtSignature="gsig"), used("y")],
            },
            {
                "role": "user",
                "parts": [
                    {
                        "functionResponse": {
                            "name": "read",
                            "response": {"output": "text of x"},
                        }
                    },
                    {"functionResponse": {"name": "read", "response": {"error": "gone"}}},
                    {"text": "go on"},
                ],
            },
        ],
    }


def test_gemini_gets_its_ids_and_signatures_back_also_where_we_changed_the_id() -> None:
    def kept(signature: str) -> Kept:
        return Kept({"from": "gemini", "call_id": "g", "id": "g", "thoughtSignature": signature})

    said = (kept("one"), ToolUse("g", "read", "{}"), kept("two"), ToolUse("g-2", "read", "{}"))
    outputs = (ToolOutput("g", "1"), ToolOutput("g-2", "2"))
    request = ModelRequest("m", (Message("assistant", said), Message("user", outputs)))

    called, answered = Gemini().body(request, config("gemini"), NONE)["contents"]

    assert called["parts"] == [
        {"functionCall": {"id": "g", "name": "read", "args": {}}, "thoughtSignature": signature}
        for signature in ("one", "two")
    ]
    assert answered["parts"] == [
        {"functionResponse": {"id": "g", "name": "read", "response": {"output": output}}}
        for output in ("1", "2")
    ]


@pytest.mark.parametrize(
    ("effort", "limit", "thinking"),
    [
        (None, None, None),
        ("off", None, None),
        ("low", None, {"type": "enabled", "budget_tokens": 2048}),
        ("max", None, {"type": "enabled", "budget_tokens": 8191}),
        ("low", 1000, None),
    ],
)
def test_anthropic_thinks_less_than_it_may_answer(
    effort: Effort | None, limit: int | None, thinking: Any
) -> None:
    request = ModelRequest(
        "m", CONVERSATION.messages, effort=effort, max_output_tokens=limit, temperature=0.5
    )

    body = Anthropic().body(request, config("anthropic"), NONE)

    assert body.get("thinking") == thinking
    assert ("temperature" in body) == (thinking is None)


def test_anthropic_adapts_where_a_budget_was_refused() -> None:
    request = ModelRequest("m", CONVERSATION.messages, effort="high")

    body = Anthropic().body(request, config("anthropic"), frozenset({"budget_tokens"}))

    assert body["thinking"] == {"type": "adaptive"}
    assert body["output_config"] == {"effort": "high"}


def test_anthropic_may_answer_as_much_as_the_config_says() -> None:
    facts = ModelFacts(max_output=64_000)
    known = ProviderConfig("p", "anthropic", models={"m": facts})
    request = ModelRequest("m", CONVERSATION.messages)

    assert Anthropic().body(request, known, NONE)["max_tokens"] == 64_000


@pytest.mark.parametrize(
    ("model", "thinking"),
    [
        ("gemini-2.5-pro", {"includeThoughts": True, "thinkingBudget": 8192}),
        ("gemini-3-pro", {"includeThoughts": True, "thinkingLevel": "high"}),
    ],
)
def test_gemini_thinks_by_budget_or_by_level(model: str, thinking: Any) -> None:
    request = ModelRequest(model, CONVERSATION.messages, effort="medium")

    body = Gemini().body(request, config("gemini"), NONE)

    assert body["generationConfig"] == {"thinkingConfig": thinking}


@pytest.mark.parametrize(
    ("dialect", "path", "header"),
    [
        (ChatCompletions(), "/chat/completions", {"Authorization": "Bearer k"}),
        (Responses(), "/responses", {"Authorization": "Bearer k"}),
        (Anthropic(), "/messages", {"x-api-key": "k", "anthropic-version": "2023-06-01"}),
        (Gemini(), "/models/a%2Fb:streamGenerateContent?alt=sse", {"x-goog-api-key": "k"}),
    ],
)
def test_keys_travel_in_headers(dialect: Any, path: str, header: dict[str, str]) -> None:
    assert dialect.path(ModelRequest("a/b", ())) == path
    assert dialect.headers("k") == header
    assert "k" not in dialect.headers(None).values()


@pytest.mark.parametrize("dialect", [ChatCompletions(), Responses(), Anthropic(), Gemini()])
def test_a_persons_own_options_win(dialect: Any) -> None:
    request = ModelRequest("m", CONVERSATION.messages, options={"tools": [], "top_k": 3})

    body = dialect.body(request, config("openai-compatible"), NONE)

    assert (body["tools"], body["top_k"]) == ([], 3)
