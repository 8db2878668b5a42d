"""Takes a shell command apart, so that permission rules see everything that it would run.

The parser is tree-sitter's grammar of bash, imported with the first command.  What it does not
understand in full, or what names its program only when it runs, can't be taken apart safely.
"""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING

from runtimes.radian.permissions import Command

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node, Parser

MAX_COMMAND_BYTES = 64 * 1024
"""A longer text is not taken apart; no rule was written for it."""
MAX_DEPTH = 8
"""Of shells in shells (``sh -c "sh -c …"``)."""
MAX_NESTING = 200
"""Of the tree: deeper than any command that a person could judge."""

WRAPPERS = frozenset(
    {"builtin", "command", "chroot", "doas", "env", "exec", "flock", "ionice", "nice", "nohup"}
    | {"parallel", "setsid", "stdbuf", "strace", "sudo", "time", "timeout", "unshare", "watch"}
    | {"xargs", "find", "busybox", "ssh", "bwrap", "coproc"}
)
"""Programs that run what stands behind them."""
SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh"})

_HARMLESS = r"\d*(?:>>?|>\||&>>?|<)\s*/dev/null|\d*[<>]&\s*(?:\d+|-)"
"""Redirections that touch no file."""
_COMMANDS = frozenset({"command", "declaration_command", "unset_command"})
_RUN_TEXT = frozenset({"alias", "eval", "source", ".", "trap", "su", "runuser", "script"})
"""They run a word as if it were a line of its own."""
_LOOPS = frozenset({"for_statement", "c_style_for_statement", "select_statement"})
"""They set a variable, and a variable such as PATH says what a later word runs."""
_UNSAFE = frozenset({"function_definition", "ERROR", "coproc_statement"})
"""A function can be called like any program, so later words mean nothing."""
_EVALUATING = frozenset(
    {"[", "declare", "export", "let", "local", "mapfile", "printf", "read"}
    | {"readarray", "readonly", "test", "typeset", "unset", "wait"}
)
"""Builtins that calculate what stands in the brackets of a name: ``test -v 'a[$(id)]'`` runs id."""
_CALCULATED = frozenset({"test_command", "subscript", "arithmetic_expansion"})
_DYNAMIC = frozenset("$`*?[{~")
"""In the name of a program: known only when it runs."""


_HIDDEN = r"(?<!\\)(?:\\\\)*(?:`|\$\()"
_HIDDEN_IN_EXPANSION = rf"{_HIDDEN}|[<>]\("
"""In plain text: what begins a command in it, unless a backslash stands before it."""
_BEFORE_COMMENT = b" \t\n;&|()<>"
"""After anything else the mark of a comment is a letter of a word, to bash."""
_CUT_WORD = r"\S\\\n\S"
"""Bash joins the two ends, and the parser takes them for two words."""


class _NotSplittableError(Exception):
    """The command must be judged as a whole, by a person."""


def split_command(text: str) -> Command | None:
    """Return the parts of a command line; None when it can't be split safely.

    Parts are normal: quotes removed, one space between words.
    """
    try:
        parts, hidden = _Splitter().split(text, 0)
    except _NotSplittableError:
        return None
    return Command(tuple(parts), tuple(hidden)) if parts else None


class _Splitter:
    """Collects the parts of one text, and of the texts that it hands to shells."""

    def __init__(self) -> None:
        self._parser = _parser()

    def split(self, text: str, depth: int) -> tuple[list[str], list[str]]:
        data = text.encode("utf-8", "replace")
        if depth > MAX_DEPTH or len(data) > MAX_COMMAND_BYTES or "\0" in text or "\r" in text:
            raise _NotSplittableError
        if re.search(_CUT_WORD, text):
            raise _NotSplittableError
        tree = self._parser.parse(data)
        if tree.root_node.has_error:
            raise _NotSplittableError
        parts: list[str] = []
        hidden: list[str] = []
        for node in _nodes(tree.root_node, 0):
            if node.type == "comment" and data[: node.start_byte][-1:].strip(_BEFORE_COMMENT):
                raise _NotSplittableError
            if node.type in _COMMANDS:
                self._take(_words(node), depth, parts, hidden)
            elif beside := _beside(node):
                parts.append(beside)
        return parts, hidden

    def _take(
        self, words: tuple[list[str], list[str]], depth: int, parts: list[str], hidden: list[str]
    ) -> None:
        assigned, named = words
        parts.append(" ".join(assigned + named))
        if not named:
            return
        if _DYNAMIC & set(named[0]):
            raise _NotSplittableError
        if assigned:
            hidden.append(" ".join(named))
        self._look_behind(named, depth, parts, hidden)

    def _look_behind(
        self, words: list[str], depth: int, parts: list[str], hidden: list[str]
    ) -> None:
        """Find what a wrapper or a shell would run, and a program named by its path."""
        name = words[0].rpartition("/")[2]
        if name != words[0]:
            hidden.append(" ".join([name, *words[1:]]))
        if name in _RUN_TEXT or (name in SHELLS and len(words) == 1):
            raise _NotSplittableError
        if name in SHELLS:
            self._inner(words, depth, parts, hidden)
        if name == "find":
            parts.extend(_actions_of_find(words))
        if name in _EVALUATING and any("$(" in word or "`" in word for word in words):
            raise _NotSplittableError
        if name in WRAPPERS:
            for at in range(1, len(words)):
                behind = words[at:]
                hidden.append(" ".join(behind))
                if behind[0].rpartition("/")[2] in SHELLS | WRAPPERS:
                    self._look_behind(behind, depth, parts, hidden)
                    return

    def _inner(self, words: list[str], depth: int, parts: list[str], hidden: list[str]) -> None:
        for at, word in enumerate(words[1:-1], start=1):
            if re.fullmatch(r"-[a-z]*c[a-z]*", word):
                inner = words[at + 1]
                if "$" in inner or "`" in inner:
                    raise _NotSplittableError
                more, more_hidden = self.split(inner, depth + 1)
                parts.extend(more)
                hidden.extend(more_hidden)
                return


def _actions_of_find(words: list[str]) -> Iterator[str]:
    """Yield what ``find`` would do to what it finds, each a part of its own."""
    for at, word in enumerate(words):
        if word in {"-exec", "-execdir", "-ok", "-okdir"}:
            behind = takewhile(lambda each: each not in {";", "+"}, words[at + 1 :])
            yield " ".join(behind)
        elif word in {"-delete", "-fls", "-fprint", "-fprint0", "-fprintf"}:
            yield " ".join(words[at:])


def _parser() -> Parser:
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


def _nodes(node: Node, depth: int, around: frozenset[str] = frozenset()) -> Iterator[Node]:
    """Yield a node and all that are in it; ``around`` are the types of what it lies in."""
    if depth > MAX_NESTING or node.type in _UNSAFE or node.is_missing:
        raise _NotSplittableError
    yield node
    if node.type == "heredoc_redirect" and _is_literal(node):
        return
    if not node.children and _hides_a_command(node, around):
        raise _NotSplittableError
    within = around | {node.type}
    for child in node.children:
        yield from _nodes(child, depth + 1, within)


def _hides_a_command(leaf: Node, around: frozenset[str]) -> bool:
    """Tell whether bash would run something in what the parser takes for plain text."""
    if leaf.type in {"comment", "`", "$(", "<(", ">("}:
        return False
    if around & _CALCULATED:  # as in _EVALUATING
        return "$(" in _text(leaf) or "`" in _text(leaf)
    # Within double quotes a single one is a letter like others.
    if leaf.type == "raw_string" and "string" not in around:
        return False
    hidden = _HIDDEN_IN_EXPANSION if "expansion" in around else _HIDDEN
    return re.search(hidden, _text(leaf)) is not None


def _is_literal(heredoc: Node) -> bool:
    """Tell whether the text of a here-document is taken as it stands: its word is quoted."""
    starts = (_text(child) for child in heredoc.children if child.type == "heredoc_start")
    return any(mark in start for start in starts for mark in "\\'\"")


def _words(node: Node) -> tuple[list[str], list[str]]:
    """Return a command's assignments and its words, without its redirections."""
    assigned: list[str] = []
    named: list[str] = []
    for child in node.children:
        if child.type == "variable_assignment" and not named:
            assigned.append(_text(child))
        elif child.type not in {"file_redirect", "herestring_redirect", "heredoc_redirect"}:
            named.append(_unquoted(child))
    return assigned, named


def _beside(node: Node) -> str | None:
    """Return what is no command and yet does something: a redirection, an assignment, a loop."""
    match node.type:
        case kind if kind in _LOOPS:
            return _text(node).partition("\n")[0].partition(";")[0]
        case "file_redirect":
            text = _text(node)
            return None if re.fullmatch(_HARMLESS, text) else text
        case "heredoc_redirect" | "herestring_redirect":
            return _text(node).splitlines()[0]
        case "variable_assignment" if node.parent is not None and node.parent.type != "command":
            return _text(node)
        case _:
            return None


def _unquoted(node: Node) -> str:
    match node.type:
        case "word":
            return re.sub(r"\\(.)", r"\1", _text(node), flags=re.DOTALL).replace("\n", "")
        case "raw_string":
            return _text(node)[1:-1]
        case "string" if all(child.type in {'"', "string_content"} for child in node.children):
            return re.sub(r'\\([$`"\\])', r"\1", _text(node)[1:-1])
        case "command_name" | "concatenation":
            return "".join(map(_unquoted, node.children))
        case "ansi_c_string" | "translated_string":
            raise _NotSplittableError
        case _:
            return _text(node)


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
