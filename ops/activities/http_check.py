"""`http_check`: ask a URL, compare status and text, try again a few times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ops.activities.polling import Patience, poll
from ops.durations import parse_duration
from ops.work import CallableWork

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.work import ActivityContext, WorkContext


def prepare(args: Mapping[str, Any], _context: ActivityContext) -> CallableWork:
    """Return the check."""
    from ops.activities.http_probe import Question, split_url

    url = args["url"]
    split_url(url)
    timeout_s = parse_duration(args.get("timeout", "10s"))
    question = Question(url, args.get("method", "GET"), args.get("headers", {}), timeout_s)
    wanted, contains = args.get("status", 200), args.get("contains", "")
    patience = Patience(parse_duration(args.get("interval", "1s")), args.get("retries", 0) + 1)

    def run(work: WorkContext) -> dict[str, Any]:
        tries = poll(work, url, lambda it: _difference(question, wanted, contains, it), patience)
        work.emit("stdout", f"{url}: {wanted}\n")
        return {"status": wanted, "tries": tries}

    return CallableWork("http_check", run)


def _difference(question: Any, wanted: int, contains: str, work: WorkContext) -> str | None:
    from ops.activities.http_probe import ask

    answer = ask(question, work)
    if isinstance(answer, str):
        return answer
    if answer.status != wanted:
        return f"status {answer.status}, not {wanted}"
    if contains.encode() not in answer.body:
        return f"the body does not contain {contains!r}"
    return None
