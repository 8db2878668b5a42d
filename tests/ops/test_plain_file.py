from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from ops.plain_file import plain

if TYPE_CHECKING:
    from pathlib import Path


def test_a_file_is_opened_also_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text")
    (tmp_path / "link").symlink_to("file")

    with open(tmp_path / "link", opener=plain, encoding="utf-8") as stream:
        assert stream.read() == "text"


@pytest.mark.parametrize("kind", ["pipe", "device", "folder"])
def test_nothing_else_is(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "it"
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "device":
            path.symlink_to("/dev/zero")
        case _:
            path.mkdir()

    with pytest.raises(OSError, match=r"regular file|directory"), open(path, "rb", opener=plain):
        pass
