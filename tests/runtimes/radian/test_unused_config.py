"""What is wrong in a part of the configuration that is not in use is told, and stops nobody."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from runtimes.radian.options import ConversationOptions
from runtimes.radian.settings import SettingsError, settings_for
from tests.runtimes.radian.box import Box, make_box

if TYPE_CHECKING:
    from pathlib import Path

WRONG = '\n[providers.far]\nkind = "anthropic"\nbase_ulr = "https://a.org"\n'
ABOUT = "provider far has an unknown key 'base_ulr'; did you mean 'base_url'?"


@pytest.fixture
def box(tmp_path: Path) -> Box:
    box = make_box(tmp_path)
    box.play({"text": "ok"})
    return box


def warnings(box: Box, profile: str = "") -> tuple[str, ...]:
    return settings_for(ConversationOptions(profile=profile), box.environ).warnings


def test_a_provider_that_is_not_used_is_checked_and_does_not_stop_a_turn(box: Box) -> None:
    box.configure(WRONG)

    run = box.run("exec", "-p", "go")

    assert (run.returncode, run.stdout) == (0, "ok\n")
    assert run.stderr.count(f"{box.home}/config.toml: {ABOUT} (far is not used now)") == 1


def test_the_provider_that_is_used_stops_it(box: Box) -> None:
    box.configure(WRONG)

    run = box.run("exec", "-p", "go", "--provider", "far", "--model", "m")

    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == f"radian exec: {box.home}/config.toml: {ABOUT}\n"


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ('[providers.b]\nkind = "telepathy"', "provider b: kind must be one of"),
        ('[providers.b]\nkind = "scripted"', "provider b: kind scripted needs a script"),
        ('[providers."a b"]\nkind = "gemini"', "provider a b: an id has letters"),
        ('[providers.b.models.m]\nimages = 3\n[providers.b]\nkind="gemini"', "images must be"),
        ('[profiles.ci]\nextends = "full"\nallow = ["shel(ls)"]', "did you mean shell?"),
    ],
)
def test_every_part_is_checked(box: Box, text: str, about: str) -> None:
    box.configure(f"\n{text}\n")

    (warning,) = warnings(box)

    assert warning.startswith(f"{box.home}/config.toml: ")
    assert about in warning


def test_a_profile_that_is_used_is_no_warning_but_a_mistake(box: Box) -> None:
    box.configure('\n[profiles.ci]\nextends = "full"\nallow = ["shel(ls)"]\n')
    assert warnings(box, profile="ci") == ()

    run = box.run("exec", "-p", "go", "--profile", "ci")

    assert run.returncode == 2
    assert "did you mean shell?" in run.stderr


def test_a_configuration_that_is_fine_has_no_warnings(box: Box) -> None:
    box.configure(WRONG.replace("base_ulr", "base_url"))
    box.configure('\n[profiles.ci]\nextends = "full"\nallow = ["read(~/x)", "shell(make *)"]\n')

    assert warnings(box) == ()


def test_a_key_that_no_table_knows_stops_all(box: Box) -> None:
    box.configure("\n[provders.b]\n")

    with pytest.raises(SettingsError, match="did you mean 'providers'"):
        warnings(box)
