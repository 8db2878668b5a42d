"""Serving radian over the Agent Client Protocol: the composition root of ``radian acp``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from actors.real_platform import RealPlatform
from actors.serve import serve
from runtimes.radian.flags import CONVERSATION, FlagsMisused, read_flags
from runtimes.radian.runtime import RadianRuntime

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from runtimes.radian.options import ConversationOptions

USAGE = 2
AT_A_TERMINAL = (
    b"radian acp: a client of the Agent Client Protocol should start this, and talk to it in JSON;"
    b" to talk to it yourself: radian exec, or chantry drive -- radian acp; Ctrl-D ends it\n"
)
"""For a person who typed it."""


def serve_acp(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Serve until the client leaves and return the exit code; a wrong flag starts nothing."""
    try:
        given = read_flags(argv, CONVERSATION)
        options = _options(given) if given else None
        if options is not None and (options.log_level or options.log_file):
            from runtimes.radian.log_file import start_log

            start_log(options)
    except FlagsMisused as error:
        os.write(2, f"radian acp: {error}\n".encode(errors="replace"))
        return USAGE
    if os.isatty(0):
        os.write(2, AT_A_TERMINAL)
    runtime = RadianRuntime(RealPlatform(), environ, lambda: options or _options({}))
    try:
        return serve(runtime)
    finally:
        runtime.close()


def _options(given: Mapping[str, object]) -> ConversationOptions:
    from runtimes.radian.options import conversation_options

    return conversation_options(given)
