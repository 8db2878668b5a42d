"""The table of rules, and running them over a project."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, cast

from ops.errors import ProjectInvalid, unknown
from ops.lint import declarations, layout
from ops.lint.rule import LintFinding, Rule
from ops.lint.secrets import literal_secrets
from ops.whole_file import whole_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.lint.subject import Subject

RULES = (
    Rule("config-invalid", "error", "chant.toml can be read", declarations.invalid_config),
    Rule("op-invalid", "error", "every Op can run", declarations.invalid_ops),
    Rule("point-invalid", "error", "every point can be asked", declarations.invalid_points),
    Rule("resource-invalid", "error", "every resource can be read", declarations.invalid_resources),
    Rule("steward-invalid", "error", "stewards name what there is", declarations.invalid_stewards),
    Rule("secret-literal", "error", "no secret stands in a declaration", literal_secrets),
    Rule("gate-idle", "warning", "a gate guards something", declarations.idle_gates),
    Rule("name-misleading", "warning", "an Op is where one looks", declarations.misleading_names),
    Rule("param-unused", "warning", "every parameter is used", declarations.unused_params),
    Rule("overview-missing", "info", "every Op says what it does", declarations.missing_overviews),
    Rule(
        "key-spelling",
        "warning",
        "keys are spelled one way",
        layout.old_keys,
        layout.with_new_keys,
    ),
    Rule(
        "trailing-space",
        "info",
        "no line ends in a space",
        layout.trailing_space,
        layout.without_trailing_space,
    ),
    Rule(
        "final-newline",
        "info",
        "every file ends in a newline",
        layout.missing_newline,
        layout.with_newline,
    ),
)


def lint(subject: Subject) -> list[LintFinding]:
    """Return what all rules find that the project does not ignore, in order of place."""
    ignored = ignored_rules(subject.project.lint)
    found = {
        LintFinding(file, line, rule.rule_id, rule.level, message, rule.mend is not None)
        for rule in RULES
        if rule.rule_id not in ignored
        for file, line, message in rule.check(subject)
    }
    return sorted(found)


def ignored_rules(config: Mapping[str, Any]) -> frozenset[str]:
    """Return the rules that ``[lint] ignore`` names.

    Raises:
        ProjectInvalid: It names a rule that there is not, or is no list.

    """
    known = {rule.rule_id for rule in RULES}
    asked: object = config.get("ignore", [])
    names = cast("list[object]", asked) if isinstance(asked, list) else [asked]
    for name in names:
        if name not in known:
            msg = f"chant.toml: lint: {unknown('rule', str(name), known)}"
            raise ProjectInvalid(msg)
    return frozenset(map(str, names))


def mend(subject: Subject, findings: list[LintFinding]) -> list[str]:
    """Rewrite the files that have findings which can be mended; return their paths."""
    mended: list[str] = []
    for path in sorted({each.file for each in findings if each.fixable}):
        text = before = subject.texts[path]
        ids = {each.rule for each in findings if each.file == path}
        for rule in RULES:
            if rule.mend is not None and rule.rule_id in ids:
                text = rule.mend(text)
        if text != before:
            with whole_file(os.path.join(subject.project.root, path)) as stream:
                stream.write(text.encode())
            mended.append(path)
    return mended
