"""A verb other than a run, inside a session: its JSON document streams, its exit code is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ops.errors import OpsError
from runtimes.chant.error_text import system_reason
from runtimes.chant.json_text import json_page
from runtimes.chant.verbs.verb import Surroundings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from actors.work import WorkContext
    from runtimes.chant.place import Premises
    from runtimes.chant.verbs.verb import Invocation


def answering(
    invocation: Invocation,
    cwd: str,
    environ: Mapping[str, str],
    premises: Premises | None = None,
) -> Callable[[WorkContext], int | str]:
    """Return the work of one turn: the verb's exit code, or the reason why it was refused."""

    def run(context: WorkContext) -> int | str:
        around = Surroundings(cwd, environ, context.cancel, premises, confined=True)
        try:
            outcome = invocation.verb.handler(invocation, around)
        except OpsError as error:
            return error.message
        except OSError as error:
            return system_reason(error)
        context.emit("stdout", json_page(outcome.document))
        return outcome.code

    return run
