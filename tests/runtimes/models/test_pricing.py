"""What calls cost: each kind of token once, in whole micros, and never a guess."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from runtimes.models.base import Usage
from runtimes.models.config import ModelFacts, ProviderConfig
from runtimes.models.pricing import Cost, context_window, cost_of, is_priced, micros

PRICED = ModelFacts(
    price_input=Decimal(3),
    price_output=Decimal(15),
    price_cache_read=Decimal("0.30"),
    price_cache_write=Decimal("3.75"),
)
AT = datetime(2026, 6, 1, tzinfo=UTC)


def local(facts: ModelFacts) -> ProviderConfig:
    return ProviderConfig(
        "local", "openai-compatible", "http://127.0.0.1:1/v1", models={"m": facts}
    )


def test_each_kind_of_token_is_priced_once() -> None:
    usage = Usage(10_003, 50, cache_read_tokens=9000, cache_write_tokens=1000)

    # 3 x 3 + 9000 x 0.30 + 1000 x 3.75 + 50 x 15 micros
    assert cost_of(local(PRICED), "m", usage) == Cost(9 + 2700 + 3750 + 750, "config")


def test_a_cache_without_a_price_of_its_own_costs_as_input_does() -> None:
    facts = ModelFacts(price_input=Decimal(3), price_output=Decimal(15))

    assert cost_of(local(facts), "m", Usage(10, 0, cache_read_tokens=4)) == Cost(30, "config")


def test_a_price_that_is_missing_makes_the_cost_unknown() -> None:
    facts = ModelFacts(price_input=Decimal(3))

    assert cost_of(local(facts), "m", Usage(10, 1)) is None


@pytest.mark.parametrize(
    ("dollars", "whole"),
    [
        ("0.0000005", 0),
        ("0.0000015", 2),
        ("0.0000025", 2),
        ("0.00000251", 3),
        ("12.345678", 12345678),
    ],
)
def test_halves_of_a_micro_go_to_the_even_one(dollars: str, whole: int) -> None:
    assert micros(Decimal(dollars)) == whole


def test_without_usage_there_is_no_cost() -> None:
    assert cost_of(local(PRICED), "m", None) is None


def test_an_unknown_model_has_no_cost() -> None:
    config = ProviderConfig("openai", "openai")

    assert cost_of(config, "no-such-model", Usage(1, 1)) is None
    assert not is_priced(config, "no-such-model")
    assert context_window(config, "no-such-model") is None


def test_a_known_name_at_an_unknown_address_has_no_price() -> None:
    assert cost_of(local(ModelFacts()), "gpt-5", Usage(1000, 10)) is None


def test_a_listed_model_costs_what_the_list_says() -> None:
    config = ProviderConfig("anthropic", "anthropic")
    usage = Usage(1000, 10, cache_read_tokens=500)

    cost = cost_of(config, "claude-sonnet-4-5", usage, AT)

    # 500 x 3 + 500 x 0.30 + 10 x 15 micros
    assert cost is not None
    assert cost.micros == 1800
    assert cost.source.startswith("genai-prices ")
    assert is_priced(config, "claude-sonnet-4-5")
    assert context_window(config, "claude-sonnet-4-5") == 200_000


def test_a_vendors_address_is_enough_to_find_its_prices() -> None:
    config = ProviderConfig("ds", "openai-compatible", "https://api.deepseek.com")

    assert is_priced(config, "deepseek-chat")


def test_the_config_beats_the_list() -> None:
    config = replace(ProviderConfig("anthropic", "anthropic"), models={"claude-sonnet-4-5": PRICED})

    cost = cost_of(config, "claude-sonnet-4-5", Usage(1, 0))

    assert cost == Cost(3, "config")


def test_a_script_costs_nothing_that_could_be_told() -> None:
    assert cost_of(ProviderConfig("play", "scripted"), "m", Usage(1, 1)) is None
