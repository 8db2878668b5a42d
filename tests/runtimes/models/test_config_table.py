"""`[providers.ID]` of a config file: read in full, and wrong keys named."""

from __future__ import annotations

import tomllib
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from runtimes.models.base import CallFailed, Message, ModelRequest, Text
from runtimes.models.config import ModelFacts, ProviderConfig
from runtimes.models.config_table import ConfigInvalid, provider_config
from runtimes.models.providers import find_provider
from tests.runtimes.models.servers import GOOD, call, model_server

if TYPE_CHECKING:
    from pathlib import Path

FULL = """
kind = "openai-compatible"
base_url = "http://127.0.0.1:8080/v1"
credential = "local"
credential_env = "LOCAL_KEY"
default_model = "qwen"
stream_idle_timeout = "90s"
headers = { X-Team = "box" }
omit = ["stream_options"]
reasoning_back = "always"
call_ids = "nine"

[models.qwen]
context_window = 32768
max_output = 4096
price_input = "0.10"
price_output = 0.4
price_cache_read = 0
images = false
"""


def read(text: str) -> ProviderConfig:
    return provider_config("local", tomllib.loads(text), "/etc/radian")


def test_a_full_table_is_read() -> None:
    facts = ModelFacts(
        context_window=32768,
        max_output=4096,
        price_input=Decimal("0.10"),
        price_output=Decimal("0.4"),
        price_cache_read=Decimal(0),
        images=False,
    )

    assert read(FULL) == ProviderConfig(
        id="local",
        kind="openai-compatible",
        base_url="http://127.0.0.1:8080/v1",
        credential="local",
        credential_env="LOCAL_KEY",
        default_model="qwen",
        headers={"X-Team": "box"},
        stream_idle_timeout_s=90.0,
        models={"qwen": facts},
        omit=frozenset({"stream_options"}),
        reasoning_back="always",
        call_ids="nine",
    )


def test_a_script_lies_beside_the_file() -> None:
    assert read('kind = "scripted"\nscript = "turns.json"').script == "/etc/radian/turns.json"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "kind must be one of openai-compatible, openai, anthropic, gemini, scripted"),
        ('kind = "openai"\nbase_ur = "x"', "unknown key 'base_ur'; did you mean 'base_url'"),
        ('kind = "openai-compatible"', "needs a base_url"),
        ('kind = "scripted"', "needs a script"),
        ('kind = "openai"\nbase_url = "ftp://x"', "must be like https://host/v1"),
        ('kind = "openai"\nbase_url = "http://u:p@x"', "must be like https://host/v1"),
        ('kind = "openai"\nbase_url = "http://[x"', "must be like https://host/v1"),
        ('kind = "openai"\nheaders = { "a b" = "c" }', "header 'a b'"),
        ('kind = "openai"\nheaders = { a = "c\\n" }', "header 'a'"),
        ('kind = "openai"\nstream_idle_timeout = 5', "stream_idle_timeout"),
        ('kind = "openai"\nomit = "x"', "omit must be a list"),
        ('kind = "openai"\ncall_ids = "ten"', "call_ids must be one of as-sent, nine"),
        ('kind = "openai"\n[models.m]\ncontext_window = 0', "model m: context_window"),
        ('kind = "openai"\n[models.m]\nprice_input = "free"', "model m: price_input"),
        ('kind = "openai"\n[models.m]\nprice_input = -1', "model m: price_input"),
        ('kind = "openai"\n[models.m]\nimages = 1', "images must be true or false"),
        ('kind = "openai"\nmodels = 3', "models must be a table"),
    ],
)
def test_what_is_wrong_is_named(text: str, said: str) -> None:
    with pytest.raises(ConfigInvalid, match=said):
        read(text)


def test_a_key_in_the_place_of_its_name_is_not_repeated() -> None:
    with pytest.raises(ConfigInvalid) as raised:
        read('kind = "openai"\ncredential = "sk/abcdefgh+12345678"')

    assert "abcdefgh" not in str(raised.value)


@pytest.mark.parametrize("name", ["", ".x", "a b", "a/b"])
def test_an_id_is_a_plain_word(name: str) -> None:
    with pytest.raises(ConfigInvalid, match="letters, digits"):
        provider_config(name, {"kind": "openai"}, "/")


def test_a_provider_is_found_by_its_id_and_called(tmp_path: Path) -> None:
    with model_server(GOOD) as server:
        (tmp_path / "config.toml").write_text(
            f'[providers.local]\nkind = "openai-compatible"\nbase_url = "{server.url}"\n'
            'credential = "none"\nheaders = { X-Team = "box" }\n'
        )
        found = find_provider("local", {"RADIAN_HOME": str(tmp_path)})
        call(found, ModelRequest("m", (Message("user", (Text("hi"),)),)))

    (request,) = server.requests
    assert request.headers["x-team"] == "box"
    assert "authorization" not in request.headers


def test_a_provider_without_a_stored_key_says_so_when_it_is_called(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('[providers.claude]\nkind = "anthropic"\n')
    found = find_provider("claude", {"RADIAN_HOME": str(tmp_path)})

    (failed,) = call(found, ModelRequest("m", ()))

    assert isinstance(failed, CallFailed)
    assert failed.origin == "credential"


def test_any_value_is_refused_without_a_crash() -> None:
    values: list[Any] = [None, 3, "x", [], True]
    for value in values:
        with pytest.raises(ConfigInvalid, match="must be a table"):
            provider_config("local", value, "/")
