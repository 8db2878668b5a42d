"""``chant lint``: what is wrong or suspicious in the project's declarations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtimes.chant.verbs.verb import (
    FAILED,
    OK,
    REFUSED,
    USAGE,
    Flag,
    Invocation,
    Outcome,
    Surroundings,
    Verb,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ops.lint.rule import LintFinding

FORMATS = ("text", "json", "sarif")


def answer(invocation: Invocation, around: Surroundings) -> Outcome:
    """Run all rules; with --fix mend what can be mended and run them again."""
    from dataclasses import asdict

    from ops.errors import ParamInvalid, unknown
    from ops.lint.sarif import sarif
    from ops.lint.subject import read_subject
    from ops.lint.table import RULES, lint, mend
    from runtimes.chant.json_text import json_page
    from runtimes.version import VERSION

    asked = invocation.value("--format") or "text"
    if asked not in FORMATS:
        raise ParamInvalid(unknown("format", asked, FORMATS))
    subject = read_subject(around.cwd)
    findings, fixed = lint(subject), list[str]()
    if invocation.on("--fix"):
        fixed = mend(subject, findings)
        findings = lint(read_subject(around.cwd)) if fixed else findings
    levels = [finding.level for finding in findings]
    counted = ("error", "warning") if invocation.on("--strict") else ("error",)
    code = FAILED if any(level in counted for level in levels) else OK
    document = {
        "findings": [asdict(finding) for finding in findings],
        "counts": {level: levels.count(level) for level in ("error", "warning", "info")},
        "fixed": fixed,
    }
    if asked == "sarif":
        log = sarif(findings, RULES, VERSION)
        return Outcome(code, log, json_page(log).rstrip("\n"), is_answer=True)
    text = json_page(document).rstrip("\n") if asked == "json" else _text(findings, fixed)
    return Outcome(code, document, text, is_answer=True)


def _text(findings: Sequence[LintFinding], fixed: Sequence[str]) -> str:
    lines = [f"fixed {path}" for path in fixed]
    for each in findings:
        fix = " (--fix mends it)" if each.fixable else ""
        place = f"{each.file}:{each.line}: {each.level} {each.rule}"
        lines.append(f"{place}: {each.message}{fix}")
    return "\n".join(lines or ["nothing was found"])


LINT = Verb(
    path=("lint",),
    summary="Check Ops, resources, stewards, points and chant.toml by rules",
    handler=answer,
    document=(
        '{"findings": [{"file", "line", "rule", "level" (error, warning, info), "message",'
        ' "fixable"}], "counts": {"error", "warning", "info"}, "fixed": [files]}; with --format'
        " sarif a SARIF 2.1.0 log"
    ),
    own_flags=(
        Flag("--format", "text, json or sarif; text when absent", "FORMAT"),
        Flag("--fix", "mend what can be mended without a decision: spelling and spaces"),
        Flag("--strict", "warnings count like errors"),
    ),
    exit_codes=(OK, FAILED, USAGE, REFUSED),
)
