"""The arms of `bench strategies`: which strategy with which settings, under which name."""

from __future__ import annotations

from typing import Final

from ci.model.errors import InputError
from ci.search.base import Strategy
from ci.search.strategies import strategies, strategies_in
from lab.model.strategies import Arm

ARMS: Final = (
    Arm(name="handover", title="Algorithm 1, then adaptive", strategy="handover"),
    Arm(name="adaptive", title="adaptive", strategy="adaptive"),
    Arm(name="ascendoptimizer", title="Algorithm 1", strategy="ascendoptimizer"),
    Arm(name="tiling", title="adaptive, tiling alone", strategy="adaptive", stage="tiling"),
    Arm(name="kernel", title="adaptive, kernel alone", strategy="adaptive", stage="kernel"),
    Arm(name="no_bank", title="adaptive, without bank", strategy="adaptive", bank=False),
    Arm(name="best_of_n", title="best of n", strategy="best_of_n", shorter=(5, 10, 20)),
    Arm(name="random", title="random", strategy="random_search"),
    # Its memory begins empty, as published: nobody gave it experience.
    Arm(name="accelopt", title="AccelOpt", strategy="accelopt", bank=False),
    Arm(name="openevolve", title="OpenEvolve", strategy="openevolve"),
)
"""Arms: those with a name of their own; every strategy is an arm under its name next to them."""


def known_strategies() -> dict[str, type[Strategy]]:
    """The product's strategies and those that they are compared with, by name."""
    return strategies() | strategies_in("lab.strategies")


def chosen_arms(names: str) -> tuple[Arm, ...]:
    """The arms that a list with commas names, in its order; raises `InputError`."""
    known = {name: Arm(name=name, title=name, strategy=name) for name in known_strategies()}
    known |= {arm.name: arm for arm in ARMS}
    wanted = list(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))
    unknown = [name for name in wanted if name not in known]
    if unknown or not wanted:
        raise InputError(
            f"There is no strategy {', '.join(unknown) or 'given'}; known: {', '.join(known)}."
        )
    arms = tuple(known[name] for name in wanted)
    for arm in arms:
        strategy_of(arm)  # one that lacks its package is said before anything runs
    return arms


def strategy_of(arm: Arm) -> Strategy:
    """The strategy of an arm with its options; raises `InputError` when it cannot be had."""
    made = known_strategies()[arm.strategy]
    return made(made.Options(**arm.options))
