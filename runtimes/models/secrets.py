"""The secrets that this process knows, and how they are kept out of what it says."""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING

from runtimes.models.config import NO_CREDENTIAL
from runtimes.models.credentials import CredentialMissing, CredentialStore, checked_key, radian_home

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runtimes.models.config import ProviderConfig

PIECE = 8
"""Shorter pieces of a secret don't help anybody, and are found in innocent text."""
MASK = "[secret]"
SECRET_HEADER = r"(?i)auth|key|token|secret|cookie|passw|credential"  # noqa: S105 - what names it


class Secrets:
    """Finds keys, and remembers each that it has handed out.  Safe to use from several threads."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        """Know nothing yet; ``environ`` says where the home is and may hold keys."""
        self._environ = environ
        self.store = CredentialStore(radian_home(environ))
        self._lock = threading.Lock()
        self._known: set[str] = set()
        self._pieces: frozenset[str] = frozenset()
        self._variables: frozenset[str] = frozenset()

    def key(self, config: ProviderConfig) -> str | None:
        """Return a provider's key, None if it needs none.

        Raises:
            CredentialMissing: See there.

        """
        for secret in _secrets_in(config.headers):
            self.remember(secret)
        if config.credential_env:
            self.hide_variable(config.credential_env)
            found = self._environ.get(config.credential_env, "")
            if found:
                return self._remembered(checked_key(found, f"the variable {config.credential_env}"))
            if not config.credential:
                message = f"{config.id}: the variable {config.credential_env} holds no key"
                raise CredentialMissing(message)
        if config.credential_name == NO_CREDENTIAL:
            return None
        return self._remembered(self.store.read(config.credential_name))

    def cure(self, config: ProviderConfig) -> str:
        """Return what may help where a provider refuses the key that it got, or wants one."""
        if config.credential_env and self._environ.get(config.credential_env):
            return f"the key is that of the variable {config.credential_env}"
        if config.credential_name == NO_CREDENTIAL:
            return 'the configuration says that it takes none: credential = "none"'
        return f"store another key with: radian login {config.credential_name}"

    def remember(self, secret: str) -> None:
        """Mask ``secret`` from now on, if it is long enough to be one."""
        from base64 import b64encode
        from urllib.parse import quote

        encoded = b64encode(secret.encode()).decode().rstrip("=")
        with self._lock:
            if secret in self._known or len(secret) < PIECE:
                return
            self._known.add(secret)
            forms = {secret, quote(secret, safe=""), encoded}
            pieces = (
                form[at : at + PIECE] for form in forms for at in range(len(form) - PIECE + 1)
            )
            self._pieces |= frozenset(pieces)

    def hide_variable(self, name: str) -> None:
        """Keep a variable out of what tools get to see."""
        with self._lock:
            self._variables |= {name}

    def mask(self, text: str) -> str:
        """Return ``text`` without any piece of eight or more characters of a known secret."""
        covered: list[tuple[int, int]] = []
        for piece in self._pieces:
            at = text.find(piece)
            while at >= 0:
                covered.append((at, at + PIECE))
                at = text.find(piece, at + 1)
        return _cut(text, sorted(covered)) if covered else text

    def clean(self, environ: Mapping[str, str]) -> dict[str, str]:
        """Return an environment for tools: without the variables that hold a known secret."""
        known, hidden = tuple(self._known), self._variables
        return {
            name: value
            for name, value in environ.items()
            if name not in hidden and not any(secret in value for secret in known)
        }

    def _remembered(self, key: str) -> str:
        if key not in self._known:
            self.remember(key)
        return key


def _secrets_in(headers: Mapping[str, str]) -> list[str]:
    """Return what must not be told of a provider's headers; others are shown, and help."""
    named = (value for name, value in headers.items() if re.search(SECRET_HEADER, name))
    return [word for value in named for word in value.split()]


def _cut(text: str, covered: list[tuple[int, int]]) -> str:
    """Put one mask in the place of each run of covered characters."""
    shown: list[str] = []
    end = 0
    for start, stop in covered:
        if start > end or not shown:
            shown += [text[end:start], MASK]
        end = max(end, stop)
    return "".join([*shown, text[end:]])
