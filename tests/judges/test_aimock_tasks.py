"""`radian exec` does a task against aimock, in each wire format: read, patch, test, answer."""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from tests.judges.far import (
    ADD,
    KEY,
    SESSION,
    TASK,
    broken_project,
    configure,
    everything_kept,
    exec_words,
)
from tests.judges.formats import (
    FORMATS,
    calls_and_outputs,
    conversation_of,
    signed_in_conversation,
    signed_in_stream,
)
from tests.judges.relay import Exchange, relay
from tests.runtimes.models.judges import aimock
from tests.runtimes.radian.box import Box, make_box, objects

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow

EFFORT = ("--effort", "medium")
THOUGHT = "A minus where a plus should be."
CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "call_1": ("read", {"path": "sums.py"}),
    "call_2": ("patch", {"path": "sums.py", "old": "a - b", "new": "a + b"}),
    "call_3": ("shell", {"command": "python3 test_sums.py"}),
}
OUTPUTS = {
    "call_1": "1\tdef add(a, b):\n2\t    return a - b",
    "call_2": "sums.py changed, first at line 2",
    "call_3": "all well\n",
}


def told(call_id: str) -> list[dict[str, Any]]:
    name, arguments = CALLS[call_id]
    return [{"id": call_id, "name": name, "arguments": arguments}]


def used(prompt: int, completion: int) -> dict[str, int]:
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    }


# aimock goes on only when the last message is the result of the right call.
SCRIPT: list[dict[str, Any]] = [
    {
        "match": {"userMessage": TASK, "hasToolResult": False},
        "response": {
            "content": "Let me look.",
            "reasoning": "Read first.",
            "toolCalls": told("call_1"),
            "usage": used(100, 10),
        },
    },
    {
        "match": {"userMessage": TASK, "toolResultContains": "return a - b"},
        "response": {"reasoning": THOUGHT, "toolCalls": told("call_2"), "usage": used(200, 20)},
    },
    {
        "match": {"userMessage": TASK, "toolResultContains": "sums.py changed"},
        "response": {"toolCalls": told("call_3"), "usage": used(300, 30)},
    },
    {
        "match": {"userMessage": TASK, "toolResultContains": "all well"},
        "response": {"content": "It is mended.", "usage": used(400, 40)},
    },
]


class Done(NamedTuple):
    """A task that was done over a wire."""

    kind: str
    box: Box
    run: subprocess.CompletedProcess[str]
    exchanges: list[Exchange]

    def conversations(self) -> list[list[Any]]:
        return [conversation_of(self.kind, each.body) for each in self.exchanges]


@pytest.fixture(scope="module")
def mock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with aimock(tmp_path_factory.mktemp("aimock"), *SCRIPT) as url:
        yield url


@pytest.fixture(scope="module", params=FORMATS)
def done(
    request: pytest.FixtureRequest, mock: str, tmp_path_factory: pytest.TempPathFactory
) -> Done:
    return do_task(request.param, mock, tmp_path_factory.mktemp("task"))


def do_task(kind: str, mock: str, folder: Path) -> Done:
    box = make_box(folder)
    broken_project(box.workspace)
    with relay(mock) as between:
        configure(box, kind, between.url + FORMATS[kind].base)
        run = box.run(*exec_words(*EFFORT))
    return Done(kind, box, run, between.exchanges)


def test_the_task_is_done(done: Done) -> None:
    said = objects(done.run.stdout)

    assert (done.run.returncode, done.run.stderr) == (0, "")
    assert (done.box.workspace / "sums.py").read_text() == ADD.format("+")
    result = said[-1]
    assert (result["type"], result["status"], result["exit_code"]) == ("Result", "completed", 0)
    assert (result["stop_reason"], result["text"]) == ("end_turn", "It is mended.")
    # 1000 tokens at 2 dollars a million, 100 at 10.
    assert result["cost"] == {"micros": 3000, "incomplete": False, "estimated": False}
    metrics = result["run_metrics"]
    counts = ("model_calls", "retries", "tool_calls", "tool_failures", "tool_denials")
    assert [metrics[name] for name in counts] == [4, 0, 3, 0, 0]
    assert (metrics["input_tokens"], metrics["output_tokens"]) == (1000, 100)
    assert metrics["context_tokens"] == 440


def test_each_step_is_told_as_it_happens(done: Done) -> None:
    said = objects(done.run.stdout)

    seen = [
        (each["type"], each.get("call_id") or each.get("call"))
        for each in said
        if each["type"] not in {"ToolOutput", "Text", "Reasoning"}
    ]
    assert seen == [
        ("SessionStarted", None),
        ("TurnStarted", None),
        *(step for number in (1, 2, 3) for step in steps_of(number)),
        ("Usage", 4),
        ("TurnEnded", None),
        ("Result", None),
    ]
    heard: dict[tuple[str, int], str] = defaultdict(str)
    for each in said:
        if each["type"] in {"Reasoning", "Text"}:
            heard[each["type"], each["call"]] += each["delta"]
    assert heard == {
        ("Reasoning", 1): "Read first.",
        ("Text", 1): "Let me look.",
        ("Reasoning", 2): THOUGHT,
        ("Text", 4): "It is mended.",
    }
    output = "".join(each["delta"] for each in said if each["type"] == "ToolOutput")
    assert output == OUTPUTS["call_3"]
    results = {each["call_id"]: each for each in said if each["type"] == "ToolResult"}
    assert {name: each["output"] for name, each in results.items()} == OUTPUTS
    assert {each["status"] for each in results.values()} == {"completed"}
    assert [each["kind"] for each in said if each["type"] == "ToolCall"] == [
        "read",
        "edit",
        "execute",
    ]


def steps_of(number: int) -> list[tuple[str, Any]]:
    call_id = f"call_{number}"
    return [
        ("Usage", number),
        ("ToolCall", call_id),
        ("Permission", call_id),
        ("ToolResult", call_id),
    ]


def test_the_journal_has_it_all(done: Done) -> None:
    records = done.box.journal(SESSION)

    step = ["AssistantMessage", "PermissionDecided", "ToolResult"]
    assert [each["type"] for each in records] == [
        *("SessionCreated", "RunStarted", "TurnStarted", "UserMessage"),
        *step * 3,
        *("AssistantMessage", "TurnEnded"),
    ]
    assert [each["seq"] for each in records] == list(range(1, len(records) + 1))
    calls = [
        (part["call_id"], (part["name"], part["input"]))
        for record in records
        for part in record.get("parts", ())
        if part["type"] == "tool_call"
    ]
    assert dict(calls) == CALLS
    assert {
        each["call_id"]: each["output"] for each in records if each["type"] == "ToolResult"
    } == OUTPUTS
    assert [each["cost_micros"] for each in records if each["type"] == "AssistantMessage"] == [
        300,
        600,
        900,
        1200,
    ]
    assert (records[-1]["end"], records[-1]["turn"]) == ("Completed", 1)


def test_the_system_prompt_and_the_task_are_sent_once_in_each_call(done: Done) -> None:
    bodies = [each.body for each in done.exchanges]

    assert len(bodies) == 4
    for body in bodies:
        text = json.dumps(body)
        assert text.count("You are radian") == 1
        assert text.count(TASK) == 1
    assert len({json.dumps(body["tools"]) for body in bodies}) == 1


def test_what_was_said_is_only_added_to(done: Done) -> None:
    # A provider's cache of prompts is of use only if the beginning stays as it was.
    for shorter, longer in itertools.pairwise(done.conversations()):
        assert longer[: len(shorter)] == shorter


def test_each_result_goes_back_under_the_id_of_its_call(done: Done) -> None:
    calls, results = calls_and_outputs(done.conversations()[-1])

    assert list(calls) == list(CALLS)
    assert calls == CALLS
    assert results == OUTPUTS


def test_what_the_provider_signed_goes_back_as_it_came(done: Done) -> None:
    came = [signed for each in done.exchanges for signed in signed_in_stream(each.events)]

    assert len(came) == (0 if done.kind == "gemini" else 2)  # there aimock signs nothing
    assert signed_in_conversation(done.conversations()[-1]) == came


def test_the_key_travels_in_its_header_and_stays_nowhere(done: Done) -> None:
    for each in done.exchanges:
        carriers = [name for name, value in each.headers.items() if KEY in value]
        assert carriers == [FORMATS[done.kind].header]
        assert KEY not in each.path
        assert KEY.encode() not in each.request
    assert KEY not in everything_kept(done.box, done.run.stdout, done.run.stderr)
