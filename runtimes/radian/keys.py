"""``radian login`` and ``logout``: a key is read without echo, or as one line of a piped stdin."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from runtimes.models.config import NO_CREDENTIAL
from runtimes.models.config_table import ConfigInvalid, provider_config
from runtimes.models.credentials import CredentialMissing, CredentialStore, radian_home
from runtimes.radian.config import ConfigError, read_config
from runtimes.radian.exit_codes import FAILED, OK, USAGE
from runtimes.radian.settings import known_providers

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from runtimes.radian.config import Config

MAX_LINE = 64 * 1024


def login(provider: str | None, environ: Mapping[str, str]) -> int:
    """Store a key and return the exit code; a signal leaves the terminal as it was."""
    if not sys.stdin.isatty():
        return _login(provider, environ)
    from runtimes.radian.typed_line import until_signal

    return until_signal(lambda: _login(provider, environ))


def _login(provider: str | None, environ: Mapping[str, str]) -> int:
    try:
        name = key_name(provider, environ)
        CredentialStore(radian_home(environ)).write(name, _read_key(name))
    except (ConfigError, ConfigInvalid, CredentialMissing) as error:
        return _refuse("login", error, USAGE)
    except OSError as error:
        return _refuse("login", f"the key can't be stored: {error.strerror}", FAILED)
    sys.stdout.write(f"The key {name} is stored.\n")
    sys.stderr.write(_unused_note(name, read_config(radian_home(environ))))
    return OK


def logout(provider: str | None, environ: Mapping[str, str]) -> int:
    """Forget a key and return the exit code."""
    try:
        name = key_name(provider, environ)
        there = CredentialStore(radian_home(environ)).remove(name)
    except (ConfigError, ConfigInvalid, CredentialMissing) as error:
        return _refuse("logout", error, USAGE)
    except OSError as error:
        return _refuse("logout", f"the key can't be removed: {error.strerror}", FAILED)
    sys.stdout.write(f"The key {name} is removed.\n" if there else f"No key {name} was stored.\n")
    return OK


def key_name(provider: str | None, environ: Mapping[str, str]) -> str:
    """Return the name of the key that a provider is called with; None: the usual provider.

    Raises:
        ConfigError: There is no usual provider, or the one named takes no key.
        ConfigInvalid: Its table is wrong.

    """
    config = read_config(radian_home(environ))
    wanted = config.default_provider if provider is None else provider
    if not wanted and provider is None:
        message = f"which provider? name it, or set default_provider in {config.path}"
        raise ConfigError(message)
    if wanted not in config.providers:
        return wanted
    name = provider_config(wanted, config.providers[wanted], config.folder).credential_name
    if name == NO_CREDENTIAL:
        message = f"provider {wanted} takes no key, says {config.path}"
        raise ConfigError(message)
    return name


def _unused_note(name: str, config: Config) -> str:
    """Say that no provider takes a key, which may be a slip of the pen; or nothing."""
    from difflib import get_close_matches

    known = known_providers(config)
    names = {*known, *_credential_names(config)}
    if name in names:
        return ""
    near = get_close_matches(name, names, 1)
    which = f"did you mean {near[0]}?" if near else f"known: {', '.join(known)}"
    return f"radian login: no provider takes a key {name} yet; {which}\n"


def _credential_names(config: Config) -> Iterator[str]:
    for each, table in config.providers.items():
        with suppress(ConfigInvalid):  # told when it is used
            yield provider_config(each, table, config.folder).credential_name


def _read_key(name: str) -> str:
    if not sys.stdin.isatty():
        return sys.stdin.readline(MAX_LINE)
    from getpass import getpass

    from runtimes.radian.typed_line import hear_signals

    hear_signals()  # ended at once, the terminal would show nothing that is typed afterwards
    try:
        return getpass(f"Key for {name}: ", sys.stderr)
    except EOFError:
        return ""


def _refuse(command: str, why: object, code: int) -> int:
    sys.stderr.write(f"radian {command}: {why}\n")
    return code
