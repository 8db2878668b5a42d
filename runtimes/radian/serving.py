"""Serving radian over the Agent Client Protocol: the composition root of ``radian acp``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from actors.logs import tell
from actors.real_platform import RealPlatform
from actors.serve import serve
from runtimes.radian.acp_flags import FLAGS
from runtimes.radian.flags import FlagsMisused, read_flags
from runtimes.radian.runtime import RadianRuntime

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from actors.sabotage import Sabotage
    from runtimes.radian.options import ConversationOptions

USAGE = 2
AT_A_TERMINAL = (
    "radian acp: a client of the Agent Client Protocol should start this, and talk to it in JSON;"
    " to talk to it yourself: radian exec, or chantry drive -- radian acp; Ctrl-D ends it\n"
)
"""For a person who typed it."""


def serve_acp(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Serve until the client leaves and return the exit code; a wrong flag starts nothing."""
    try:
        given = read_flags(argv, FLAGS)
        options = _options(given) if given else None
        if options is not None and (options.log_level or options.log_file):
            from runtimes.radian.log_file import start_log

            start_log(options)
    except FlagsMisused as error:
        return _refuse(error)

    def checked() -> ConversationOptions:
        return options or _options({})

    if "faults" in given:
        return _serve_broken(given, environ, checked)
    if os.isatty(0):
        tell(AT_A_TERMINAL)
    return _serve(RadianRuntime(RealPlatform(), environ, checked))


def _serve_broken(
    given: Mapping[str, Any], environ: Mapping[str, str], options: Callable[[], ConversationOptions]
) -> int:
    from runtimes.fault_flags import FaultsRefused, read_faults
    from runtimes.radian.ground import real_ground

    steward = environ.get("CHANT_STEWARD")
    try:
        sabotage = read_faults(given["faults"], steward, allowed="allow_faults" in given)
    except FaultsRefused as error:
        return _refuse(error)
    ground = real_ground(sabotage.platform, sabotage.faults)
    return _serve(RadianRuntime(sabotage.platform, environ, options, ground), sabotage)


def _serve(runtime: RadianRuntime, sabotage: Sabotage | None = None) -> int:
    try:
        # Many a turn calls the model and no tool.
        return serve(runtime, sabotage=sabotage, get_ready=runtime.get_ready, steps_follow=False)
    finally:
        runtime.close()


def _refuse(why: object) -> int:
    tell(f"radian acp: {why}\n")
    return USAGE


def _options(given: Mapping[str, object]) -> ConversationOptions:
    from runtimes.radian.options import conversation_options

    return conversation_options(given)
