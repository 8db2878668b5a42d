"""The conversation flags: one table, which `radian exec` and `radian acp` share.

Imports next to nothing: both commands read ordinary lines without click.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from protocol.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LOG_LEVELS = ("trace", "debug", "info", "success", "warning", "error", "critical")
EFFORTS = ("off", "low", "medium", "high", "max")
MAX_MODEL_CALLS = 200


class Flag(NamedTuple):
    """One flag.  Without a ``value`` it is a switch; ``many``: it may come again and again."""

    name: str
    value: str
    help: str
    many: bool = False
    short: str = ""

    @property
    def key(self) -> str:
        """The name of its value among the parsed ones."""
        return self.name[2:].replace("-", "_")


CONVERSATION: tuple[Flag, ...] = (
    Flag("--provider", "ID", "one of [providers.ID] of config.toml, or a vendor: openai, "
         "anthropic, gemini; default_provider when absent"),
    Flag("--model", "NAME", "the provider's default_model when absent"),
    Flag("--workspace", "DIR", "where the agent works; the current folder when absent, "
         "with acp the client's"),
    Flag("--profile", "NAME", "read-only, workspace, full, or one of config.toml; "
         "workspace when absent"),
    Flag("--resume", "ID", "go on with a session"),
    Flag("--session-id", "ID", "the id of the new session; made up when absent"),
    Flag("--mcp-config", "JSON", "MCP servers to start, as a file or as it stands: "
         '{"mcpServers": {"ID": {"command": "..."}}}', many=True),
    Flag("--trust", "", "load what the project brings (AGENTS.md, .radian), for this process only"),
    Flag("--no-trust", "", "don't, whatever the trust file says"),
    Flag("--effort", "LEVEL", f"how much the model thinks: {', '.join(EFFORTS)}"),
    Flag("--max-model-calls", "N", f"model calls of one turn; {MAX_MODEL_CALLS} when absent, "
         "0 for no limit"),
    Flag("--max-cost", "USD", "what one turn may cost, looked at before each call"),
    Flag("--max-output-tokens", "N", "tokens of one answer; the model's own limit when absent"),
    Flag("--turn-timeout", "SECONDS", "how long one turn may take"),
    Flag("--allow", "RULE", "a permission rule such as 'shell(make *)'", many=True),
    Flag("--deny", "RULE", "the same, to forbid; wins over everything", many=True),
    Flag("--no-user-config", "", "read no config.toml: flags and what is built in only"),
    Flag("--log-level", "LEVEL", f"{', '.join(LOG_LEVELS)}; warning when absent"),
    Flag("--log-file", "FILE", "where the log goes, for your eyes only; stderr when absent"),
)  # fmt: skip


class FlagsMisused(Exception):  # noqa: N818 - an answer to the person who typed them
    """A command line can't be read; one line for people."""


def read_flags(argv: Sequence[str], flags: Sequence[Flag]) -> dict[str, Any]:
    """Read a command line into the flags that it gives: text, True, or a tuple of texts.

    Raises:
        FlagsMisused: See there.

    """
    known = {name: flag for flag in flags for name in (flag.name, flag.short) if name}
    given: dict[str, Any] = {}
    words = iter(argv)
    for word in words:
        name, equals, value = word.partition("=") if word.startswith("--") else (word, "", "")
        flag = known.get(name)
        if flag is None:
            raise FlagsMisused(_unknown(name, known))
        if not flag.value:
            if equals:
                message = f"{name} takes no value"
                raise FlagsMisused(message)
            given[flag.key] = True
            continue
        if not equals:
            found = next(words, None)
            if found is None:
                message = f"{name} needs a value: {flag.value}"
                raise FlagsMisused(message)
            value = found
        given[flag.key] = (*given.get(flag.key, ()), value) if flag.many else value
    return given


def _unknown(name: str, known: Mapping[str, Flag]) -> str:
    from difflib import get_close_matches

    what = "no such flag" if name.startswith("-") else "unexpected word"
    plain = {each.lstrip("-"): each for each in known}  # all dashes are alike
    near = get_close_matches(name.lstrip("-"), list(plain), 1)
    return f"{what}: {name}" + (f"; did you mean {plain[near[0]]}?" if near else "")


def help_rows(flags: Sequence[Flag]) -> list[tuple[str, str]]:
    """Return each flag as it is typed, and what it is for."""
    return [(_typed(flag), flag.help + "; may come again" * flag.many) for flag in flags]


def _typed(flag: Flag) -> str:
    names = f"{flag.short}, {flag.name}" if flag.short else flag.name
    return f"{names} {flag.value}".rstrip()
