"""The strategies there are: one file each in this folder, found by being there."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import Any, Literal

from pydantic import Field, create_model

from ci.model.errors import InputError
from ci.model.frozen import Frozen
from ci.search.base import Strategy

DEFAULT = "handover"


@cache
def strategies() -> dict[str, type[Strategy]]:
    """Every strategy by its name, the default first."""
    found = {}
    for file in pkgutil.iter_modules(__path__):
        module = importlib.import_module(f"{__name__}.{file.name}")
        for one in vars(module).values():
            if (
                isinstance(one, type)
                and issubclass(one, Strategy)
                and one.__module__ == module.__name__
            ):
                found[one.name] = one
    return dict(sorted(found.items(), key=lambda item: (item[0] != DEFAULT, item[0])))


def strategy_options() -> type[Frozen]:
    """The options by which a strategy is chosen and set, for the command line."""
    known = strategies()
    told = "; ".join(f"{name}: {one.summary}" for name, one in known.items())
    fields: dict[str, Any] = {
        "strategy": (Literal[tuple(known)], Field(default=DEFAULT, description=f"{told}."))
    }
    for one in known.values():
        for option, field in one.Options.model_fields.items():
            known_as = fields.setdefault(option, (field.annotation, field))[1]
            assert known_as is field, f"two strategies have an option {option}"
    return create_model("StrategyOptions", __base__=Frozen, **fields)


def make_strategy(chosen: Frozen | None = None) -> Strategy:
    """The strategy that `strategy_options` chose with its own options; the default for None.

    Raises InputError when an option of another strategy is set.
    """
    given = (chosen or strategy_options()()).model_dump()
    made = strategies()[given["strategy"]]
    for other in strategies().values():
        for name, field in other.Options.model_fields.items():
            if name not in made.Options.model_fields and given[name] != field.default:
                raise InputError(
                    f"--{name.replace('_', '-')} is an option of the strategy {other.name}; "
                    f"{made.name} does not take it."
                )
    return made(made.Options(**{name: given[name] for name in made.Options.model_fields}))
