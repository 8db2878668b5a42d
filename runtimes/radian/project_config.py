"""A project's ``.radian/config.toml``, of which only some keys count.  For trusted projects only.

What would redirect the agent (providers, addresses, keys, the profile) is no project's to say.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Any

from protocol.values import frozen
from runtimes.radian.config import FILE, MAX_BYTES, ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = ".radian"
KEYS = ("mcp_servers", "hooks", "profiles")
"""What a project may set; whoever reads one of them checks it."""


@frozen
class ProjectConfig:
    """What the file says, as it was parsed; nothing where there is no file."""

    path: str
    tables: Mapping[str, Any]
    warnings: tuple[str, ...] = ()

    @property
    def folder(self) -> str:
        """Programs that are named with a slash are relative to it."""
        return os.path.dirname(self.path)


def read_project_config(workspace: str) -> ProjectConfig:
    """Read the file of the trusted project in ``workspace``, without what is not its to set.

    Raises:
        ConfigError: It can't be read.

    """
    path = os.path.join(workspace, FOLDER, FILE)
    data = _bytes_of(path)
    if data is None:
        return ProjectConfig(path, {})
    import tomllib

    try:
        table = tomllib.loads(data.decode())
    except (ValueError, RecursionError) as error:
        message = f"{path} can't be read: {error}"
        raise ConfigError(message) from error
    return ProjectConfig(
        path,
        {key: table[key] for key in KEYS if key in table},
        tuple(
            f"{path}: {key!r} is passed over; a project may set {', '.join(KEYS)} only"
            for key in table
            if key not in KEYS
        ),
    )


def _bytes_of(path: str) -> bytes | None:
    """Read a plain file; None where there is nothing."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        message = f"{path} can't be read: {error.strerror}"
        raise ConfigError(message) from error
    with open(fd, "rb") as stream:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            message = f"{path} is no plain file"
            raise ConfigError(message)
        data = stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        message = f"{path} is larger than {MAX_BYTES} bytes"
        raise ConfigError(message)
    return data
