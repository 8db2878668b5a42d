"""What the tests of the page behind `radian` share; see `test_radian_seed`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.runtimes.radian.box import Box, make_box, objects

if TYPE_CHECKING:
    from pathlib import Path


MIB = 1 << 20
OUTPUTS = ("text", "json", "jsonl")
TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"


def far(box: Box, url: str, more: str = "") -> tuple[str, ...]:
    """Have a provider at an address, and return the flags that call it."""
    text = box.home.joinpath("config.toml").read_text().partition("\n[providers.far]")[0]
    box.home.joinpath("config.toml").write_text(
        f'{text}\n[providers.far]\nkind = "openai-compatible"\nbase_url = "{url}"\n'
        f'credential = "none"\ndefault_model = "m"\n{more}'
    )
    return ("--provider", "far")


def of_type(stdout: str, kind: str) -> list[dict[str, Any]]:
    return [each for each in objects(stdout) if each["type"] == kind]


PRICED = """
[providers.play.models.script]
price_input = "1"
price_output = "2"
price_cache_read = "0.1"
context_window = 1000
"""
USED = {
    "input_tokens": 10,
    "output_tokens": 5,
    "cache_read_tokens": 4,
    "cache_write_tokens": 2,
    "reasoning_tokens": 3,
}


def talker(folder: Path) -> Box:
    """Make a box whose model says `ok` again and again."""
    box = make_box(folder)
    box.play({"text": "ok"}, then="repeat-last")
    return box
