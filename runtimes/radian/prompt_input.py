"""The prompt of ``radian exec``: from a flag, or all of stdin, which is not touched otherwise."""

from __future__ import annotations

from runtimes.radian.flags import FlagsMisused

MAX_BYTES = 64 * 1024 * 1024
STDIN = 0


def read_prompt(given: str | None) -> str:
    """Return what is asked; "-" and None mean stdin.  May wait for whoever writes there.

    Raises:
        FlagsMisused: It is empty, too long, or no text.

    """
    text = _all_of(STDIN) if given in {None, "-"} else given or ""
    if not text.strip():
        message = "the prompt is empty"
        raise FlagsMisused(message)
    # What can't be written down can't be sent either.
    return text.encode("utf-8", "replace").decode()


def _all_of(descriptor: int) -> str:
    try:
        with open(descriptor, "rb", closefd=False) as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        message = f"stdin can't be read: {error.strerror}"
        raise FlagsMisused(message) from error
    if len(data) > MAX_BYTES:
        message = f"the prompt is longer than {MAX_BYTES} bytes"
        raise FlagsMisused(message)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"the prompt is no UTF-8: byte {error.start}"
        raise FlagsMisused(message) from error
