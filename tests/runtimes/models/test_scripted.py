"""The provider that plays a file, and how providers are found."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

import pytest

from runtimes.models.base import (
    CallFailed,
    Finished,
    Message,
    ModelRequest,
    ReasoningDelta,
    Text,
    TextDelta,
    ToolCalled,
    Usage,
)
from runtimes.models.config import ScriptInvalid
from runtimes.models.providers import ProviderMissing, find_provider
from runtimes.models.scripted import Scripted, read_script

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from runtimes.models.base import ModelEvent


class Token:
    """A cancel token that counts how long it was waited for."""

    def __init__(self, *, cancelled: bool = False) -> None:
        self._set = threading.Event()
        self.waited_s = 0.0
        if cancelled:
            self._set.set()

    def is_set(self) -> bool:
        return self._set.is_set()

    def wait(self, timeout_s: float) -> bool:
        self.waited_s += timeout_s
        return self._set.is_set()

    def on_cancel(self, callback: Callable[[], None]) -> None:
        raise NotImplementedError(callback)


def script(folder: Path, *calls: dict[str, Any], then: str = "error") -> Scripted:
    path = folder / "turns.json"
    path.write_text(json.dumps({"calls": calls, "then": then}))
    return read_script(str(path))


def call(provider: Scripted, said: str = "hi", token: Token | None = None) -> list[ModelEvent]:
    request = ModelRequest("m", (Message("user", (Text(said),)),))
    return list(provider.stream(request, token or Token()))


def test_a_call_brings_reasoning_text_tools_usage_and_an_end(tmp_path: Path) -> None:
    entry = {
        "reasoning": "hm",
        "text": "abcde",
        "chunk": 2,
        "tool_calls": [{"name": "read", "input": {"path": "a.txt"}}],
        "usage": {"input_tokens": 10, "output_tokens": 5},
    }

    assert call(script(tmp_path, entry)) == [
        ReasoningDelta("hm"),
        TextDelta("ab"),
        TextDelta("cd"),
        TextDelta("e"),
        ToolCalled("call-1", "read", '{"path": "a.txt"}'),
        Usage(10, 5),
        Finished("tools"),
    ]


def test_calls_play_one_entry_after_the_other_and_then_fail(tmp_path: Path) -> None:
    provider = script(tmp_path, {"text": "1"}, {"text": "2"})

    assert [call(provider)[0], call(provider)[0]] == [TextDelta("1"), TextDelta("2")]
    assert call(provider) == [CallFailed("the script has no call left that fits")]


def test_the_last_entry_can_be_repeated(tmp_path: Path) -> None:
    provider = script(tmp_path, {"text": "1"}, then="repeat-last")

    assert call(provider) == call(provider) == [TextDelta("1"), Finished("stop")]


def test_an_entry_may_wait_for_words_of_the_last_user_message(tmp_path: Path) -> None:
    provider = script(tmp_path, {"when": "weather", "text": "rain"}, {"text": "hello"})

    assert call(provider, "hi")[0] == TextDelta("hello")
    assert call(provider, "how is the weather?")[0] == TextDelta("rain")


def test_an_error_comes_after_what_was_said_and_says_whether_to_try_again(tmp_path: Path) -> None:
    provider = script(
        tmp_path,
        {"text": "half", "error": {"status": 429, "message": "slow down", "retry_after_s": 3}},
        {"error": {"status": 400, "message": "bad"}},
    )

    assert call(provider) == [
        TextDelta("half"),
        CallFailed("slow down", 429, retry=True, retry_after_s=3),
    ]
    assert call(provider) == [CallFailed("bad", 400)]


def test_a_delay_waits_on_the_token_and_a_cancel_just_ends_the_stream(tmp_path: Path) -> None:
    entry = {"text": "abcd", "chunk": 2, "delay_ms": 500}
    patient = Token()

    assert call(script(tmp_path, entry), token=patient)[-1] == Finished("stop")
    assert patient.waited_s == pytest.approx(1.5)
    assert call(script(tmp_path, entry), token=Token(cancelled=True)) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "can't be read"),
        ("[]", "must be an object"),
        ('{"call": []}', "unknown key 'call'"),
        ('{"calls": [{"txt": "a"}]}', "call 1 has an unknown key 'txt'"),
        ('{"calls": [{"finish": "end"}]}', "finish must be one of stop"),
        ('{"calls": [], "then": "again"}', "then must be one of repeat-last, error"),
        ('{"calls": [{"usage": {"input": 1}}]}', "turns.json"),
        ('{"calls": 3}', "turns.json"),
    ],
)
def test_a_script_that_cannot_be_played_says_where_it_is_wrong(
    tmp_path: Path, text: str, said: str
) -> None:
    path = tmp_path / "turns.json"
    path.write_text(text)

    with pytest.raises(ScriptInvalid, match=said):
        read_script(str(path))


def config(folder: Path, text: str) -> dict[str, str]:
    (folder / "config.toml").write_text(text)
    return {"RADIAN_HOME": str(folder)}


def test_a_configured_provider_is_found_and_its_script_lies_beside_the_config(
    tmp_path: Path,
) -> None:
    environ = config(tmp_path, '[providers.play]\nkind = "scripted"\nscript = "turns.json"\n')
    script(tmp_path, {"text": "hello"})

    found = find_provider("play", environ)

    assert isinstance(found, Scripted)
    assert call(found)[0] == TextDelta("hello")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no provider 'play'; there are none"),
        ('[providers.other]\nkind = "scripted"\n', "known: other"),
        ('[providers.play]\nkind = "oracle"\n', "kind must be one of .*, not 'oracle'"),
        (
            '[providers.play]\nkind = "scripted"\nscript = "gone.json"\n',
            "gone.json can't be read: No",
        ),
        ("providers = 3\n", "must be a table"),
        ("[", "can't be read"),
    ],
)
def test_a_provider_that_cannot_be_used_says_why(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ProviderMissing, match=said):
        find_provider("play", config(tmp_path, text))


def test_without_a_config_there_are_no_providers(tmp_path: Path) -> None:
    with pytest.raises(ProviderMissing, match="there are none"):
        find_provider("play", {"HOME": str(tmp_path)})
