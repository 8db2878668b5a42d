from __future__ import annotations

import json

import pytest

from protocol.methods import METHODS, lookup
from tests.shared import shared_path


def test_the_table_holds_exactly_the_methods_of_the_schema() -> None:
    schema = json.loads(shared_path("acp-schema", "v1-sdk-2.4.0.json").read_text("utf-8"))
    published = {
        (definition["x-method"], definition["x-side"], "Notification" in name)
        for name, definition in schema["$defs"].items()
        if "x-method" in definition and not name.endswith("Response")
    }
    receiver = {"client": "agent", "agent": "client", "both": "protocol"}

    assert published == {
        (method.name, receiver[method.sender], method.kind == "notification")
        for method in METHODS.values()
    }


@pytest.mark.parametrize("name", ["", "_x", "rpc.x", "Session/new", "session/fork", "session/new "])
def test_a_method_that_v1_lacks_is_not_found(name: str) -> None:
    assert lookup(name) is None


def test_before_initialize_only_initialize_and_cancel_request_may_come() -> None:
    early = {method.name for method in METHODS.values() if method.phase == "any"}

    assert early == {"initialize", "$/cancel_request"}


def test_the_baseline_of_an_agent_needs_no_capability() -> None:
    baseline = {m.name for m in METHODS.values() if m.baseline and m.sender == "client"}

    assert baseline == {"initialize", "session/new", "session/prompt", "session/cancel"}
    load = lookup("session/load")
    assert load is not None
    assert load.opened_by == "loadSession"
