"""Findings as SARIF 2.1.0, which code hosts show beside the lines.  Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ops.lint.rule import LintFinding, Rule

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LEVELS = {"error": "error", "warning": "warning", "info": "note"}


def sarif(findings: Iterable[LintFinding], rules: Sequence[Rule], version: str) -> dict[str, Any]:
    """Return one SARIF log with one run."""
    driver = {
        "name": "chant lint",
        "version": version,
        "rules": [
            {
                "id": rule.rule_id,
                "shortDescription": {"text": rule.summary},
                "defaultConfiguration": {"level": LEVELS[rule.level]},
            }
            for rule in rules
        ],
    }
    order = {rule.rule_id: index for index, rule in enumerate(rules)}
    results = [_result(finding, order[finding.rule]) for finding in findings]
    run = {"tool": {"driver": driver}, "results": results, "columnKind": "unicodeCodePoints"}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(finding: LintFinding, index: int) -> dict[str, Any]:
    place = {
        "artifactLocation": {"uri": _uri(finding.file), "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": finding.line},
    }
    return {
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": LEVELS[finding.level],
        "message": {"text": finding.message},
        "locations": [{"physicalLocation": place}],
    }


def _uri(path: str) -> str:
    from urllib.parse import quote

    return quote(path, errors="surrogateescape")
