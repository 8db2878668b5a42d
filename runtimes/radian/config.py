"""A person's ``config.toml``: providers, profiles, hooks, which provider is the usual one.

Every key is checked; a wrong one is named, with the nearest that is known.
"""

from __future__ import annotations

import os
from dataclasses import field
from typing import TYPE_CHECKING, Any, cast

from ops.plain_file import plain
from protocol.values import frozen
from runtimes.models import json_text
from runtimes.radian.profiles import PROFILE_NAMES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from runtimes.radian.hook_config import Hook
    from runtimes.radian.profiles import ProfileName

FILE = "config.toml"
MAX_BYTES = 1024 * 1024
KEYS = ("default_provider", "providers", "mcp_servers", "profiles", "hooks")
PROFILE_KEYS = ("extends", "allow", "deny")


class ConfigError(Exception):
    """The configuration can't be used; the message names the file and what is wrong."""


@frozen
class ProfileConfig:
    """One ``[profiles.NAME]``: one of the three profiles, and rules on top."""

    extends: ProfileName
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()


@frozen
class Config:
    """What the file says.  Providers are read when one of them is wanted."""

    path: str
    default_provider: str = ""
    providers: Mapping[str, Any] = field(default_factory=dict[str, Any])
    profiles: Mapping[str, ProfileConfig] = field(default_factory=dict[str, ProfileConfig])
    hooks: tuple[Hook, ...] = ()
    mcp_servers: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Read when a session is opened."""

    @property
    def folder(self) -> str:
        """Paths in the file are relative to it."""
        return os.path.dirname(self.path)

    @property
    def key_variables(self) -> frozenset[str]:
        """The variables that some provider takes its key from."""
        names = (json_text.table(each).get("credential_env") for each in self.providers.values())
        return frozenset(name for name in names if isinstance(name, str) and name)


def read_config(home: str) -> Config:
    """Read ``config.toml`` below ``home``; without one nothing is configured.

    Raises:
        ConfigError: See there.

    """
    import tomllib

    path = os.path.join(home, FILE)
    try:
        with open(path, "rb", opener=plain) as stream:
            data = stream.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            message = f"{path} is larger than {MAX_BYTES} bytes"
            raise ConfigError(message)
        table = tomllib.loads(data.decode("utf-8-sig"))
    except FileNotFoundError:
        return Config(path)
    except (OSError, ValueError, RecursionError) as error:
        from runtimes.models.system_words import system_words

        message = f"{path} can't be read: {system_words(error)}"
        raise ConfigError(message) from error
    return config_of(table, path)


def config_of(table: Mapping[str, Any], path: str) -> Config:
    """Check what the file at ``path`` holds.

    Raises:
        ConfigError: See there.

    """
    check_known(table, KEYS, path)
    usual = table.get("default_provider", "")
    if not isinstance(usual, str):
        message = f"{path}: default_provider must be text, not {usual!r}"
        raise ConfigError(message)
    profiles = _table(table.get("profiles", {}), f"{path}: profiles")
    return Config(
        path,
        usual,
        _table(table.get("providers", {}), f"{path}: providers"),
        {name: profile_of(value, f"{path}: profile {name}") for name, value in profiles.items()},
        _hooks(table, path),
        _table(table.get("mcp_servers", {}), f"{path}: mcp_servers"),
    )


def _hooks(table: Mapping[str, Any], path: str) -> tuple[Hook, ...]:
    if "hooks" not in table:
        return ()
    from runtimes.radian.hook_config import hooks_of

    return hooks_of(table["hooks"], f"{path}: hooks", os.path.dirname(path))


def profile_of(
    value: Any,
    where: str,
    bases: tuple[ProfileName, ...] = PROFILE_NAMES,
    usual: ProfileName | None = None,
) -> ProfileConfig:
    """Check one ``[profiles.NAME]``.  ``bases``: what it may extend; ``usual``: if it says nothing.

    Raises:
        ConfigError: See there.

    """
    table = _table(value, where)
    check_known(table, PROFILE_KEYS, where)
    extends = table.get("extends", usual)
    if extends not in bases:
        message = f"{where}: extends must be one of {', '.join(bases)}, not {extends!r}"
        raise ConfigError(message)
    return ProfileConfig(extends, _texts(table, "allow", where), _texts(table, "deny", where))


def _texts(table: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
    value = table.get(key, [])
    texts = cast("Sequence[Any]", value) if isinstance(value, list) else (None,)
    if not all(isinstance(each, str) for each in texts):
        message = f"{where}: {key} must be a list of rules"
        raise ConfigError(message)
    return tuple(texts)


def _table(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        message = f"{where} must be a table"
        raise ConfigError(message)
    return cast("dict[str, Any]", value)


def check_known(table: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    """Refuse a key that is not known, and name the nearest that is.

    Raises:
        ConfigError: There is one.

    """
    for key in table:
        if key not in known:
            from difflib import get_close_matches

            near = get_close_matches(key, known, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"
            message = f"{where} has an unknown key {key!r}; {hint}"
            raise ConfigError(message)
