from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.ops.projects import git, repository
from tests.ops.test_ledger import ids, ledger, write_in_processes

if TYPE_CHECKING:
    from pathlib import Path

WRITERS = 200


@pytest.mark.slow
def test_two_hundred_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    repository(tmp_path)

    write_in_processes(tmp_path, WRITERS)

    lines = ledger(tmp_path).runs("local", "release")
    assert (sorted(ids(lines.records)), lines.damaged) == (sorted(map(str, range(WRITERS))), 0)
    assert git(tmp_path, "rev-list", "--count", "chant/lifecycle") == str(WRITERS)
