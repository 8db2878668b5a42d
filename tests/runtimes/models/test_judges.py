"""Our calls, judged by model servers that others wrote."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from actors.cancel import CancelSignal
from actors.real_platform import RealPlatform
from runtimes.models.answer import Answer
from runtimes.models.base import Message, ModelRequest, Reasoning, Text, Tool, ToolOutput
from runtimes.models.calling import Retrying, call_model
from runtimes.models.registry import make_provider
from runtimes.models.retry import RetryPolicy
from runtimes.models.secrets import Secrets
from tests.runtimes.models.judges import aimock, llmock, told
from tests.runtimes.models.servers import config

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from runtimes.models.base import Provider

pytestmark = pytest.mark.slow
QUICK = RetryPolicy(max_attempts=3, first_wait_s=0.1)
AIMOCK_BASES = {
    "openai-compatible": "/v1",
    "openai": "/v1",
    "anthropic": "/v1",
    "gemini": "/v1beta",
}
LLMOCK_BASES = {
    "openai-compatible": "/v1",
    "openai": "/v1",
    "anthropic": "/anthropic/v1",
    "gemini": "/gemini/v1beta",
}
SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string"}},
    "required": ["path"],
    "additionalProperties": False,
}
READ = Tool("read", "Reads a file.", SCHEMA)


def asked(text: str, *more: Message) -> ModelRequest:
    return ModelRequest("gpt-4o", (Message("user", (Text(text),)), *more), tools=(READ,))


def real_call(called: Provider, request: ModelRequest) -> tuple[list[Retrying], Answer]:
    """Call with real waits, the longest that the policy allows."""
    cancel = CancelSignal(RealPlatform())
    *shown, answer = call_model(called, request, cancel, policy=QUICK, chance=lambda: 1.0)
    assert isinstance(answer, Answer)
    return [each for each in shown if isinstance(each, Retrying)], answer


def provider_of(kind: str, url: str, bases: dict[str, str], tmp_path: Path) -> Provider:
    secrets = Secrets({"RADIAN_HOME": str(tmp_path)})
    secrets.store.write("local", "key-of-a-mock")
    return make_provider(config(url + bases[kind], kind=kind, credential="local"), secrets)


# --- aimock

READS = {"id": "call_1", "name": "read", "arguments": {"path": "a.txt"}}
FIXTURES: list[dict[str, Any]] = [
    {
        "match": {"userMessage": "loop", "hasToolResult": False},
        "response": {"content": "Let me look.", "reasoning": "Read first.", "toolCalls": [READS]},
    },
    {
        "match": {"userMessage": "loop", "hasToolResult": True},
        "response": {
            "content": "It says hi.",
            "usage": {"prompt_tokens": 120, "completion_tokens": 9},
        },
    },
    {
        "match": {"userMessage": "flaky", "sequenceIndex": 0},
        "response": {"error": {"message": "Overloaded", "type": "overloaded_error"}, "status": 529},
    },
    {"match": {"userMessage": "flaky", "sequenceIndex": 1}, "response": {"content": "ok now"}},
    {
        "match": {"userMessage": "drop"},
        "response": {"content": "cut in the middle of this"},
        "disconnectAfterMs": 120,
        "latency": 50,
        "chunkSize": 5,
    },
    {
        "match": {"userMessage": "trunc"},
        "response": {"content": "half an ans", "finishReason": "length"},
    },
    {
        "match": {"userMessage": "slow"},
        "response": {"content": "word " * 1000},
        "streamingProfile": {"ttft": 10, "tps": 50},
    },
]


@pytest.fixture(scope="module")
def mock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with aimock(tmp_path_factory.mktemp("aimock"), *FIXTURES) as url:
        yield url


@pytest.fixture(params=AIMOCK_BASES)
def ours(request: pytest.FixtureRequest, mock: str, tmp_path: Path) -> Provider:
    return provider_of(request.param, mock, AIMOCK_BASES, tmp_path)


def test_aimock_calls_a_tool_and_takes_its_result(ours: Provider) -> None:
    _, first = real_call(ours, asked("loop"))

    assert first.error is None
    assert (first.text, first.finish) == ("Let me look.", "tools")
    assert Reasoning("Read first.") in first.parts
    (call,) = first.calls
    assert (call.name, call.arguments.replace(" ", "")) == ("read", '{"path":"a.txt"}')

    result = Message("user", (ToolOutput(call.call_id, "hi"),))
    _, second = real_call(ours, asked("loop", Message("assistant", first.parts), result))

    assert (second.text, second.finish) == ("It says hi.", "stop")


def test_aimock_is_called_again_when_it_was_overloaded(mock: str, tmp_path: Path) -> None:
    called = provider_of("anthropic", mock, AIMOCK_BASES, tmp_path)

    retries, answer = real_call(called, asked("flaky"))

    assert [each.http_status for each in retries] == [529]
    assert answer.text == "ok now"


def test_aimock_cuts_an_answer_and_nobody_takes_it_for_whole(ours: Provider) -> None:
    retries, answer = real_call(ours, asked("drop"))

    assert len(retries) == QUICK.max_attempts - 1
    assert answer.error is not None
    assert answer.error.retryable


def test_aimock_stops_at_its_limit(ours: Provider) -> None:
    _, answer = real_call(ours, asked("trunc"))

    assert (answer.text, answer.finish) == ("half an ans", "length")


def test_aimock_streams_slowly_and_a_cancel_ends_it(ours: Provider) -> None:
    cancel = CancelSignal(RealPlatform())
    events = call_model(ours, asked("slow"), cancel)
    next(events)

    threading.Thread(target=cancel.set).start()
    *_, answer = events

    assert isinstance(answer, Answer)
    assert answer.finish == "cancelled"


# --- llmock


@pytest.fixture(scope="module")
def running_judge() -> Iterator[str]:
    with llmock("--stream-chunk-delay-ms", "2") as url:
        yield url


@pytest.fixture
def judge(running_judge: str) -> str:
    told(f"{running_judge}/_llmock/reset", {})
    return running_judge


def question(number: int) -> ModelRequest:
    return ModelRequest("gpt-4o", (Message("user", (Text(f"question {number}"),)),))


@pytest.mark.parametrize("kind", LLMOCK_BASES)
def test_llmock_finds_no_fault_with_us(kind: str, judge: str, tmp_path: Path) -> None:
    faults: list[dict[str, Any]] = [
        {"type": "fail", "status": 429, "retry_after": 0.5, "times": 1},
        {"type": "fail", "status": 503, "times": 2},
        {"type": "stream_fault", "kind": "truncate", "after_chunks": 1},
        {"type": "stream_fault", "kind": "disconnect", "after_chunks": 1},
        {"type": "stream_fault", "kind": "malformed", "after_chunks": 1},
        {"type": "fail", "status": 401, "times": 1},
        {"type": "fail", "status": 400, "times": 1},
    ]
    called = provider_of(kind, judge, LLMOCK_BASES, tmp_path)
    ends: list[Answer] = []
    for number, fault in enumerate(faults):
        told(f"{judge}/_llmock/scenario", {"behaviors": [fault]})
        _, answer = real_call(called, question(number))
        ends.append(answer)
    verdict = told(f"{judge}/_llmock/verdict")

    assert verdict["findings"] == []
    assert verdict["faults_injected"] == 8
    assert [each.error is None for each in ends] == [True] * 5 + [False] * 2
    assert ends[5].error is not None
    assert ends[5].error.origin == "credential"


def test_llmock_runs_a_loop_with_a_tool(judge: str, tmp_path: Path) -> None:
    called = provider_of("anthropic", judge, LLMOCK_BASES, tmp_path)

    _, first = real_call(called, asked("read it"))
    (call,) = first.calls
    result = Message("user", (ToolOutput(call.call_id, "hi"),))
    _, second = real_call(called, asked("read it", Message("assistant", first.parts), result))
    verdict = told(f"{judge}/_llmock/verdict")

    assert (first.finish, second.finish) == ("tools", "stop")
    assert second.text
    assert verdict["findings"] == []


def test_llmock_refuses_a_long_conversation_and_we_say_so(tmp_path: Path) -> None:
    with llmock("--context-window", "50") as url:
        called = provider_of("openai-compatible", url, LLMOCK_BASES, tmp_path)
        _, answer = real_call(called, asked("word " * 500))
        verdict = told(f"{url}/_llmock/verdict")

    assert answer.error is not None
    assert answer.error.context_overflow
    assert verdict["findings"] == []
