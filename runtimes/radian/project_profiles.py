"""What a trusted project adds to the profile in use: rules.  It takes none away.

A name that the person knows means what the person says, and the project's rules come on top.
By a new name a project may extend what has a sandbox; ``full`` is for the person to say.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from runtimes.radian.config import ConfigError, ProfileConfig, profile_of
from runtimes.radian.profiles import PROFILE_NAMES
from runtimes.radian.settings import SettingsError

if TYPE_CHECKING:
    from runtimes.radian.profiles import ProfileName
    from runtimes.radian.session import SessionPlan
    from runtimes.radian.settings import Settings

NEW: tuple[ProfileName, ...] = ("read-only", "workspace")
"""What a profile of a new name may extend."""


def with_project_profile(plan: SessionPlan) -> SessionPlan:
    """Return the plan with what its project adds; of an untrusted one nothing is opened.

    Raises:
        SettingsError: The profile is nobody's, or what the project says of it is wrong.

    """
    settings = plan.settings
    try:
        found = _of_project(plan)
        if found is None:
            if settings.no_profile:
                raise SettingsError(settings.no_profile)
            return plan
        return replace(plan, settings=_joined(settings, *found))
    except ConfigError as error:
        raise SettingsError(str(error)) from error


def _of_project(plan: SessionPlan) -> tuple[ProfileConfig, str] | None:
    """Return what the project says of the profile in use, and where."""
    if not plan.trusted:
        return None
    from runtimes.models.json_text import table
    from runtimes.radian.project_config import read_project_config

    config, name = read_project_config(plan.workspace), plan.settings.profile_name
    profiles = table(config.tables.get("profiles"))
    if name not in profiles:
        return None
    where = f"{config.path}: profile {name}"
    if plan.settings.no_profile:
        return profile_of(profiles[name], where, NEW), where
    return profile_of(profiles[name], where, PROFILE_NAMES, plan.settings.profile), where


def _joined(settings: Settings, added: ProfileConfig, where: str) -> Settings:
    if settings.no_profile:
        return replace(settings, profile=added.extends, profile_rules=added, no_profile="")
    own, warnings = settings.profile_rules, settings.warnings
    if added.extends != own.extends:
        odd = f"{where}: extends {added.extends} is passed over, for it extends {own.extends}"
        warnings = (*warnings, odd)
    rules = ProfileConfig(own.extends, own.allow + added.allow, own.deny + added.deny)
    return replace(settings, profile_rules=rules, warnings=warnings)
