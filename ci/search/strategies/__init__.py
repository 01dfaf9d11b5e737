"""The strategies: one file each in this folder, found by being there, and those of plug-ins."""

from __future__ import annotations

import importlib
import os
import pkgutil
from functools import cache
from typing import Any, Literal

from pydantic import Field, create_model

from ci.model.errors import InputError
from ci.model.frozen import Frozen
from ci.search.base import Strategy

DEFAULT = "handover"
MORE = "ASCENDOPT_STRATEGIES"


@cache
def strategies() -> dict[str, type[Strategy]]:
    """Every strategy by its name, the default first.

    Those of this folder, and of the packages that ASCENDOPT_STRATEGIES names with commas between
    them. Raises InputError when there is no such package.
    """
    found = strategies_in(__name__)
    for package in os.environ.get(MORE, "").split(","):
        if package.strip():
            found |= strategies_in(package.strip())
    return dict(sorted(found.items(), key=lambda item: (item[0] != DEFAULT, item[0])))


def strategies_in(package: str) -> dict[str, type[Strategy]]:
    """The strategies of a package, one a module, by their names.

    Raises InputError when the package or one of its modules cannot be imported.
    """
    found = {}
    try:
        folder = importlib.import_module(package)
        for file in pkgutil.iter_modules(folder.__path__):
            module = importlib.import_module(f"{package}.{file.name}")
            for one in vars(module).values():
                if (
                    isinstance(one, type)
                    and issubclass(one, Strategy)
                    and one.__module__ == module.__name__
                ):
                    found[one.name] = one
    except (ImportError, AttributeError) as problem:
        raise InputError(f"{package} is no package of strategies: {problem}.") from problem
    return found


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
