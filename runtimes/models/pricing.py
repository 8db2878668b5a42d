"""What a call costs, in whole micros of a US dollar; what nobody knows stays None.

Prices come from a person's config, else from genai-prices, whose data lies on the disk: nothing
is fetched.  Reading them takes some 100 ms, so ask on a thread that may wait.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from protocol.values import frozen

if TYPE_CHECKING:
    from datetime import datetime
    from decimal import Decimal

    from runtimes.models.base import Usage
    from runtimes.models.config import Kind, ModelFacts, ProviderConfig

MICROS = 1_000_000
"""Micros in a dollar, and tokens in the unit of prices."""
VENDORS: dict[Kind, str] = {"openai": "openai", "anthropic": "anthropic", "gemini": "google"}
"""Who is called by a config that names no address, as genai-prices calls them."""
BY_CONFIG = "config"
OWN_MACHINE = ("http://127.0.0.1", "http://localhost", "http://[::1]")
"""Servers that no list has a price for, so that the list need not be read."""


@frozen
class Cost:
    """What one call cost."""

    micros: int
    source: str
    """``config``, or genai-prices and its version."""


def cost_of(
    config: ProviderConfig, model: str, usage: Usage | None, at: datetime | None = None
) -> Cost | None:
    """Return the cost of a call that was made ``at`` (None: now), None if it can't be told."""
    if usage is None:
        return None
    facts = config.facts(model)
    if facts.price_input is not None or facts.price_output is not None:
        dollars = _by_config(facts, usage)
        return None if dollars is None else Cost(micros(dollars), BY_CONFIG)
    return _by_list(config, model, usage, at)


def is_priced(config: ProviderConfig, model: str) -> bool:
    """Tell whether calls of ``model`` will have a cost, as a limit of costs needs it."""
    from runtimes.models.base import Usage

    return cost_of(config, model, Usage(1, 1)) is not None


def context_window(config: ProviderConfig, model: str) -> int | None:
    """Return how many tokens fit into a conversation, None if nobody knows."""
    known = config.facts(model).context_window
    if known is not None:
        return known
    found = _listed(config, model)
    return None if found is None else found.model.context_window


def micros(dollars: Decimal) -> int:
    """Return whole micros, halves to the even one."""
    from decimal import ROUND_HALF_EVEN, Decimal

    return int((dollars * MICROS).quantize(Decimal(1), ROUND_HALF_EVEN))


def _by_config(facts: ModelFacts, usage: Usage) -> Decimal | None:
    """Price each kind of token once; a cache without a price of its own costs as input does."""
    from decimal import Decimal

    read, write = usage.cache_read_tokens or 0, usage.cache_write_tokens or 0
    priced = (
        (usage.input_tokens - read - write, facts.price_input),
        (read, facts.price_input if facts.price_cache_read is None else facts.price_cache_read),
        (write, facts.price_input if facts.price_cache_write is None else facts.price_cache_write),
        (usage.output_tokens, facts.price_output),
    )
    total = Decimal(0)
    for tokens, price in priced:
        if tokens and price is None:
            return None
        total += tokens * (price or Decimal(0))
    return total / MICROS


def _by_list(config: ProviderConfig, model: str, usage: Usage, at: datetime | None) -> Cost | None:
    found = _listed(config, model, usage, at)
    if found is None:
        return None
    import genai_prices

    return Cost(micros(found.total_price), f"genai-prices {genai_prices.__version__}")


def _listed(
    config: ProviderConfig, model: str, usage: Usage | None = None, at: datetime | None = None
) -> Any:
    """Look a model up at its own vendor: the same name elsewhere may cost something else."""
    vendor = VENDORS.get(config.kind)
    if config.kind == "scripted" or not (config.base_url or vendor):
        return None
    if config.base_url.startswith(OWN_MACHINE):
        return None
    import genai_prices

    counts = _counts(usage)
    try:
        if config.base_url:
            return genai_prices.calc_price(
                counts, model, provider_api_url=config.base_url, genai_request_timestamp=at
            )
        return genai_prices.calc_price(
            counts, model, provider_id=vendor, genai_request_timestamp=at
        )
    except (LookupError, ValueError):
        return None


def _counts(usage: Usage | None) -> Any:
    import genai_prices

    if usage is None:
        return genai_prices.Usage()
    return genai_prices.Usage(
        input_tokens=usage.input_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        output_tokens=usage.output_tokens,
    )
