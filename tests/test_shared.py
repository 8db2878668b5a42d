"""Tests that depend on data outside the repository say so when it is absent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.shared import ABSENT, shared_path

if TYPE_CHECKING:
    from pathlib import Path


def test_absent_shared_data_skips_with_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHANTRY_SHARED", str(tmp_path))

    with pytest.raises(pytest.skip.Exception, match=f"{ABSENT}spec/absent.md"):
        shared_path("spec", "absent.md")


def test_present_shared_data_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHANTRY_SHARED", str(tmp_path))
    (tmp_path / "spec").mkdir()

    assert shared_path("spec") == tmp_path / "spec"
