"""The flags of ``chant acp``, and the quick way to read them.

A client waits while we start, so this module imports next to nothing: the plain forms of the
command are recognized without the verb table and without click.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from runtimes.fault_flags import ALLOW_FAULTS, FAULTS

WORDS = (("acp",), ("acp", "serve"))
"""The two spellings of the command."""

FLAGS: dict[str, tuple[str, str]] = {
    "--grace": ("SECONDS", "what a cancelled step gets between TERM and KILL; 2 when absent"),
    "--steward": ("NAME", "every turn is this steward's; the project here must declare it"),
    "--durable-requests": ("", "ask the client to open a gate, and end the turn waiting for it"),
    "--strict-stop-reasons": ("", "say end_turn for waiting, for clients that know no other"),
    "--faults": FAULTS,
    "--allow-faults": ALLOW_FAULTS,
}
"""Flag to (name of its value, summary); one without a value is a switch."""


MAX_GRACE_S = 3600.0

GateRule: TypeAlias = Literal["tell", "ask", "ask_strictly"]
"""What a client gets when a run stops at a gate: the line that opens it; with that a request, and
a turn that ends ``waiting``; or the same with a stop reason of the protocol's closed set."""

ON = "on"
"""The value of a switch that was given."""


def grace_seconds(text: str) -> float | None:
    """Read the value of ``--grace``; None if it is no number of seconds up to an hour."""
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if 0 < seconds <= MAX_GRACE_S else None


def gate_rule(flags: dict[str, str]) -> GateRule:
    """Return what the flags say of gates."""
    if "--durable-requests" not in flags:
        return "tell"
    return "ask_strictly" if "--strict-stop-reasons" in flags else "ask"


def is_switch(name: str) -> bool:
    """Tell whether a flag takes no value."""
    return not FLAGS[name][0]


def read_quickly(argv: list[str]) -> dict[str, str] | None:
    """Return the flags of a plain ``chant acp`` line, None for anything that needs a full look."""
    words = tuple(argv[:2])
    rest = argv[2:] if words == WORDS[1] else argv[1:] if words[:1] == WORDS[0] else None
    if rest is None:
        return None
    flags: dict[str, str] = {}
    waiting = iter(rest)
    for word in waiting:
        name, equals, value = word.partition("=")
        if name not in FLAGS or name in flags:
            return None
        if is_switch(name):
            flags[name] = "" if equals else ON
        else:
            flags[name] = value if equals else next(waiting, "")
    return flags if all(flags.values()) else None
