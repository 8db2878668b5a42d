"""A provider as a person has configured it.  Values only; see `runtimes.models.config_table`."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Literal, TypeAlias

from protocol.values import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping
    from decimal import Decimal

Kind: TypeAlias = Literal["openai-compatible", "openai", "anthropic", "gemini", "scripted"]
ReasoningBack: TypeAlias = Literal["with-calls", "always", "never"]
CallIds: TypeAlias = Literal["as-sent", "nine"]
NO_CREDENTIAL = "none"
"""As a credential: the server takes no key."""
IDLE_TIMEOUT_S = 120.0


class ScriptInvalid(ValueError):  # noqa: N818 - an answer to the person who wrote the script
    """The script of a scripted provider can't be played; the message says where it is wrong."""


@frozen
class ModelFacts:
    """What is known of a model.  None: nobody said; prices in US dollars per million tokens."""

    context_window: int | None = None
    max_output: int | None = None
    price_input: Decimal | None = None
    price_output: Decimal | None = None
    price_cache_read: Decimal | None = None
    price_cache_write: Decimal | None = None
    images: bool | None = None


UNKNOWN = ModelFacts()


@frozen
class ProviderConfig:
    """One `[providers.ID]` of a config file."""

    id: str
    kind: Kind
    base_url: str = ""
    """Empty: the vendor's own."""
    credential: str = ""
    """The name of a stored key; `NO_CREDENTIAL`; empty: the provider's id."""
    credential_env: str = ""
    """A variable that holds the key; wins over a stored one."""
    default_model: str = ""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    stream_idle_timeout_s: float = IDLE_TIMEOUT_S
    models: Mapping[str, ModelFacts] = field(default_factory=dict[str, ModelFacts])
    script: str = ""
    """For ``scripted``: the file, absolute."""
    omit: frozenset[str] = frozenset()
    """Optional fields that are never sent."""
    reasoning_back: ReasoningBack = "with-calls"
    """Which messages carry the model's reasoning when they are sent again (chat completions)."""
    call_ids: CallIds = "as-sent"
    """``nine``: ids of calls are turned into nine letters and digits (Mistral)."""

    def facts(self, model: str) -> ModelFacts:
        """Return what the config says of ``model``."""
        return self.models.get(model, UNKNOWN)

    @property
    def credential_name(self) -> str:
        """The stored key's name."""
        return self.credential or self.id
