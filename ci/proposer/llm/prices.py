"""What a model costs: the price next to it in the models file, else the table rules/prices.yml."""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import Field

from ci.model.frozen import Frozen
from ci.model.yaml_model import read_file
from ci.proposer.llm.settings import ModelSettings, Price
from rules.load import RULES

TABLE = RULES / "prices.yml"
_DATED = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{8})$")


class PriceRow(Price):
    """One line of the table."""

    model: str
    endpoint: str
    output: float = Field(ge=0)
    source: str = Field(min_length=1)
    date: date


class PriceTable(Frozen):
    """Every known price, in one currency."""

    currency: str
    prices: tuple[PriceRow, ...]


@lru_cache(maxsize=4)
def load_prices(path: Path = TABLE) -> PriceTable:
    """The table; raises InputError with file and fault."""
    return read_file(PriceTable, path)


def price_of(model: ModelSettings) -> Price | None:
    """The price of a model, None when nobody knows it."""
    if model.price is not None:
        return model.price
    table = load_prices()
    host = urlsplit(model.endpoint).hostname
    name = _DATED.sub("", model.model)
    for row in table.prices:
        if row.model == name and row.endpoint == host:
            return row.model_copy(update={"currency": table.currency})
    return None
