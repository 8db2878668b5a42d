"""Programs that run another one: where it stands among their words.  Pure: no I/O.

Only options that are known here are passed over; after any other nobody knows what comes next.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from protocol.values import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@frozen
class Options:
    """What may stand between a wrapper and the program that it runs."""

    flags: str = ""
    """Letters of options without a value."""
    valued: str = ""
    """Letters of options whose value is attached or the next word."""
    words: frozenset[str] = frozenset()
    """Long options without a value, or with one after ``=`` only."""
    valued_words: frozenset[str] = frozenset()
    """Long options whose value stands after ``=`` or is the next word."""
    others: str = ""
    """A pattern of odd ones, such as ``nice -5``."""
    before: int = 0
    """How many other words come first: the duration of ``timeout``."""
    sets: bool = False
    """Then variables may be set: ``NAME=VALUE``."""


def _of(*names: str) -> frozenset[str]:
    return frozenset(f"--{name}" for name in names)


WRAPPERS: Mapping[str, Options | None] = {
    "builtin": Options(),
    "busybox": Options(),
    "bwrap": None,
    "chroot": Options(words=_of("skip-chdir", "groups", "userspec"), before=1),
    "chrt": Options("abfiorRv", "TPD", before=1),
    "command": Options("p"),
    "coproc": None,
    "doas": Options("nL", "uC"),
    "dbus-run-session": Options(),
    "eatmydata": Options(),
    "env": Options(
        "i0v",
        "uC",
        _of("ignore-environment", "null", "debug"),
        _of("unset", "chdir"),
        others="-",
        sets=True,
    ),
    "exec": Options("cl", "a"),
    "fakeroot": Options(),
    "find": None,
    "flock": Options(
        "sxunoFv",
        "Ew",
        _of("shared", "exclusive", "unlock", "nonblock", "close", "no-fork", "verbose"),
        _of("conflict-exit-code", "timeout", "wait"),
        before=1,
    ),
    "ionice": Options("t", "cn", _of("ignore"), _of("class", "classdata")),
    "nice": Options("", "n", valued_words=_of("adjustment"), others=r"--?\d+"),
    "nohup": Options(),
    "parallel": None,
    "pkexec": Options(words=_of("keep-cwd", "disable-internal-agent"), valued_words=_of("user")),
    "prlimit": None,
    "setpriv": None,
    "setsid": Options("cfw", words=_of("ctty", "fork", "wait")),
    "ssh": None,
    "stdbuf": Options("", "ioe", valued_words=_of("input", "output", "error")),
    "strace": Options("fFqtTvxydCciknrzZ", "aebEIoOPsSuX"),
    "sudo": Options(
        "ABbEHknPS",
        "CDghpRrTtu",
        _of("askpass", "background", "preserve-env", "set-home", "non-interactive", "stdin"),
        _of("user", "group", "host", "prompt", "chdir", "chroot", "close-from"),
        sets=True,
    ),
    "systemd-run": None,
    "taskset": Options("ac", words=_of("all-tasks", "cpu-list"), before=1),
    "time": Options(
        "apvq", "fo", _of("append", "portability", "verbose", "quiet"), _of("format", "output")
    ),
    "timeout": Options(
        "v",
        "ks",
        _of("foreground", "preserve-status", "verbose"),
        _of("kill-after", "signal"),
        before=1,
    ),
    "toybox": Options(),
    "unbuffer": Options("p"),
    "unshare": Options("imnpuUCTfrc", words=_of("fork", "net", "pid", "mount", "map-root-user")),
    "watch": Options("bcdegtwx", "nq"),
    "xargs": Options(
        "0prtxo",
        "adELnPs",
        _of("null", "no-run-if-empty", "verbose", "interactive", "exit", "open-tty", "max-lines"),
        _of("arg-file", "delimiter", "max-args", "max-procs", "max-chars"),
        others=r"-I\{\}|-i|--replace",
    ),
}
"""None: what they run can't be found by rules as simple as these."""
ANYTHING = "{}"
"""Stands for what is known only when it runs, as it does for ``find`` and ``xargs``."""

_SHELL_IF_NONE = frozenset({"chroot", "unshare"})
"""Without a program they run a shell, which reads one."""
_EXPANDED = frozenset("$`*?[{")


def words_behind(words: Sequence[str]) -> tuple[int, list[str]] | None:
    """Return where the program stands that the wrapper ``words[0]`` runs, and its words.

    None of them: it runs nothing.  None: nobody can tell what it runs.
    """
    name = words[0].rpartition("/")[2]
    options = WRAPPERS[name]
    if options is None:
        return None
    if name == "command" and words[1:2] in (["-v"], ["-V"]):
        return len(words), []
    at = _behind_options(words, options)
    if at is None:
        return None
    at += options.before
    while options.sets and at < len(words) and re.match(r"[A-Za-z_]\w*=", words[at]):
        at += 1
    behind = list(words[at:])
    if at > len(words) or any(map(_is_expanded, words[1 : at + 1])):
        return None
    if not behind:
        return None if name in _SHELL_IF_NONE else (at, behind)
    if behind[0].startswith("-") or ANYTHING in behind[0]:
        return None
    return at, [*behind, ANYTHING] if name == "xargs" else behind


def _behind_options(words: Sequence[str], options: Options) -> int | None:
    at = 1
    while at < len(words) and words[at].startswith("-"):
        word = words[at]
        if word == "--":
            return at + 1
        if options.others and re.fullmatch(options.others, word):
            taken: int | None = 1
        elif words[0].endswith("xargs") and list(words[at : at + 2]) == ["-I", ANYTHING]:
            taken = 2
        else:
            taken = _long(word, options) if word.startswith("--") else _short(word, options)
        if taken is None:
            return None
        at += taken
    return at


def _long(word: str, options: Options) -> int | None:
    """Return how many words an option takes; None: it is not known."""
    name, equals, _ = word.partition("=")
    if name in options.valued_words:
        return 1 if equals else 2
    return 1 if name in options.words else None


def _short(word: str, options: Options) -> int | None:
    for place, letter in enumerate(word[1:], start=2):
        if letter in options.valued:
            return 1 if word[place:] else 2
        if letter not in options.flags:
            return None
    return 1 if len(word) > 1 else None


def _is_expanded(word: str) -> bool:
    """Tell whether bash may make another word of it, or several, or none."""
    return not _EXPANDED.isdisjoint(word.replace(ANYTHING, ""))
