from __future__ import annotations

from typing import Any

import pytest

from ops.errors import ActivityFailed
from ops.model import OutputRef, ParamRef
from ops.references import references, resolve

OUTPUTS = {"pack": {"stdout": "box.tar", "files": [{"name": "a"}]}}


def test_references_are_found_wherever_they_stand() -> None:
    args = {"a": {"param": "v"}, "b": [{"from": "pack"}, {"x": {"from": "pack", "path": "stdout"}}]}

    assert list(references(args)) == [
        ParamRef("v"),
        OutputRef("pack"),
        OutputRef("pack", "stdout"),
    ]


def test_every_reference_is_replaced_as_a_whole_value() -> None:
    args = {
        "v": {"param": "n"},
        "src": {"from": "pack", "path": "stdout"},
        "deep": [{"from": "pack", "path": "files.0.name"}],
        "data": {"from": "pack", "to": "x"},
    }

    assert resolve(args, {"n": 3}, OUTPUTS) == {
        "v": 3,
        "src": "box.tar",
        "deep": ["a"],
        "data": {"from": "pack", "to": "x"},
    }


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ({"param": "nope"}, "parameter 'nope' has no value"),
        ({"from": "nope"}, "step 'nope' has no output"),
        ({"from": "pack", "path": "stderr"}, "nothing at 'stderr'"),
        ({"from": "pack", "path": "files.9"}, "nothing at 'files.9'"),
        ({"from": "pack", "path": "stdout.x"}, "nothing at 'stdout.x'"),
    ],
)
def test_a_reference_to_nothing_is_an_error(reference: dict[str, Any], message: str) -> None:
    with pytest.raises(ActivityFailed, match=message):
        resolve({"x": reference}, {}, OUTPUTS)
