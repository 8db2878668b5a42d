"""``chant acp`` and ``chant acp serve``: serve the Agent Client Protocol on stdin and stdout."""

from __future__ import annotations

from runtimes.chant.acp_flags import FLAGS, ON, WORDS, is_switch
from runtimes.chant.verbs.verb import (
    FAILED,
    OK,
    USAGE,
    Flag,
    Invocation,
    NotInPrompts,
    Outcome,
    Surroundings,
    Verb,
)


def answer(invocation: Invocation, around: Surroundings) -> Outcome:
    """Serve until the client leaves."""
    del around
    from runtimes.chant.serving import serve_acp

    given = {name: value for name in FLAGS if (value := _given(invocation, name)) is not None}
    return Outcome(serve_acp(given), None, "")


def _given(invocation: Invocation, name: str) -> str | None:
    if is_switch(name):
        return ON if invocation.on(name) else None
    return invocation.value(name)


def _spelled(path: tuple[str, ...]) -> Verb:
    return Verb(
        path=path,
        summary="Serve Ops over the Agent Client Protocol on stdin and stdout",
        handler=answer,
        document="changes nothing, what is served is JSON-RPC anyway",
        own_flags=tuple(Flag(name, summary, value) for name, (value, summary) in FLAGS.items()),
        exit_codes=(OK, FAILED, USAGE),
        in_prompts=NotInPrompts("it would serve a second client inside this session"),
    )


ACP, ACP_SERVE = map(_spelled, WORDS)
