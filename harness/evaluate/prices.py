"""The user's prices: a TOML file with a currency, a date, and a price per million input tokens for each model.

currency = "USD"
date = 2026-11-01

[per_million_input_tokens]
o200k_base = 2.5
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.data import DataError
from harness.data.user_files import read_toml

_TABLE = "per_million_input_tokens"
_KEYS = {"currency", "date", _TABLE}


@dataclass(frozen=True, slots=True)
class Prices:
    """The price of a million input tokens by model."""

    by_model: dict[str, float] = field(default_factory=dict)
    currency: str | None = None
    date: str | None = None

    def of(self, model: str) -> float | None:
        """Return the price of a model; None if it was not given."""
        return self.by_model.get(model)


def given_prices(given: Sequence[str], models: Sequence[str]) -> dict[str, float]:
    """Return the prices of `MODEL=AMOUNT`, or of an amount alone if there is one model; raise `DataError`."""
    prices = {}
    for text in given:
        model, equals, amount = text.rpartition("=")
        if not equals and len(set(models)) != 1:
            raise DataError(f"--price {text}: name the vocabulary it is for, as in --price {models[0]}={text}")
        model = model if equals else models[0]
        if model not in models:
            raise DataError(f"--price {text}: {model!r} is not one of the vocabularies (-m)")
        try:
            prices[model] = float(amount)
        except ValueError:
            prices[model] = -1.0
        if not 0 <= prices[model] < math.inf:
            raise DataError(f"--price {text}: {amount!r} is not an amount of 0 or more")
    return prices


def read_prices(file: Path) -> Prices:
    """Return the prices of a file; raise `DataError` naming the invalid entry."""
    document = read_toml(file, _KEYS)
    currency, date, by_model = document.get("currency"), document.get("date"), document.get(_TABLE)
    if not isinstance(currency, str) or not currency.strip():
        raise DataError(f'{file}: needs a currency, as in currency = "USD"')
    if not isinstance(date, datetime.date):
        raise DataError(f"{file}: needs the date of its prices, as in date = 2026-11-01")
    if not isinstance(by_model, dict) or not by_model:
        raise DataError(f"{file}: needs a table [{_TABLE}] of model = price")
    for model, price in by_model.items():
        if isinstance(price, bool) or not isinstance(price, int | float) or not 0 <= price < math.inf:
            raise DataError(f"{file}: the price of {model!r} must be a number of 0 or more, not {price!r}")
    prices = {model: float(price) for model, price in by_model.items()}
    return Prices(prices, currency, date.isoformat())
