"""A decision point, and who asks and answers it, for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ops.findings import Findings, Table
from ops.points_book import Asker, Voice
from ops.points_file import read_point
from ops.toml_lines import LineIndex

if TYPE_CHECKING:
    from ops.points import Point
    from ops.run_values import Origin

SHIP_IT = """\
name = "ship-it"
title = "Ship this build?"
capability = "inference"
[question]
type = "yesno"
instructions = "Ship only if the risk is low."
[inputs]
risk = "string"
[[deciders]]
kind = "table"
rows = [{ when = { risk = "low" }, answer = "yes" }, { when = { risk = { in = ["high", "severe"] } }, answer = "no" }]
[[deciders]]
kind = "model"
provider = "local"
model = "qwen"
threshold = 0.8
unreachable = "escalate"
[[deciders]]
kind = "quorum"
count = 1
roles = []
"""  # noqa: E501 - as it stands there
"""The file form as the specification shows it."""

NOW_S = 1_796_033_700.0


def point(text: str = SHIP_IT) -> Point:
    """Read a point that has no findings."""
    import tomllib

    findings = Findings("points/x.toml", LineIndex(text))
    found = read_point(Table(tomllib.loads(text), (), "", findings))
    assert findings.problems == []
    return found


def asker(steward: str | None = None, channel: Origin = "cli") -> Asker:
    return Asker(channel, actor="ann", steward=steward, op="release", env="local", run_id="r1")


def voice(name: str, *roles: str, attested: bool = True) -> Voice:
    return Voice(name, "cli" if attested else "acp", attested=attested, roles=roles)
