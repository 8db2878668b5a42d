"""Stored keys: one file a provider, 0600, in a folder that only its owner can enter."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from ops.plain_file import plain
from runtimes.models.json_text import encode, read_object

if TYPE_CHECKING:
    from collections.abc import Mapping

HOME = "RADIAN_HOME"
FOLDER = "credentials"
_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}"
MAX_KEY_CHARS = 16 * 1024
OTHERS = 0o077


class CredentialMissing(Exception):  # noqa: N818 - an answer, worded for people
    """There is no key, or it can't be used; the message says what to do and has no secret."""


def radian_home(environ: Mapping[str, str]) -> str:
    """Return the folder that holds a person's settings and keys."""
    return os.path.abspath(environ.get(HOME) or os.path.join(user_home(environ), ".radian"))


def user_home(environ: Mapping[str, str]) -> str:
    """Return a person's home, absolute: never the folder that a program was started in.

    There a project would pass for the person, with its own providers, hooks and trust.
    """
    named = environ.get("HOME", "")
    if os.path.isabs(named):
        return named
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:  # a container's user that nobody has listed
        return "/"


class CredentialStore:
    """The keys below one home."""

    def __init__(self, home: str) -> None:
        """Touch nothing yet."""
        self._folder = os.path.join(home, FOLDER)

    def read(self, name: str) -> str:
        """Return the key called ``name``.

        Raises:
            CredentialMissing: See there.

        """
        path = self._path(name)
        try:
            with open(path, "rb", opener=plain) as stream:
                mode = os.fstat(stream.fileno()).st_mode
                data = stream.read(2 * MAX_KEY_CHARS)
        except FileNotFoundError:
            message = f"no key is stored for {name}; store one with: radian login {name}"
            raise CredentialMissing(message) from None
        except OSError as error:
            message = f"the key in {path} can't be read: {error.strerror}"
            raise CredentialMissing(message) from error
        if mode & OTHERS:
            message = f"others can read the key in {path}; first run: chmod 600 {path}"
            raise CredentialMissing(message)
        key = (read_object(data) or {}).get("key")
        return checked_key(key if isinstance(key, str) else "", path)

    def write(self, name: str, key: str) -> None:
        """Store ``key``, in the place of an older one.

        Raises:
            CredentialMissing: It is no key.
            OSError: It can't be stored.

        """
        path = self._path(name)
        data = encode({"key": checked_key(key, "what was given")})
        os.makedirs(os.path.dirname(self._folder), mode=0o700, exist_ok=True)
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        os.chmod(self._folder, 0o700)  # it may be older than this rule
        fresh = f"{path}.{os.getpid()}.new"
        try:
            descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with open(descriptor, "wb") as stream:
                os.fchmod(stream.fileno(), 0o600)
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(fresh, path)
        finally:
            if os.path.lexists(fresh):
                os.unlink(fresh)

    def remove(self, name: str) -> bool:
        """Forget the key called ``name``; False: there was none."""
        try:
            os.unlink(self._path(name))
        except FileNotFoundError:
            return False
        return True

    def _path(self, name: str) -> str:
        if not is_name(name):
            message = f"{name!r} can't name a key: letters, digits and . _ - only"
            raise CredentialMissing(message)
        return os.path.join(self._folder, f"{name}.json")


def is_name(text: str) -> bool:
    """Tell whether a provider or a key may be called so."""
    return re.fullmatch(_NAME, text) is not None


def checked_key(key: str, where: str) -> str:
    """Return ``key`` without blanks around it.

    Raises:
        CredentialMissing: It can't be sent in a header.

    """
    key = key.strip()
    if not key:
        message = f"there is no key in {where}"
        raise CredentialMissing(message)
    if len(key) > MAX_KEY_CHARS or not (key.isascii() and key.isprintable()) or " " in key:
        message = f"the key in {where} is none: it must be one word of ASCII characters"
        raise CredentialMissing(message)
    return key
