"""Pictures of a prompt: known by their content, not by their names."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from actors.faults import NoFaults
from runtimes.radian.tools.base import ToolFailedError
from runtimes.radian.tools.disk import open_regular

if TYPE_CHECKING:
    from runtimes.radian.records import ImageFile
    from runtimes.radian.side_files import SideFiles

MAX_IMAGE_BYTES = 20 * 1024 * 1024


class ImageUnusable(Exception):  # noqa: N818 - an answer to the person who named the file
    """A file is no picture that can be sent; the message names it."""


def read_image(path: str) -> tuple[bytes, str]:
    """Return a picture's bytes and MIME type.

    Raises:
        ImageUnusable: See there.

    """
    try:
        with os.fdopen(open_regular(os.path.realpath(path), NoFaults()), "rb") as stream:
            data = stream.read(MAX_IMAGE_BYTES + 1)
    except (OSError, ValueError, ToolFailedError) as error:
        reason = getattr(error, "strerror", None) or error
        message = f"picture {path} can't be read: {reason}"
        raise ImageUnusable(message) from error
    if len(data) > MAX_IMAGE_BYTES:
        message = f"picture {path} has more than {MAX_IMAGE_BYTES} bytes"
        raise ImageUnusable(message)
    mime_type = mime_type_of(data)
    if mime_type is None:
        message = f"{path} is no picture: png, jpeg, gif or webp, by its content"
        raise ImageUnusable(message)
    return data, mime_type


def mime_type_of(data: bytes) -> str | None:
    """Return what kind of picture the bytes are, None for anything else."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return None


def keep_images(
    pictures: tuple[tuple[bytes, str], ...], side_files: SideFiles
) -> tuple[ImageFile, ...]:
    """Put pictures beside the journal; must be done before the turn that shows them.

    Raises:
        JournalError: The disk refused it.

    """
    return tuple(side_files.keep_image(data, mime_type) for data, mime_type in pictures)
