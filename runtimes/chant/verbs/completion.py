"""``chant completion SHELL``: a script that completes command lines in a shell."""

from __future__ import annotations

from runtimes.chant.verbs.verb import OK, USAGE, Invocation, Outcome, Param, Surroundings, Verb

SHELLS = ("bash", "zsh", "fish")


def answer(invocation: Invocation, around: Surroundings) -> Outcome:
    """Make the script from the verb table."""
    del around
    from ops.errors import ParamInvalid, unknown
    from runtimes.chant.completion.bash import bash
    from runtimes.chant.completion.fish import fish
    from runtimes.chant.completion.zsh import zsh
    from runtimes.chant.verbs.table import VERBS

    shell = invocation.param("SHELL")
    if shell not in SHELLS:
        raise ParamInvalid(unknown("shell", shell, SHELLS))
    script = {"bash": bash, "zsh": zsh, "fish": fish}[shell](VERBS)
    return Outcome(OK, {"shell": shell, "script": script}, script.rstrip("\n"))


COMPLETION = Verb(
    path=("completion",),
    summary="Print a script that completes command lines in bash, zsh or fish",
    handler=answer,
    document='{"shell", "script"}',
    params=(Param("SHELL", "bash, zsh or fish; the script says how to load it", choices=SHELLS),),
    exit_codes=(OK, USAGE),
)
