"""Makes the provider that a config describes.  Nothing is reached or read until it is called."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runtimes.models.base import Provider
    from runtimes.models.config import ProviderConfig
    from runtimes.models.dialect import Dialect
    from runtimes.models.secrets import Secrets
    from runtimes.models.wire_provider import WireProvider


def make_provider(config: ProviderConfig, secrets: Secrets) -> Provider:
    """Return the provider; it is safe to use from several threads, and keeps its connections.

    Raises:
        runtimes.models.config.ScriptInvalid: The file of a scripted one is wrong.

    """
    if config.kind == "scripted":
        from runtimes.models.scripted import read_script

        return read_script(config.script)
    from runtimes.models.late import LateProvider

    environ = dict(os.environ)
    return LateProvider(lambda: _wire_provider(config, secrets, environ))


def _wire_provider(
    config: ProviderConfig, secrets: Secrets, environ: Mapping[str, str]
) -> WireProvider:
    from runtimes.models.http_stream import HttpClient
    from runtimes.models.wire_provider import WireProvider

    return WireProvider(config, dialect_of(config), secrets, HttpClient(environ))


def warm_up(provider: Provider) -> None:
    """Do what the provider's first call would wait for; on a thread that may take its time."""
    from runtimes.models.late import LateProvider

    if not isinstance(provider, LateProvider):
        return
    try:
        provider.warm_up()
    except Exception:  # noqa: BLE001 - the call will meet it too, and say it where it is heard
        return


def dialect_of(config: ProviderConfig) -> Dialect:
    """Return the wire format that a kind of provider speaks."""
    match config.kind:
        case "openai":
            from runtimes.models.responses import Responses

            return Responses()
        case "anthropic":
            from runtimes.models.anthropic import Anthropic

            return Anthropic()
        case "gemini":
            from runtimes.models.gemini import Gemini

            return Gemini()
        case _:
            from runtimes.models.chat_completions import ChatCompletions

            return ChatCompletions()
