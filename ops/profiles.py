"""The profiles that every project has, and how its own join them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ops.model import Profile, Retry

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT_PROFILE = "quick"

BUILT_IN = {
    profile.name: profile
    for profile in (
        Profile("quick", 5 * 60.0),
        Profile("retry", 5 * 60.0, Retry(attempts=3, first_wait_s=5.0, factor=2.0)),
        Profile("long", 20 * 60.0),
        Profile("poll", 15 * 60.0, Retry(attempts=3, first_wait_s=10.0, factor=2.0)),
        Profile("human", 48 * 3600.0),
    )
}
"""One attempt unless the name promises more: a command that is run again by itself surprises."""


def all_profiles(own: Mapping[str, Profile]) -> dict[str, Profile]:
    """Return the built-in profiles with a project's ``own``, which win."""
    return {**BUILT_IN, **own}
