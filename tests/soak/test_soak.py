"""A short soak; `make soak` has the long one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.soak.soak import Soak

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
def test_a_server_loses_nothing_and_grows_by_nothing(tmp_path: Path) -> None:
    soak = Soak(tmp_path / "box", turns=200, kills=20, told=lambda _text: None)

    summary = soak.run()

    assert soak.problems == [], summary
    assert sum(soak.killed.values()) == 20
    assert len(soak.heard) > 200
