"""Where servers are configured, and which entry counts."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from protocol.acp.sessions import StdioServer
from runtimes.radian.mcp import specs
from runtimes.radian.mcp.specs import (
    ServersInvalid,
    ServerSpec,
    merged,
    of_client,
    of_config,
    of_flags,
)

if TYPE_CHECKING:
    from pathlib import Path

    from runtimes.radian.mcp.specs import Servers


def flag(**servers: Any) -> str:
    return json.dumps({"mcpServers": servers})


def commands(servers: Servers) -> dict[str, str]:
    return {each.id: each.command for each in servers.specs}


def test_the_client_beats_the_flags_and_those_beat_the_configuration() -> None:
    client = of_client([StdioServer("a", "client", ("-x",), (("K", "V"),))])
    flags = of_flags([flag(a={"command": "flag"}, b={"command": "flag"})], "/")
    config = of_config(
        {each: {"command": "config"} for each in "abc"}, "/home/.radian/config.toml", "config.toml"
    )

    result = merged(client, flags, config)

    assert commands(result) == {"a": "client", "b": "flag", "c": "config"}
    assert result.specs[0] == ServerSpec("a", "client", ("-x",), (("K", "V"),))
    assert len(result.warnings) == 2
    assert "'a' is configured more than once; the entry of session/new" in result.warnings[0]


def test_a_later_flag_wins_over_an_earlier_one_with_one_warning() -> None:
    flags = of_flags([flag(a={"command": "1"}), flag(a={"command": "2"}, b={"command": "1"})], "/")

    result = merged(flags)

    assert commands(result) == {"a": "2", "b": "1"}
    assert len(result.warnings) == 1


def test_a_flag_may_name_a_file_and_commands_in_it_are_relative_to_it(tmp_path: Path) -> None:
    path = tmp_path / "sub" / "mcp.json"
    path.parent.mkdir()
    path.write_text(
        flag(a={"command": "./a", "args": ["1"], "alwaysAllow": []}, b={"command": "b"})
    )

    result = of_flags(["sub/mcp.json"], str(tmp_path))

    assert commands(result) == {"a": str(tmp_path / "sub" / "a"), "b": "b"}


def test_servers_that_are_not_started_here_are_told_of_and_disabled_ones_are_not() -> None:
    result = of_flags(
        [
            flag(
                web={"url": "https://x/"},
                events={"type": "sse", "url": "https://x/"},
                off={"command": "a", "disabled": True},
                on={"type": "stdio", "command": "a", "timeout": "2s"},
            )
        ],
        "/",
    )

    assert [(each.id, each.timeout_s) for each in result.specs] == [("on", 2.0)]
    assert ["'http'" in result.warnings[0], "'sse'" in result.warnings[1]] == [True, True]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "not JSON"),
        ("{}", '"mcpServers"'),
        ("no/such/file.json", "can't be read: No such file"),
        (flag(a={}), "command must name a program"),
        (flag(a={"command": "a", "args": "b"}), "args must be a list of texts"),
        (flag(a={"command": "a", "args": [1]}), "args must be a list of texts"),
        (flag(a={"command": "a", "env": {"A": 1}}), "env must hold texts only"),
        (flag(a=5), "must be a table"),
        (flag(a={"command": "a", "timeout": 5}), "must be a time"),
        (flag(a={"command": "a", "timeout": "soon"}), "timeout"),
    ],
)
def test_a_flag_that_can_not_be_read_says_why(text: str, why: str) -> None:
    with pytest.raises(ServersInvalid, match="mcp-config") as caught:
        of_flags([text], "/")

    assert why in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_configuration_names_a_key_that_is_unknown() -> None:
    with pytest.raises(ServersInvalid, match=r"/c\.toml: mcp_servers: a .*did you mean 'command'"):
        of_config({"a": {"comand": "x"}}, "/c.toml", "config.toml")


def test_a_pipe_that_somebody_fills_is_read_and_one_that_nobody_fills_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(specs, "PIPE_SILENCE_MS", 1)
    filled, writing = os.pipe()
    os.write(writing, flag(a={"command": "/bin/a"}).encode())
    os.close(writing)
    os.mkfifo(tmp_path / "pipe")

    found = of_flags([f"/dev/fd/{filled}"], "/")
    os.close(filled)

    assert commands(found) == {"a": "/bin/a"}
    with pytest.raises(ServersInvalid, match="pipe can't be read: nothing came"):
        of_flags([str(tmp_path / "pipe")], "/")


def test_a_file_that_is_too_large_is_said_to_be_so(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(b" " * (specs.MAX_CONFIG_BYTES + 1))

    with pytest.raises(ServersInvalid, match="it is larger than 1048576 bytes"):
        of_flags(["large"], str(tmp_path))
