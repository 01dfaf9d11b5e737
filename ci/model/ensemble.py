"""The ensemble of a final figure: conditions of a launch, and the ranges of constants."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, get_args

from ci.model.frozen import Frozen

Condition: TypeAlias = Literal[
    "cold",
    "warm",
    "cold code, inputs in L2",
    "warm code, inputs in memory",
    "warm code, dirty cache",
]
"""The state that a launch starts in: a kernel's code is in the caches (warm) or not, its inputs are
in L2 or in the memory behind it, and L2 holds nothing else of use or what others have written.

`cold` means code and inputs, as `msprof op` sees a kernel; `warm` both, as in a running model,
where the kernel before has left its results in L2. `warm code, dirty cache` is the running model
whose kernels before have filled L2 with other results: the inputs are in the memory, and each line
that comes in or is stored puts out one that must be written back.
"""

CONDITIONS: Final = get_args(Condition)
"""All of them, by name."""

Caches: TypeAlias = Literal["cold", "warm", "both"]
Inputs: TypeAlias = Literal["memory", "l2", "dirty", "both", "all"]

_ALL: Final[tuple[tuple[Caches, Inputs, Condition], ...]] = (
    ("cold", "memory", "cold"),
    ("warm", "l2", "warm"),
    ("cold", "l2", "cold code, inputs in L2"),
    ("warm", "memory", "warm code, inputs in memory"),
    ("warm", "dirty", "warm code, dirty cache"),
)


JOINT: Final = "all constants moved"
"""How the name of a member begins that moves all constants at once."""


def is_joint(member: str) -> bool:
    """Whether a member moves all constants at once."""
    return member.startswith(JOINT)


def draw_of(member: str) -> str:
    """A member that moves all constants, without the condition that it is timed in."""
    return next((member[: -len(c)] for c in CONDITIONS if member.endswith(f", {c}")), member)


class Ensemble(Frozen):
    """The members that a launch is timed as."""

    conditions: tuple[Condition, ...] = ("cold",)
    """The first is what constants are moved in, and what a figure without more words means."""
    ranges: bool = False
    """Each constant that is assumed or loosely fitted is moved to both ends of its range too, one
    at a time in the first condition, and all of them at once by draws in each."""

    @property
    def states(self) -> Ensemble:
        """Its conditions alone: the states that a launch may start from."""
        return self.model_copy(update={"ranges": False})


def ensemble(conditions: Caches = "both", inputs: Inputs = "all", *, ranges: bool) -> Ensemble:
    """The ensemble of these conditions. A cold launch meets no dirty cache: asked for that alone,
    inputs mean those in the memory."""
    places = {"both": ("memory", "l2"), "all": ("memory", "l2", "dirty")}.get(inputs, (inputs,))
    if conditions == "cold" and inputs == "dirty":
        places = ("memory",)
    chosen = tuple(
        name for code, place, name in _ALL if conditions in (code, "both") and place in places
    )
    return Ensemble(conditions=chosen, ranges=ranges)
