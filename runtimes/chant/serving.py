"""Serving chant over the Agent Client Protocol: the composition root of ``chant acp``."""

from __future__ import annotations

import os

from actors.real_platform import RealPlatform
from actors.serve import serve
from runtimes.chant.acp_flags import MAX_GRACE_S, grace_seconds
from runtimes.chant.runtime import ChantRuntime

USAGE = 2


def serve_acp(flags: dict[str, str]) -> int:
    """Serve until the client leaves and return the exit code; a wrong flag starts nothing."""
    grace_s = None
    if "--grace" in flags:
        grace_s = grace_seconds(flags["--grace"])
        if grace_s is None:
            reason = f"--grace needs seconds, over 0 and up to {MAX_GRACE_S:.0f}"
            os.write(2, f"chant acp: {reason}\n".encode())
            return USAGE
    return serve(ChantRuntime(RealPlatform(), os.environ, grace_s))
