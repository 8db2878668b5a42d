"""Every test has a home and a workspace of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.runtimes.radian.box import Box, make_box

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def box(tmp_path: Path) -> Box:
    """A person's home with a model that plays a script, and a workspace that is trusted."""
    return make_box(tmp_path)
