"""What the system or the TLS library says of a failure, in its words only.  Pure."""

from __future__ import annotations

import re

MARKS = re.compile(r"^\[(?:Errno -?\d+|[A-Z0-9]+: \w+)\] | \(_ssl\.c:\d+\)$")
"""A number or name that comes first, and a place in OpenSSL's binding that comes last."""


def system_words(error: BaseException) -> str:
    """Return the words without ``[Errno 111]`` and the like, and without the name of a file.

    ``error`` may also be another library's, whose text is what the system said.
    """
    said = error.strerror if isinstance(error, OSError) else None
    return MARKS.sub("", said or str(error)) or type(error).__name__
