"""The members of an ensemble on a device: which constants each puts in the place of others."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ci.model.ensemble import JOINT, Condition, Ensemble
from rules.devices import Device

DRAWS: Final = 12
"""Members that move all constants at once, of each condition."""

LEAST_FACTOR: Final = 0.1
"""Where a range begins at nothing."""

_INPUTS_IN_L2 = {"l2.inputs": 1.0}
_FULL_OF_WRITTEN = {"l2.written": 1.0}


def states(device: Device) -> dict[Condition, dict[str, float]]:
    """The states a launch may start in: the constants that differ from those of a cold one."""
    return {
        "cold": {},
        "warm": device.warm | _INPUTS_IN_L2,
        "cold code, inputs in L2": _INPUTS_IN_L2,
        "warm code, inputs in memory": device.warm,
        "warm code, dirty cache": device.warm | _FULL_OF_WRITTEN,
    }


def members_of(
    device: Device, ensemble: Ensemble, state: Condition = "cold"
) -> dict[str, dict[str, float]]:
    """Return the members by name, in a fixed order.

    First come the conditions, then one constant at a time, then draws of all constants at once,
    around each condition.

    They replace constants of a launch that is timed in `state`. A member is named after its
    condition, or after what it moves: 'launch.us_per_core = 0.1', 'vector.*.latency x 1.6'. One
    that moves nothing is left out.
    """
    known = states(device)
    nominal = {name: device.number(name) for name in known[state]}
    conditions = {name: nominal | moved for name, moved in known.items()}
    found: dict[str, dict[str, float]] = {one: conditions[one] for one in ensemble.conditions}
    if not ensemble.ranges:
        return found
    base = conditions[ensemble.conditions[0]]
    for pattern, factors in device.ranges.items():
        for factor in factors:
            own = {name: base.get(name, device.number(name)) for name in device.named(pattern)}
            moved = {name: value * factor for name, value in own.items()}
            if moved == own:
                continue
            name = f"{pattern} x {factor:g}"
            if pattern in moved:
                name = f"{pattern} = {_shown(moved[pattern])}"
            found[name] = base | moved
    for condition in ensemble.conditions:
        own = {name: device.number(name) for name in device.constants} | conditions[condition]
        for number, draw in enumerate(_draws(device), 1):
            drawn = {name: own[name] * factor for name, factor in draw.items()}
            found[f"{JOINT}, draw {number}, {condition}"] = conditions[condition] | drawn
    return found


@lru_cache(maxsize=4)
def _sample(dimensions: int) -> NDArray[np.float64]:
    """A Latin hypercube of `DRAWS` x `dimensions` within 0 to 1, always the same.

    That of scipy.stats.qmc, which takes longer to import than a small operator takes to be judged.
    """
    (random,) = np.random.default_rng(1).spawn(1)
    within = random.uniform(size=(DRAWS, dimensions))
    cells = np.tile(np.arange(1, DRAWS + 1), (dimensions, 1))
    for cell in cells:
        random.shuffle(cell)
    return (cells.T - within) / DRAWS


def _draws(device: Device) -> list[dict[str, float]]:
    """Factors by constant: half of the draws lie below a constant's value, half above, evenly by
    the logarithm of the factor."""
    drawn: list[dict[str, float]] = []
    for point in _sample(len(device.ranges)):
        factors: dict[str, float] = {}
        for place, (pattern, (low, high)) in zip(point, device.ranges.items(), strict=True):
            end = max(low, LEAST_FACTOR) if place < 0.5 else high  # noqa: PLR2004
            factor = float(end ** abs(2 * place - 1))
            for name in device.named(pattern):
                factors[name] = factors.get(name, 1.0) * factor
        drawn.append(factors)
    return drawn


def _shown(value: float) -> str:
    """A constant's value: whole where it is large, else with four digits."""
    return f"{value:.0f}" if value >= 1000 else f"{value:.4g}"
