"""What happens to actors, told to whoever wants to know."""

from __future__ import annotations

from typing import Any, Protocol

from actors.logs import debug_wanted, log


class Telemetry(Protocol):
    """Hears lifecycle events.  Called from any thread; must neither wait nor raise."""

    def event(self, kind: str, actor: str, **facts: Any) -> None:
        """Take one event.

        ``kind`` is one of: started, stopped, crashed, restarted, gave_up, dead_letter,
        mailbox_high, gate_closed, client_stalled, client_gone, late_answer.
        """
        ...


class LoggedTelemetry:
    """Production: only what a person should look at reaches the log."""

    _WORTH_A_LINE = frozenset({"crashed", "restarted", "gave_up", "mailbox_high", "client_stalled"})

    def event(self, kind: str, actor: str, **facts: Any) -> None:
        """Log trouble at WARNING; the rest only where DEBUG is on."""
        level = "WARNING" if kind in self._WORTH_A_LINE else "DEBUG"
        if level == "DEBUG" and not debug_wanted():
            return
        # A crash is a bug: its traceback belongs into the log (it never shows values).
        error = facts["reason"] if kind == "crashed" else None
        text = _words(facts)
        log().opt(exception=error).log(level, "{} {} {}", actor, kind.replace("_", " "), text)


def _words(facts: dict[str, Any]) -> str:
    return " ".join(f"{name}={value!s:.200}" for name, value in facts.items())
