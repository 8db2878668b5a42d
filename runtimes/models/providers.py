"""The providers that a person has configured: ``config.toml`` below ``RADIAN_HOME``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, cast

from ops.plain_file import plain
from runtimes.models.config import ScriptInvalid
from runtimes.models.config_table import ConfigInvalid, provider_config
from runtimes.models.credentials import radian_home
from runtimes.models.registry import make_provider
from runtimes.models.secrets import Secrets

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runtimes.models.base import Provider

CONFIG = "config.toml"
MAX_CONFIG_BYTES = 1024 * 1024


class ProviderMissing(Exception):  # noqa: N818 - an answer, worded for people
    """There is no such provider, or it can't be used; the message says why and has no secret."""


def config_file(environ: Mapping[str, str]) -> str:
    """Return where a person's providers are declared."""
    return os.path.join(radian_home(environ), CONFIG)


def find_provider(name: str, environ: Mapping[str, str]) -> Provider:
    """Return the provider that ``config.toml`` calls ``name``.

    Raises:
        ProviderMissing: See there.

    """
    path = config_file(environ)
    providers = _table(_config(path).get("providers", {}), f"providers in {path}")
    if name not in providers:
        listed = f"known: {', '.join(sorted(providers))}" if providers else "there are none"
        message = f"{path} has no provider {name!r}; {listed}"
        raise ProviderMissing(message)
    folder = os.path.dirname(path)
    try:
        config = provider_config(name, providers[name], folder)
        return make_provider(config, Secrets(environ))
    except (ConfigInvalid, ScriptInvalid) as error:
        message = f"{error} (in {path})" if isinstance(error, ConfigInvalid) else str(error)
        raise ProviderMissing(message) from error


def _config(path: str) -> dict[str, Any]:
    import tomllib

    try:
        with open(path, "rb", opener=plain) as stream:
            text = stream.read(MAX_CONFIG_BYTES).decode("utf-8-sig")
        return tomllib.loads(text)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        from runtimes.models.system_words import system_words

        message = f"{path} can't be read: {system_words(error)}"
        raise ProviderMissing(message) from error


def _table(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        message = f"{what} must be a table"
        raise ProviderMissing(message)
    return cast("dict[str, Any]", value)
