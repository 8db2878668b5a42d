"""The page as a browser draws it: headless Chromium, where it is installed."""

from __future__ import annotations

import shutil
import struct
import subprocess
import zlib
from html import escape
from typing import TYPE_CHECKING, Any

import pytest

from runtimes.chant.report.html import html_page
from tests.runtimes.chant.report.records import failed_run, step

if TYPE_CHECKING:
    from pathlib import Path

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
DARK = "--blink-settings=preferredColorScheme=0"
SIZE = (640, 1000)

Color = tuple[int, int, int]
LIGHT_PAGE, LIGHT_OK, LIGHT_FAIL = (0xF6, 0xF7, 0xF9), (0x1F, 0x88, 0x3D), (0xCF, 0x22, 0x2E)
DARK_PAGE, DARK_OK, DARK_FAIL = (0x0F, 0x13, 0x18), (0x3F, 0xB9, 0x50), (0xF8, 0x51, 0x49)

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")


def pixels(folder: Path, *flags: str) -> dict[Color, int]:
    """Draw the page and return how many pixels have which color."""
    page, shot = folder / "report.html", folder / "shot.png"
    page.write_text(html_page(failed_run(), "1.0"))
    argv = [str(CHROMIUM), *FLAGS, *flags, f"--user-data-dir={folder}/profile"]
    argv += [f"--window-size={SIZE[0]},{SIZE[1]}", "--hide-scrollbars", f"--screenshot={shot}"]
    subprocess.run([*argv, page.as_uri()], check=True, capture_output=True, timeout=100)
    return counted(shot.read_bytes())


def counted(png: bytes) -> dict[Color, int]:
    """Count the colors of a PNG with 8 bits a channel and no interlacing."""
    width, _height, depth, kind = struct.unpack(">IIBB", png[16:26])
    channels = {2: 3, 6: 4}[kind]
    assert (width, depth) == (SIZE[0], 8)
    at, data = 8, b""
    while at < len(png):
        size, name = struct.unpack(">I4s", png[at : at + 8])
        data += png[at + 8 : at + 8 + size] if name == b"IDAT" else b""
        at += 12 + size
    colors: dict[Color, int] = {}
    for row in _rows(zlib.decompress(data), width * channels, channels):
        for x in range(0, len(row), channels):
            color = (row[x], row[x + 1], row[x + 2])
            colors[color] = colors.get(color, 0) + 1
    return colors


def _rows(raw: bytes, size: int, step: int) -> list[bytearray]:
    rows: list[bytearray] = []
    above = bytearray(size)
    for begin in range(0, len(raw), size + 1):
        how, row = raw[begin], bytearray(raw[begin + 1 : begin + 1 + size])
        for i in range(size):
            left = row[i - step] if i >= step else 0
            corner = above[i - step] if i >= step else 0
            row[i] = (row[i] + _guess(how, left, above[i], corner)) & 0xFF
        rows.append(row)
        above = row
    return rows


def _guess(how: int, left: int, up: int, corner: int) -> int:
    if how < 3:
        return (0, left, up)[how]
    if how == 3:
        return (left + up) // 2
    near = left + up - corner
    return min((left, up, corner), key=lambda each: abs(near - each))


@pytest.mark.slow
def test_a_browser_draws_bars_on_a_light_page(tmp_path: Path) -> None:
    drawn = pixels(tmp_path)

    assert drawn[LIGHT_PAGE] > 10_000
    # Bars of 8 and of 2 seconds in 10, some 350 pixels wide and 15 high.
    assert drawn[LIGHT_OK] > 2000
    assert drawn[LIGHT_FAIL] > 500
    assert DARK_PAGE not in drawn


@pytest.mark.slow
def test_a_browser_that_prefers_dark_gets_dark(tmp_path: Path) -> None:
    drawn = pixels(tmp_path, DARK)

    assert drawn[DARK_PAGE] > 10_000
    assert drawn[DARK_OK] > 2000
    assert drawn[DARK_FAIL] > 500
    assert LIGHT_PAGE not in drawn


FRAMED = """<!doctype html><iframe id="phone" width="390" height="3000" srcdoc="%s"></iframe>
<script>
  onload = () => {
    const page = document.getElementById("phone").contentDocument;
    const far = [...page.querySelectorAll("body *")].filter(
      (each) => each.getBoundingClientRect().right > page.documentElement.clientWidth);
    const marks = [...page.querySelectorAll(".axis .at")].map(
      (each) => each.getBoundingClientRect()).filter((each) => each.width);
    const met = marks.filter((each, at) => at && each.left < marks[at - 1].right);
    document.body.textContent = "sticks out: " + (far.map((each) => each.outerHTML).join() || "-")
      + "; moments: " + marks.length + ", of which meet: " + met.length;
  };
</script>
"""
"""What of the page lies to the right of a phone's screen of 390 points, and what meets on it."""


@pytest.mark.slow
def test_on_a_phone_nothing_lies_beside_the_screen(tmp_path: Path) -> None:
    assert "sticks out: -;" in on_a_phone(tmp_path, failed_run())


@pytest.mark.slow
def test_on_a_phone_the_moments_of_a_timeline_can_be_read(tmp_path: Path) -> None:
    record = failed_run()
    record["phases"] = [
        {
            "name": "Build",
            "status": "ok",
            "on_failure": False,
            "steps": [step("pack", start_ms=0, duration_ms=256)],
        }
    ]
    record |= {"started": "2026-11-30T10:00:00.000Z", "ended": "2026-11-30T10:00:00.256Z"}

    assert "moments: 3, of which meet: 0" in on_a_phone(tmp_path, record)


def on_a_phone(tmp_path: Path, record: dict[str, Any]) -> str:
    page = tmp_path / "framed.html"
    page.write_text(FRAMED % escape(html_page(record, "1.0"), quote=True))

    argv = [str(CHROMIUM), *FLAGS, f"--user-data-dir={tmp_path}/profile", "--dump-dom"]
    run = subprocess.run(
        [*argv, page.as_uri()], check=True, capture_output=True, text=True, timeout=100
    )

    return run.stdout
