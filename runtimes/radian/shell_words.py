"""Takes a shell command apart, so that permission rules see everything that it would run.

The parser is tree-sitter's grammar of bash, imported with the first command.  What it does not
understand in full, or what names its program only when it runs, can't be taken apart safely.
"""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING

from actors.stand_ins import until_trouble
from runtimes.radian.permissions import Behind, Command
from runtimes.radian.wrappers import WRAPPERS, words_behind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node, Parser

MAX_COMMAND_BYTES = 64 * 1024
"""A longer text is not taken apart; no rule was written for it."""
MAX_DEPTH = 8
"""Of shells in shells (``sh -c "sh -c …"``)."""
MAX_WORDS = 250
"""Behind a wrapper, each of which may be what it runs."""
MAX_NESTING = 200
"""Of the tree: deeper than any command that a person could judge."""

SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh"})

_JUDGED_OTHERWISE = frozenset({"find", "ssh"})
"""What ``find`` does are parts already, and what ``ssh`` runs runs elsewhere."""
_OF_SHELL = frozenset({"flock", "parallel", "ssh", "watch"})
"""They may hand a word to a shell."""
_SPLIT = r"(?s)(?:-[a-zA-Z0-9]*?S|--split-string=?)(.*)"
"""The option of ``env`` that takes a word apart."""
_OF_TEXT = r"[\s;&|<>()$`]"
"""In such a word: more than one word, or more than words."""

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
    splitter = _Splitter()
    try:
        splitter.split(text, 0)
    except _NotSplittableError:
        return None
    if not splitter.parts:
        return None
    return Command(tuple(splitter.parts), tuple(splitter.hidden), tuple(splitter.behind))


class _Splitter:
    """Collects the parts of one text, and of the texts that it hands to shells."""

    def __init__(self) -> None:
        self._parser = _parser()
        self.parts: list[str] = []
        self.hidden: list[str] = []
        self.behind: list[Behind] = []
        self._inside: set[str] = set()
        """Texts of shells that were split."""

    def split(self, text: str, depth: int) -> None:
        data = text.encode("utf-8", "replace")
        if depth > MAX_DEPTH or len(data) > MAX_COMMAND_BYTES or "\0" in text or "\r" in text:
            raise _NotSplittableError
        if re.search(_CUT_WORD, text):
            raise _NotSplittableError
        tree = self._parser.parse(data)
        if tree.root_node.has_error:
            raise _NotSplittableError
        for node in _nodes(tree.root_node, 0):
            if node.type == "comment" and data[: node.start_byte][-1:].strip(_BEFORE_COMMENT):
                raise _NotSplittableError
            if node.type in _COMMANDS:
                self._take(*_words(node), depth)
            elif beside := _beside(node):
                self.parts.append(beside)

    def _take(self, assigned: list[str], named: list[str], depth: int) -> None:
        whole = " ".join(assigned + named)
        self.parts.append(whole)
        if not named:
            return
        if _DYNAMIC & set(named[0]):
            raise _NotSplittableError
        if assigned:
            self.hidden.append(" ".join(named))
        if named[0].rpartition("/")[2] in WRAPPERS:
            self._hide_behind(named, depth)
        self._look_behind(named, depth, whole, len(whole) - len(" ".join(named)))

    def _look_behind(self, words: list[str], depth: int, whole: str, at: int) -> None:
        """Find what a wrapper or a shell would run, and a program named by its path.

        ``words`` stand at ``at`` in the part ``whole``.
        """
        name = words[0].rpartition("/")[2]
        if depth > MAX_DEPTH:
            raise _NotSplittableError
        self._hide_by_name(words)
        if name in _RUN_TEXT or (name in SHELLS and len(words) == 1):
            raise _NotSplittableError
        if name in SHELLS:
            self._inner(words, depth)
        if name in _EVALUATING and any("$(" in word or "`" in word for word in words):
            raise _NotSplittableError
        if name == "find":
            self._actions_of_find(words, depth)
        if name in WRAPPERS and name not in _JUDGED_OTHERWISE:
            self._judge_behind(words, depth, whole, at)

    def _hide_by_name(self, words: list[str]) -> None:
        name = words[0].rpartition("/")[2]
        if name != words[0]:
            self.hidden.append(" ".join([name, *words[1:]]))

    def _hide_behind(self, words: list[str], depth: int) -> None:
        """Have deny rules see all that might be what a wrapper runs."""
        if len(words) > MAX_WORDS:
            raise _NotSplittableError
        names = {each.rpartition("/")[2] for each in words}
        for at in range(1, len(words)):
            behind = words[at:]
            self.hidden.append(" ".join(behind))
            self._hide_by_name(behind)
            if behind[0].rpartition("/")[2] in SHELLS:
                self._inner(behind, depth)
            if names & _OF_SHELL and re.search(_OF_TEXT, behind[0]):
                self._hide_text(behind[0], depth)
        for text in _split_by_env(words):
            self._hide_text(text, depth)

    def _hide_text(self, text: str, depth: int) -> None:
        """Have deny rules see the commands in a word that is taken apart when it runs."""
        if text.startswith("-"):  # its value is attached to an option
            raise _NotSplittableError
        inner = _Splitter()
        inner.split(text, depth + 1)
        self.hidden += [*inner.parts, *inner.hidden]

    def _judge_behind(self, words: list[str], depth: int, whole: str, at: int) -> None:
        """Have allow rules see what a wrapper runs."""
        found = words_behind(words)
        if found is None:
            if words[-1].rpartition("/")[2] in SHELLS:
                raise _NotSplittableError
            self.behind.append(Behind(whole, len(whole)))
            return
        place, behind = found
        if not behind:
            return
        named = " ".join(behind)
        if words[0].rpartition("/")[2] == "watch":  # it has a shell run them as one text
            self.split(named, depth + 1)
            return
        at += len(" ".join(words[:place])) + 1
        self.behind.append(Behind(whole, at + len(behind[0]), named))
        self._look_behind(behind, depth + 1, whole, at)

    def _inner(self, words: list[str], depth: int) -> None:
        for at, word in enumerate(words[1:-1], start=1):
            if re.fullmatch(r"-[a-z]*c[a-z]*", word):
                inner = words[at + 1]
                if "$" in inner or "`" in inner:
                    raise _NotSplittableError
                if inner not in self._inside:
                    self._inside.add(inner)
                    self.split(inner, depth + 1)
                return

    def _actions_of_find(self, words: list[str], depth: int) -> None:
        """Take what ``find`` would do to what it finds, each a part of its own."""
        for at, word in enumerate(words):
            if word in {"-exec", "-execdir", "-ok", "-okdir"}:
                behind = [*takewhile(lambda each: each not in {";", "+"}, words[at + 1 :])]
                self.parts.append(" ".join(behind))
                if behind:
                    self._look_behind(behind, depth, self.parts[-1], 0)
            elif word in {"-delete", "-fls", "-fprint", "-fprint0", "-fprintf"}:
                self.parts.append(" ".join(words[at:]))


def _split_by_env(words: list[str]) -> Iterator[str]:
    """Yield what each ``env`` among the words takes apart by its option ``-S``."""
    for at, word in enumerate(words):
        place = at + 1 if word.rpartition("/")[2] == "env" else len(words)
        while place < len(words) and words[place].startswith("-"):
            found = re.fullmatch(_SPLIT, words[place])
            if found is not None:
                yield found[1] or " ".join(words[place + 1 : place + 2])
            place += 2 if words[place] in {"-u", "-C", "--unset", "--chdir"} else 1


def _parser() -> Parser:
    import tree_sitter

    with until_trouble():  # it finds files of its own, which nobody here asks for
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
