"""Every method of ACP v1: who sends it, in which phase, and which capability opens it."""

from __future__ import annotations

from typing import Literal, TypeAlias

from protocol.named_tuple import NamedTuple

Sender: TypeAlias = Literal["client", "agent", "both"]
Kind: TypeAlias = Literal["request", "notification"]
Phase: TypeAlias = Literal["any", "initialized"]


class Method(NamedTuple):
    """One method.  ``opened_by`` is the capability of the *receiver* that it needs, if any."""

    name: str
    sender: Sender
    kind: Kind
    phase: Phase
    opened_by: str | None = None

    @property
    def baseline(self) -> bool:
        """Whether every receiver must serve it."""
        return self.opened_by is None


def lookup(name: str) -> Method | None:
    """Find a method by its exact name; None for extensions, unstable ones and nonsense."""
    return METHODS.get(name)


def _client(name: str, opened_by: str | None = None) -> Method:
    return Method(name, "client", "request", "initialized", opened_by)


def _agent(name: str, opened_by: str | None = None) -> Method:
    return Method(name, "agent", "request", "initialized", opened_by)


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method("initialize", "client", "request", "any"),
        _client("authenticate", "authMethods"),
        _client("logout", "auth.logout"),
        _client("session/new"),
        _client("session/load", "loadSession"),
        _client("session/resume", "sessionCapabilities.resume"),
        _client("session/list", "sessionCapabilities.list"),
        _client("session/delete", "sessionCapabilities.delete"),
        _client("session/close", "sessionCapabilities.close"),
        # These two have no capability: the answer of session/new brings modes or options, or not.
        _client("session/set_mode", "modes"),
        _client("session/set_config_option", "configOptions"),
        _client("session/prompt"),
        Method("session/cancel", "client", "notification", "initialized"),
        Method("$/cancel_request", "both", "notification", "any"),
        Method("session/update", "agent", "notification", "initialized"),
        _agent("session/request_permission"),
        _agent("fs/read_text_file", "fs.readTextFile"),
        _agent("fs/write_text_file", "fs.writeTextFile"),
        _agent("terminal/create", "terminal"),
        _agent("terminal/output", "terminal"),
        _agent("terminal/wait_for_exit", "terminal"),
        _agent("terminal/kill", "terminal"),
        _agent("terminal/release", "terminal"),
        _agent("elicitation/create", "elicitation"),
        Method("elicitation/complete", "agent", "notification", "initialized", "elicitation.url"),
    )
}
