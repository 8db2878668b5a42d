"""What flags and configuration come to: which model is called, and what it may do."""

from __future__ import annotations

import os
from dataclasses import field
from typing import TYPE_CHECKING, Any, get_args

from protocol.values import frozen
from runtimes.models.config import Kind, ProviderConfig
from runtimes.models.config_table import ConfigInvalid, provider_config
from runtimes.models.credentials import radian_home
from runtimes.radian.config import FILE, Config, ConfigError, ProfileConfig, read_config
from runtimes.radian.profiles import DEFAULT_PROFILE, PROFILE_NAMES
from runtimes.radian.rules import RuleInvalidError, Rules, parse_rules
from runtimes.radian.turn_state import Limits

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from runtimes.models.base import Effort
    from runtimes.radian.hook_config import Hook
    from runtimes.radian.options import ConversationOptions
    from runtimes.radian.profiles import ProfileName

NEEDS_CONFIG = ("openai-compatible", "scripted")
"""Kinds of provider that can't be called by their kind alone."""


UNTRUSTED = (
    "the project here is not trusted: its AGENTS.md and .radian are not loaded; see: radian trust"
)


class SettingsError(Exception):
    """Flags and configuration don't come to anything usable; one line for people."""


@frozen
class Settings:
    """How the turns of this process are done."""

    home: str
    """Radian's own folder."""
    provider: ProviderConfig
    model: str
    profile_name: str
    """As it was asked for: one of the three, or one of the configuration."""
    profile: ProfileName
    profile_rules: ProfileConfig
    no_profile: str
    """Why there is none of that name, unless the project has it; see `project_profiles`."""
    allow: tuple[str, ...]
    deny: tuple[str, ...]
    effort: Effort | None
    limits: Limits
    user_config: bool = True
    """Files in that folder that a person wrote are read."""
    key_variables: frozenset[str] = frozenset()
    """Variables that hold keys of providers."""
    hooks: tuple[Hook, ...] = ()
    """A person's own."""
    config_path: str = ""
    mcp_servers: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Of that file, as it was parsed."""
    mcp_config: tuple[str, ...] = ()
    """Each ``--mcp-config``."""
    warnings: tuple[str, ...] = ()
    """What is wrong in parts of that file that are not in use."""

    def rules(self, workspace: str, home: str) -> Rules:
        """Return all permission rules, for a workspace and a person's home (both resolved).

        Raises:
            SettingsError: One of them can't be read.

        """
        own = self.profile_rules
        try:
            return parse_rules(
                self.allow, self.deny, "flag", workspace=workspace, home=home
            ) + parse_rules(own.allow, own.deny, "profile", workspace=workspace, home=home)
        except RuleInvalidError as error:
            raise SettingsError(str(error)) from error


def settings_for(options: ConversationOptions, environ: Mapping[str, str]) -> Settings:
    """Read the configuration and join it with the flags, which win.

    Raises:
        SettingsError: They don't come to anything.

    """
    home = radian_home(environ)
    try:
        config = read_config(home) if options.user_config else Config(os.path.join(home, FILE))
        provider = _provider(options.provider or config.default_provider, config)
    except (ConfigError, ConfigInvalid) as error:
        raise SettingsError(str(error)) from error
    model = options.model or provider.default_model or ("script" if _plays(provider) else "")
    if not model:
        message = f"no model: give --model, or set default_model of provider {provider.id}"
        raise SettingsError(message)
    name = options.profile or DEFAULT_PROFILE
    profile = _profile(name, config)
    known = ", ".join([*PROFILE_NAMES, *sorted(config.profiles)])
    settings = Settings(
        home=home,
        provider=provider,
        model=model,
        profile_name=name,
        profile=profile.extends if profile else PROFILE_NAMES[0],
        profile_rules=profile or ProfileConfig(PROFILE_NAMES[0]),
        no_profile="" if profile else f"no profile {name!r}; known: {known}",
        allow=options.allow,
        deny=options.deny,
        effort=options.effort,
        limits=Limits(
            options.max_model_calls,
            options.max_cost_micros,
            options.max_output_tokens,
            options.turn_timeout_s,
            provider.facts(model).max_output,
        ),
        user_config=options.user_config,
        key_variables=config.key_variables,
        hooks=config.hooks,
        config_path=config.path,
        mcp_servers=config.mcp_servers,
        mcp_config=options.mcp_config,
        warnings=tuple(_unused_faults(config, provider.id, name)),
    )
    _check_price(settings)
    return settings


def trusts(options: ConversationOptions, workspace: str, home: str) -> tuple[bool, str]:
    """Tell whether the project in ``workspace`` is trusted, and what to say about it, if anything.

    Touches nothing of the project.
    """
    if options.trust is not None:
        return options.trust, ""
    from runtimes.radian.home import trust_file_of
    from runtimes.radian.trust import TrustInvalidError

    try:
        found = trust_file_of(home).look_up(workspace)
    except TrustInvalidError as error:
        return False, str(error)
    return found.trusted, "" if found.listed else UNTRUSTED


def known_providers(config: Config) -> list[str]:
    """Return the ids that may be asked for: those of the file, and vendors that need none."""
    vendors: tuple[Kind, ...] = get_args(Kind)
    return [*sorted(config.providers), *(each for each in vendors if each not in NEEDS_CONFIG)]


def _provider(name: str, config: Config) -> ProviderConfig:
    if not name:
        message = f"no provider: give --provider, or set default_provider in {config.path}"
        raise SettingsError(message)
    if name in config.providers:
        try:
            return provider_config(name, config.providers[name], config.folder)
        except ConfigInvalid as error:
            message = f"{config.path}: {error}"
            raise SettingsError(message) from error
    kinds: tuple[Kind, ...] = get_args(Kind)
    kind: Kind | None = next((each for each in kinds if each == name), None)
    if kind is None or kind in NEEDS_CONFIG:
        known = ", ".join(known_providers(config))
        message = f"no provider {name!r} in {config.path}; known: {known}"
        raise SettingsError(message)
    return ProviderConfig(id=name, kind=kind)


def _profile(name: str, config: Config) -> ProfileConfig | None:
    if name in config.profiles:
        return config.profiles[name]
    found: ProfileName | None = next((each for each in PROFILE_NAMES if each == name), None)
    return None if found is None else ProfileConfig(found)


def _unused_faults(config: Config, provider: str, profile: str) -> Iterator[str]:
    """Tell what would be refused if another provider or profile were asked for."""
    for name, table in config.providers.items():
        if name != provider:
            try:
                provider_config(name, table, config.folder)
            except ConfigInvalid as error:
                yield f"{config.path}: {error} ({name} is not used now)"
    for name, rules in config.profiles.items():
        if name != profile:
            try:
                parse_rules(rules.allow, rules.deny, "profile", workspace="/", home="/")
            except RuleInvalidError as error:
                yield f"{config.path}: profile {name}: {error} (it is not used now)"


def _check_price(settings: Settings) -> None:
    """Refuse a limit of costs where no cost will ever be known."""
    if settings.limits.cost_micros is None:
        return
    from runtimes.models.pricing import is_priced

    if not is_priced(settings.provider, settings.model):
        message = (
            f"--max-cost needs a price, and {settings.model} of {settings.provider.id} has none"
        )
        raise SettingsError(message)


def _plays(provider: ProviderConfig) -> bool:
    return provider.kind == "scripted"
