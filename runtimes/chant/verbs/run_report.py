"""``chant run report``: a run as Markdown or as one HTML page."""

from __future__ import annotations

from runtimes.chant.verbs.flags import ENV
from runtimes.chant.verbs.verb import (
    OK,
    REFUSED,
    USAGE,
    Flag,
    Invocation,
    Outcome,
    Param,
    Surroundings,
    Verb,
)

FORMATS = ("markdown", "html")


def answer(invocation: Invocation, around: Surroundings) -> Outcome:
    """Make the report; with --out write it, whole or not at all."""
    from ops.errors import ParamInvalid, unknown
    from ops.whole_file import whole_file
    from runtimes.chant.finding_runs import find_run
    from runtimes.chant.place import ledger_of, place_of
    from runtimes.chant.report.html import html_page
    from runtimes.chant.report.markdown import markdown
    from runtimes.chant.verbs.writing import path_to_write
    from runtimes.version import VERSION

    out = invocation.value("--out")
    usual = "html" if out and out.endswith((".html", ".htm")) else "markdown"
    asked = invocation.value("--format") or usual
    if asked not in FORMATS:
        raise ParamInvalid(unknown("format", asked, FORMATS))
    place = place_of(invocation, around)
    record = find_run(place, ledger_of(place.project), invocation.param("RUN"))
    text = html_page(record, VERSION) if asked == "html" else markdown(record)
    document = {"run_id": record["id"], "format": asked, "file": None, "report": text}
    if out is None:
        return Outcome(OK, document, text.rstrip("\n"))
    path = path_to_write(around, out)
    with whole_file(path) as stream:
        stream.write(text.encode(errors="replace"))
    return Outcome(OK, {**document, "file": path, "report": None}, f"wrote {path}")


RUN_REPORT = Verb(
    path=("run", "report"),
    summary="Report on a run as Markdown, or as one HTML page with a timeline",
    handler=answer,
    document='{"run_id", "format", "file" (with --out), "report" (without)}',
    params=(Param("RUN", "an Op, for its newest run, or the id of a run"),),
    own_flags=(
        Flag("--format", "markdown or html; markdown unless --out ends in .html", "FORMAT"),
        Flag("--out", "write it to this file", "FILE"),
        ENV,
    ),
    exit_codes=(OK, USAGE, REFUSED),
)
