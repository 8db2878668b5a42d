"""Keys: stored so that only their owner can read them, and found nowhere else."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING, Any

import pytest

from runtimes.models.base import CallFailed
from runtimes.models.config import ProviderConfig
from runtimes.models.credentials import CredentialMissing, CredentialStore
from runtimes.models.registry import make_provider
from runtimes.models.secrets import MASK, PIECE, Secrets
from tests.runtimes.models.servers import GOOD, REQUEST, call, config, model_server, signal, status

if TYPE_CHECKING:
    from pathlib import Path

KEY = "sk-test-0123456789abcdefABCDEF+/"


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_key_lies_in_a_file_that_only_its_owner_can_read(tmp_path: Path) -> None:
    home = tmp_path / "home"
    old = os.umask(0)
    try:
        CredentialStore(str(home)).write("local", f" {KEY}\n")
    finally:
        os.umask(old)

    assert mode(home) == 0o700
    assert mode(home / "credentials") == 0o700
    assert mode(home / "credentials" / "local.json") == 0o600
    assert CredentialStore(str(home)).read("local") == KEY
    assert [each.name for each in (home / "credentials").iterdir()] == ["local.json"]


def test_a_folder_that_was_open_is_closed(tmp_path: Path) -> None:
    (tmp_path / "credentials").mkdir(mode=0o755)

    CredentialStore(str(tmp_path)).write("local", KEY)

    assert mode(tmp_path / "credentials") == 0o700


def test_a_new_key_takes_the_place_of_the_old_one_and_can_be_forgotten(tmp_path: Path) -> None:
    store = CredentialStore(str(tmp_path))
    store.write("local", "old-key-1")
    store.write("local", KEY)

    assert store.read("local") == KEY
    assert store.remove("local")
    assert not store.remove("local")
    with pytest.raises(CredentialMissing, match="radian login local"):
        store.read("local")


def test_a_key_that_others_can_read_is_not_used(tmp_path: Path) -> None:
    store = CredentialStore(str(tmp_path))
    store.write("local", KEY)
    path = tmp_path / "credentials" / "local.json"
    path.chmod(0o640)

    with pytest.raises(CredentialMissing, match=f"chmod 600 {path}"):
        store.read("local")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"key": 3}', '{"key": " "}'])
def test_a_damaged_file_is_told_by_its_path(tmp_path: Path, text: str) -> None:
    store = CredentialStore(str(tmp_path))
    store.write("local", KEY)
    path = tmp_path / "credentials" / "local.json"
    path.write_text(text)

    with pytest.raises(CredentialMissing, match=r"local\.json"):
        store.read("local")


@pytest.mark.parametrize("name", ["../evil", ".hidden", "a/b", "", "a b"])
def test_a_name_cannot_lead_elsewhere(tmp_path: Path, name: str) -> None:
    with pytest.raises(CredentialMissing, match="can't name a key"):
        CredentialStore(str(tmp_path)).write(name, KEY)


@pytest.mark.parametrize("key", ["two words", "line\nbreak", "ümlaut", "x" * 20_000])
def test_what_cannot_be_sent_in_a_header_is_no_key(tmp_path: Path, key: str) -> None:
    with pytest.raises(CredentialMissing) as raised:
        CredentialStore(str(tmp_path)).write("local", key)

    assert key not in str(raised.value)


def test_a_variable_is_only_read_where_the_config_names_it(tmp_path: Path) -> None:
    environ = {"RADIAN_HOME": str(tmp_path), "OPENAI_API_KEY": KEY, "MY_KEY": KEY}
    secrets = Secrets(environ)

    assert secrets.key(ProviderConfig("a", "openai", credential_env="MY_KEY")) == KEY
    with pytest.raises(CredentialMissing, match="no key is stored for openai"):
        secrets.key(ProviderConfig("openai", "openai"))
    with pytest.raises(CredentialMissing, match="the variable GONE holds no key"):
        secrets.key(ProviderConfig("a", "openai", credential_env="GONE"))


def test_tools_do_not_get_the_variables_that_hold_a_key(tmp_path: Path) -> None:
    environ = {"RADIAN_HOME": str(tmp_path), "MY_KEY": KEY, "COPY": f"Bearer {KEY}", "PATH": "/bin"}
    secrets = Secrets(environ)
    secrets.key(ProviderConfig("a", "openai", credential_env="MY_KEY"))

    assert secrets.clean(environ) == {"RADIAN_HOME": str(tmp_path), "PATH": "/bin"}


def test_headers_that_hold_a_secret_are_masked_and_others_help(tmp_path: Path) -> None:
    headers = {"X-Api-Key": KEY, "Authorization": "Basic dTpwYXNzd29yZA==", "X-Team": "blue-team-7"}
    secrets = Secrets({"RADIAN_HOME": str(tmp_path)})
    secrets.key(ProviderConfig("a", "openai", credential="none", headers=headers))

    told = secrets.mask(f"refused: {KEY}, Basic dTpwYXNzd29yZA==, blue-team-7")

    assert told == f"refused: {MASK}, Basic {MASK}, blue-team-7"
    assert secrets.clean({"COPY": KEY, "PATH": "/bin"}) == {"PATH": "/bin"}


def pieces(key: str) -> list[str]:
    return [key[at : at + PIECE] for at in range(len(key) - PIECE + 1)]


@pytest.mark.parametrize(
    "text",
    [
        f"key {KEY} is wrong",
        f"key {KEY[:8]} is wrong",
        f"key {KEY[3:20]} is wrong",
        f"{KEY[-8:]}",
        f"{KEY}{KEY}",
        f"Bearer {KEY}, and again {KEY[5:15]}.",
    ],
)
def test_no_piece_of_a_key_gets_through(text: str) -> None:
    secrets = Secrets({})
    secrets.remember(KEY)

    masked = secrets.mask(text)

    assert MASK in masked
    assert not any(piece in masked for piece in pieces(KEY))


def test_text_without_a_secret_is_left_alone() -> None:
    secrets = Secrets({})
    secrets.remember(KEY)
    secrets.remember("short")

    assert secrets.mask("a short text, 0123456") == "a short text, 0123456"


def test_a_key_is_masked_however_it_was_encoded() -> None:
    import base64
    from urllib.parse import quote

    secrets = Secrets({})
    secrets.remember(KEY)

    text = f"{quote(KEY, safe='')} {base64.b64encode(KEY.encode()).decode()}"

    assert secrets.mask(text).replace("=", "") == f"{MASK} {MASK}"


@pytest.mark.parametrize("kind", ["openai-compatible", "openai", "anthropic", "gemini"])
def test_a_provider_that_echoes_the_key_does_not_spread_it(tmp_path: Path, kind: str) -> None:
    secrets = Secrets({"RADIAN_HOME": str(tmp_path)})
    secrets.store.write("local", KEY)
    said = f"Incorrect API key: {KEY}; header was Bearer {KEY}, it ends in {KEY[-10:]}"
    with model_server(status(401, {"error": {"message": said}})) as server:
        settings = config(server, kind=kind, credential="local")
        (failed,) = call(make_provider(settings, secrets))

    assert isinstance(failed, CallFailed)
    assert (failed.status, failed.retry, failed.origin) == (401, False, "credential")
    assert not any(piece in failed.message for piece in pieces(KEY))
    sent = server.requests[0].headers
    assert KEY in {
        sent.get("authorization", "")[7:],
        sent.get("x-api-key"),
        sent.get("x-goog-api-key"),
    }
    assert KEY not in server.requests[0].path


@pytest.mark.parametrize(
    ("settings", "cure"),
    [
        ({"credential": "local"}, "store another key with: radian login local"),
        (
            {"credential": None, "credential_env": "MY_KEY"},
            "the key is that of the variable MY_KEY",
        ),
        ({"credential": "none"}, 'the configuration says that it takes none: credential = "none"'),
    ],
)
def test_a_refused_key_is_told_with_what_to_do_about_it(
    tmp_path: Path, settings: dict[str, Any], cure: str
) -> None:
    secrets = Secrets({"RADIAN_HOME": str(tmp_path), "MY_KEY": KEY})
    secrets.store.write("local", KEY)
    with model_server(status(401, {"error": {"message": "Who are you."}})) as server:
        (failed,) = call(make_provider(config(server, **settings), secrets))

    assert isinstance(failed, CallFailed)
    assert failed.message.endswith(f": it answered 401: Who are you; {cure}")


def test_a_debug_log_of_the_library_beneath_does_not_hold_the_key(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    secrets = Secrets({"RADIAN_HOME": str(tmp_path)})
    secrets.store.write("local", KEY)
    caplog.set_level(logging.DEBUG)
    with model_server(GOOD) as server:
        call(make_provider(config(server, credential="local"), secrets))

    assert "send_request_headers" in caplog.text
    assert not any(piece in caplog.text for piece in pieces(KEY))


def test_without_a_key_nothing_is_sent_and_the_cure_is_named(tmp_path: Path) -> None:
    with model_server(GOOD) as server:
        called = make_provider(
            config(server, credential="local"), Secrets({"RADIAN_HOME": str(tmp_path)})
        )
        (failed,) = called.stream(REQUEST, signal())

    cure = "no key is stored for local; store one with: radian login local"
    assert failed == CallFailed(cure, origin="credential")
    assert server.requests == []
