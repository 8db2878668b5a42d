"""Failures in the system's words."""

from __future__ import annotations

import errno
import os
import socket
import ssl

import pytest

from runtimes.models.system_words import system_words


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.EACCES, os.strerror(errno.EACCES), "/x"), "Permission denied"),
        (socket.gaierror(-2, "Name or service not known"), "Name or service not known"),
        (ValueError("[Errno -2] Name or service not known"), "Name or service not known"),
        (ssl.SSLError(1, "[SSL: BAD_LENGTH] bad length (_ssl.c:10)"), "bad length"),
        (OSError("plain"), "plain"),
        (TimeoutError(), "TimeoutError"),
        (ValueError("[one] of two"), "[one] of two"),
    ],
)
def test_numbers_and_places_in_libraries_are_left_out(error: Exception, words: str) -> None:
    assert system_words(error) == words
