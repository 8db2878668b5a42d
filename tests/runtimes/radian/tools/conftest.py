"""A bench for each test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.runtimes.radian.tools.bench import Bench

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """Make a workspace under the profile ``workspace``."""
    made = Bench(tmp_path)
    yield made
    made.close()
