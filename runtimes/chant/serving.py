"""Serving chant over the Agent Client Protocol: the composition root of ``chant acp``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from actors.logs import tell
from actors.real_platform import RealPlatform
from actors.serve import serve
from runtimes.chant.acp_flags import MAX_GRACE_S, gate_rule, grace_seconds
from runtimes.chant.runtime import ChantRuntime

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.ledger import Ledger
    from ops.project import Project
    from runtimes.chant.run_tasks import RunRequest, SessionTasks

USAGE = 2
AT_A_TERMINAL = (
    "chant acp: a client of the Agent Client Protocol should start this, and talk to it in JSON;"
    " to talk to it yourself: chantry drive -- chant acp; Ctrl-D ends it\n"
)
"""For a person who typed it."""


def serve_acp(flags: dict[str, str]) -> int:
    """Serve until the client leaves and return the exit code; a wrong flag starts nothing."""
    grace_s = None
    if "--grace" in flags:
        grace_s = grace_seconds(flags["--grace"])
        if grace_s is None:
            reason = f"--grace needs seconds, over 0 and up to {MAX_GRACE_S:.0f}"
            return _refuse(reason)
    environ: Mapping[str, str] = os.environ
    if "--steward" in flags:
        from ops.errors import OpsError
        from runtimes.chant.steward_turns import steward_environ

        try:
            environ = steward_environ(flags["--steward"], os.getcwd(), environ)
        except (OpsError, OSError) as error:
            return _refuse(str(error))
    if "--faults" in flags:
        return _serve_broken(flags, environ, grace_s)
    if os.isatty(0):
        tell(AT_A_TERMINAL)
    return serve(ChantRuntime(RealPlatform(), environ, grace_s, gates=gate_rule(flags)))


def _serve_broken(flags: dict[str, str], environ: Mapping[str, str], grace_s: float | None) -> int:
    from runtimes.chant.place import Premises, ledger_of
    from runtimes.chant.project_tasks import ProjectTasks
    from runtimes.fault_flags import FaultsRefused, read_faults

    steward = environ.get("CHANT_STEWARD")
    try:
        sabotage = read_faults(flags["--faults"], steward, allowed="--allow-faults" in flags)
    except FaultsRefused as error:
        return _refuse(str(error))

    def tasks(request: RunRequest) -> SessionTasks:
        return ProjectTasks(request, sabotage.platform, sabotage.faults)

    def ledger(project: Project) -> Ledger:
        return ledger_of(project, sabotage.faults)

    runtime = ChantRuntime(
        sabotage.platform,
        environ,
        grace_s,
        tasks,
        gate_rule(flags),
        premises=Premises(ledger=ledger, wall=sabotage.platform.wall),
    )
    return serve(runtime, sabotage=sabotage)


def _refuse(reason: str) -> int:
    tell(f"chant acp: {reason}\n")
    return USAGE
