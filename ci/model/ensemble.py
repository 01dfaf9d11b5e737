"""What a final figure is measured over: conditions of a launch, and the ranges of constants."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from ci.model.frozen import Frozen

Condition: TypeAlias = Literal[
    "cold", "warm", "cold code, inputs in L2", "warm code, inputs in memory"
]
"""A kernel's code is in the caches (warm) or not, its inputs are in L2 or in the memory behind it.

`cold` means code and inputs, as `msprof op` sees a kernel; `warm` both, as in a running model,
where the kernel before has left its results in L2.
"""

Caches: TypeAlias = Literal["cold", "warm", "both"]
Inputs: TypeAlias = Literal["memory", "l2", "both"]

_ALL: Final[tuple[tuple[Caches, Inputs, Condition], ...]] = (
    ("cold", "memory", "cold"),
    ("warm", "l2", "warm"),
    ("cold", "l2", "cold code, inputs in L2"),
    ("warm", "memory", "warm code, inputs in memory"),
)


class Ensemble(Frozen):
    """The members that a launch is timed as."""

    conditions: tuple[Condition, ...] = ("cold",)
    """The first is what constants are moved in, and what a figure without more words means."""
    ranges: bool = False
    """Each constant that is assumed or loosely fitted is moved to both ends of its range too."""


def ensemble(conditions: Caches = "both", inputs: Inputs = "both", *, ranges: bool) -> Ensemble:
    """The ensemble of these conditions."""
    chosen = tuple(
        name
        for code, place, name in _ALL
        if conditions in (code, "both") and inputs in (place, "both")
    )
    return Ensemble(conditions=chosen, ranges=ranges)
