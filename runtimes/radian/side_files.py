"""Files beside a journal: pictures by their digest, and outputs too long for a record.

They are written whole and forced to the disk before the record that names them.
"""

from __future__ import annotations

import os
from dataclasses import field
from typing import TYPE_CHECKING

from actors.faults import WITH_ERROR, NoFaults, point
from ops.plain_file import plain
from protocol.values import frozen
from runtimes.radian.records import ImageFile
from runtimes.radian.session_errors import JournalError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from actors.faults import Faults

BEFORE_SIDE_FILE = point(
    "journal.side", "a picture or a long output is about to be written beside a journal", WITH_ERROR
)
BEFORE_LINK = point("journal.link", "a side file is about to be linked into a fork", WITH_ERROR)
ENDINGS = {"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp"}


@frozen
class SideFiles:
    """The folder of one session's side files; made when the first one is written."""

    folder: str
    faults: Faults = field(default_factory=NoFaults)

    def path(self, name: str) -> str:
        """Return where the file called ``name`` lies, or would."""
        return os.path.join(self.folder, os.path.basename(name))

    def keep_image(self, data: bytes, mime_type: str) -> ImageFile:
        """Write a picture, once however often it is sent.

        Raises:
            JournalError: The disk refused it.

        """
        import hashlib

        image = ImageFile(hashlib.sha256(data).hexdigest(), mime_type)
        self.keep(image_name(image), data)
        return image

    def keep(self, name: str, data: bytes) -> None:
        """Write a file unless it is there already, with the same length.

        Raises:
            JournalError: The disk refused it.

        """
        path = self.path(name)
        try:
            if os.stat(path).st_size == len(data):
                return
        except OSError:
            pass  # it is not there: the usual case
        try:
            self._write(path, data)
        except OSError as error:
            message = f"{path} can't be written: {error.strerror or error}"
            raise JournalError(message) from error

    def load(self, name: str) -> bytes | None:
        """Return what a file holds; None: it is gone."""
        try:
            with open(self.path(name), "rb", opener=plain) as stream:
                return stream.read()
        except OSError:
            return None

    def load_image(self, image: ImageFile) -> str | None:
        """Return a picture as base64; None: it is gone, or not what it was."""
        import base64
        import hashlib

        data = self.load(image_name(image))
        if data is None or hashlib.sha256(data).hexdigest() != image.digest:
            return None
        return base64.b64encode(data).decode()

    def link(self, names: Iterable[str], source: SideFiles) -> None:
        """Have the files ``names`` of ``source`` here too; those that are gone stay gone.

        Raises:
            JournalError: The disk refused it.

        """
        for name in names:
            try:
                self._link(name, source)
            except FileNotFoundError:
                continue
            except OSError as error:
                message = f"{self.path(name)} can't be linked: {error.strerror or error}"
                raise JournalError(message) from error

    def _link(self, name: str, source: SideFiles) -> None:
        self.faults.at(BEFORE_LINK, name)
        os.stat(source.path(name))
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        try:
            os.link(source.path(name), self.path(name))
        except FileExistsError:
            return
        except OSError:
            # Some file systems have no links.
            import shutil

            shutil.copyfile(source.path(name), self.path(name))

    def _write(self, path: str, data: bytes) -> None:
        import contextlib

        self.faults.at(BEFORE_SIDE_FILE, os.path.basename(path))
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        temporary = f"{path}.{os.getpid()}-{os.urandom(4).hex()}.part"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        try:
            with os.fdopen(os.open(temporary, flags, 0o600), "wb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)
            raise


def image_name(image: ImageFile) -> str:
    """Return what a picture's file is called."""
    return os.path.basename(image.digest) + ENDINGS.get(image.mime_type, ".bin")
