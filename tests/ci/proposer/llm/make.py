"""Models that point at a loopback server, and runs for them."""

from __future__ import annotations

from pathlib import Path

from ci.model.budget import Budget
from ci.proposer.base import RunContext
from ci.proposer.llm.settings import ROLES, Models, ModelSettings, Price
from ci.testing.scale_shift import WORKLOAD
from tests.ci.proposer.llm.server import ModelServer

PRICE = Price(input=1.0, cached_input=0.1, output=4.0)


def model_at(server: ModelServer, **changes: object) -> ModelSettings:
    """A model of the server that is not waited for between attempts."""
    given = {"model": "small", "endpoint": server.url, "backoff": 0.0, "price": PRICE, **changes}
    return ModelSettings.model_validate(given)


def models_at(server: ModelServer, **changes: object) -> Models:
    """One model of the server for all six roles."""
    return Models(models={"one": model_at(server, **changes)}, roles=dict.fromkeys(ROLES, "one"))


def run_at(
    calls: Path, *, tokens: int | None = None, money: float | None = None, upcoming: int = 1
) -> RunContext:
    """A run whose ledger is in `calls`."""
    budget = Budget(10, tokens=tokens, money=money)
    return RunContext(calls, budget, lambda: upcoming, WORKLOAD, "910B4")
