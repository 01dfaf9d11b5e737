"""The members of an ensemble on a device: which constants each puts in the place of others."""

from __future__ import annotations

from ci.model.ensemble import Condition, Ensemble
from rules.devices import Device

_INPUTS_IN_L2 = {"l2.inputs": 1.0}


def members_of(device: Device, ensemble: Ensemble) -> dict[str, dict[str, float]]:
    """By name, in an order that is always the same: the conditions, then a constant at a time.

    A member is named after its condition, or after what it moves: 'launch.us_per_core = 0.1',
    'vector.*.latency x 1.6'. One that moves nothing is left out.
    """
    conditions: dict[Condition, dict[str, float]] = {
        "cold": {},
        "warm": device.warm | _INPUTS_IN_L2,
        "cold code, inputs in L2": _INPUTS_IN_L2,
        "warm code, inputs in memory": device.warm,
    }
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
    return found


def _shown(value: float) -> str:
    """A constant's value: whole where it is large, else with four digits."""
    return f"{value:.0f}" if value >= 1000 else f"{value:.4g}"
