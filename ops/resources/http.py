"""The reader `http`."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from ops.activities.http_probe import Question, ask
from ops.errors import ActivityFailed
from ops.resources.reader import ABSENT, Observation, unobserved

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ops.resources.reader import Look

GONE = (404, 410)


def read(keys: Mapping[str, Any], look: Look) -> Observation:
    """See the table of readers."""
    headers = keys.get("headers", {})
    question = Question(keys["url"], keys.get("method", "GET"), headers, look.timeout_s)
    try:
        answer = ask(question, look)
    except ActivityFailed as error:
        return unobserved(error.message)
    if isinstance(answer, str):
        return unobserved(answer)
    if answer.status in GONE:
        return ABSENT
    facts: dict[str, Any] = {"status": answer.status}
    if keys.get("digest"):
        facts["sha256"] = hashlib.sha256(answer.body).hexdigest()
    if "contains" in keys:
        facts["contains"] = keys["contains"].encode() in answer.body
    return Observation("present", facts)
