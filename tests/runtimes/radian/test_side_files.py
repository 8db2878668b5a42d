"""Pictures and long outputs beside a journal."""

from __future__ import annotations

import base64
import hashlib
import os
import stat
from typing import TYPE_CHECKING

import pytest

from actors.faults import NoFaults
from runtimes.radian.records import ImageFile
from runtimes.radian.session_errors import JournalError
from runtimes.radian.side_files import SideFiles, image_name

if TYPE_CHECKING:
    from pathlib import Path

    from actors.faults import Verdict


@pytest.fixture
def files(tmp_path: Path) -> SideFiles:
    return SideFiles(str(tmp_path / "s1.files"))


def test_a_picture_is_kept_once_under_its_digest(files: SideFiles) -> None:
    image = files.keep_image(b"picture", "image/png")
    inode = os.stat(files.path(image_name(image))).st_ino

    assert files.keep_image(b"picture", "image/png") == image
    assert image == ImageFile(hashlib.sha256(b"picture").hexdigest(), "image/png")
    assert os.listdir(files.folder) == [f"{image.digest}.png"]
    assert os.stat(files.path(image_name(image))).st_ino == inode
    assert files.load_image(image) == base64.b64encode(b"picture").decode()


def test_only_the_owner_may_look(files: SideFiles) -> None:
    files.keep("out.txt", b"x")

    assert stat.S_IMODE(os.stat(files.folder).st_mode) == 0o700
    assert stat.S_IMODE(os.stat(files.path("out.txt")).st_mode) == 0o600


def test_a_picture_that_is_gone_or_changed_is_none(files: SideFiles) -> None:
    image = files.keep_image(b"picture", "image/png")
    with open(files.path(image_name(image)), "wb") as stream:
        stream.write(b"another")

    assert files.load_image(image) is None
    os.unlink(files.path(image_name(image)))
    assert files.load_image(image) is None


def test_a_half_written_file_is_written_anew(files: SideFiles) -> None:
    files.keep("out.txt", b"ha")

    files.keep("out.txt", b"half no more")

    assert files.load("out.txt") == b"half no more"


def test_a_name_never_leads_out_of_the_folder(files: SideFiles) -> None:
    assert files.path("../../etc/passwd") == os.path.join(files.folder, "passwd")
    assert image_name(ImageFile("../x", "text/html")) == "x.bin"


class _NoRoom(NoFaults):
    def at(self, name: str, who: str = "") -> Verdict:
        raise OSError(28, os.strerror(28), f"{name} {who}")


def test_a_full_disk_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    full = SideFiles(str(tmp_path / "s1.files"), _NoRoom())

    with pytest.raises(JournalError, match="No space left"):
        full.keep("out.txt", b"x")

    assert full.load("out.txt") is None


def test_links_that_fail_are_told_and_missing_sources_stay_away(
    files: SideFiles, tmp_path: Path
) -> None:
    files.keep("out.txt", b"x")
    full = SideFiles(str(tmp_path / "s2.files"), _NoRoom())

    with pytest.raises(JournalError, match="can't be linked"):
        full.link(["out.txt"], files)

    other = SideFiles(str(tmp_path / "s3.files"))
    other.link(["gone.txt", "out.txt", "out.txt"], files)
    assert os.listdir(other.folder) == ["out.txt"]
