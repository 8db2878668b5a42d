"""Finding literal secrets in declarations.  What is found is named, never repeated.  Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

from ops.toml_file import parse_toml
from ops.toml_lines import LineIndex

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ops.lint.rule import Found
    from ops.lint.subject import Subject
    from ops.toml_lines import KeyPath

ADVICE = "take it from the environment of the step, or from a parameter with env"

NAMED = re.compile(
    r"(?:^|[-_.])(?:password|passwd|passphrase|secret|token|api[-_]?key|access[-_]?key"
    r"|private[-_]?key|credential|authorization)s?$",
    re.IGNORECASE,
)
CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
NOT_A_VALUE = re.compile(r"\s*(?:[$<{%].*)?", re.DOTALL)
"""Empty, or a place to be filled: ``$TOKEN``, ``<token>``, ``{{ token }}``."""

_VALUE = r"[^\s$<{\"'`|;&][^\s\"'`|;&]*"
SHAPES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("a private key", re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----")),
    ("an AWS access key", re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b")),
    ("a GitHub token", re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_\w{30,})")),
    ("a GitLab token", re.compile(r"\bglpat-[\w-]{20,}")),
    ("a Slack token", re.compile(r"\bxox[abeprs]-[\w-]{10,}")),
    ("a Google key", re.compile(r"\bAIza[\w-]{35}\b")),
    ("an API key", re.compile(r"\bsk-[A-Za-z0-9_-]{20,}")),
    ("a JSON web token", re.compile(r"\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.")),
    ("a password in a URL", re.compile(r"://[^/\s:@]+:[^/\s:@$<{]+@")),
    (
        "a password on a command line",
        re.compile(rf"--?(?:password|passwd|token|secret|api-?key)[= ]{_VALUE}", re.IGNORECASE),
    ),
    (
        "a secret given to a variable",
        re.compile(rf"\b[A-Z0-9_]*(?:PASSWORD|TOKEN|SECRET|API_?KEY)=[\"']?{_VALUE}"),
    ),
    (
        "a credential in a header",
        re.compile(
            rf"authorization[\"']?\s*[:=]\s*[\"']?(?:bearer|basic)\s+{_VALUE}", re.IGNORECASE
        ),
    ),
)


def literal_secrets(subject: Subject) -> Iterator[Found]:
    """Yield every text that looks like a secret, in any declaration."""
    for path, text in subject.texts.items():
        if not path.endswith(".toml"):
            yield from _in_lines(path, text)
            continue
        try:
            table = parse_toml(text)
        except (ValueError, RecursionError):
            yield from _in_lines(path, text)
            continue
        lines = LineIndex(text)
        for keys, what in _in_value(table, ()):
            yield path, lines.line(keys), f"{'.'.join(map(str, keys))} holds {what}; {ADVICE}"


def _in_lines(path: str, text: str) -> Iterator[Found]:
    for number, line in enumerate(text.splitlines(), 1):
        if what := shape_of(line):
            yield path, number, f"this line holds {what}; {ADVICE}"


def _in_value(value: object, path: KeyPath) -> Iterator[tuple[KeyPath, str]]:
    if isinstance(value, dict):
        for key, member in cast("dict[str, object]", value).items():
            yield from _in_value(member, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(cast("list[object]", value)):
            yield from _in_value(item, (*path, index))
    elif isinstance(value, str):
        if what := shape_of(value):
            yield path, what
        elif _is_named(path) and not NOT_A_VALUE.fullmatch(value):
            yield path, "a literal secret"


def shape_of(text: str) -> str | None:
    """Say what kind of secret a text holds, None when it looks like none."""
    return next((what for what, shape in SHAPES if shape.search(text)), None)


def _is_named(path: KeyPath) -> bool:
    """Tell whether the key says that its value is secret; a parameter's default has its name."""
    keys = [str(key) for key in path]
    name = keys[-2] if keys[-1] == "default" and len(keys) > 1 else keys[-1]
    return bool(NAMED.search(CAMEL.sub("_", name)))
