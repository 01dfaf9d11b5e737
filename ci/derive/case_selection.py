"""Which of many cases are worth keeping: dtypes, tiling keys and sizes that no other shows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import log2

from ci.derive.host_queries import Taken
from ci.judge.varied.base import elements, input_count, tensors
from ci.model.columns import case_dtypes
from ci.model.workload import TensorCase, WorkloadCase

TINY, SMALL, LARGE = 1 << 6, 1 << 13, 1 << 17
"""Elements of all inputs together: nobody has fewer than the first, fewer than the second are few,
more than the third many."""

MOST_DTYPES = 3
"""Combinations of dtypes that sizes and tiling keys are shown in."""

MOST_SHOWN = 8
"""Combinations of dtypes: each is a kernel that every candidate is compiled for."""

MOST_KERNELS = 5
"""Combinations of dtypes and tiling key."""

MIDDLE = 1 << 15
"""Elements of a case that shows nothing but its dtypes: more than a launch hides, and cheap."""

LEAST_CASES = 4
"""Fewer are filled up with what is only tiled otherwise."""

_WORTH = {"dtypes": 5.0, "size": 4.0, "key": 3.0, "odd": 2.0, "size of dtypes": 1.0, "digest": 0.5}
"""What showing something new of a kind is worth."""

Feature = tuple[str, object]
Kernel = tuple[tuple[str | None, ...], int]


def inputs_of(case: WorkloadCase) -> list[TensorCase]:
    """Its input tensors, lists opened."""
    return tensors(case)[: input_count(case)]


@dataclass(frozen=True)
class Option:
    """A case that might be kept."""

    source: str
    taken: Taken
    asked_for: bool = False
    """The repository or the user asks for just this case: nothing in it is made up."""

    @property
    def size(self) -> int:
        """Elements of all inputs together."""
        return elements(self.taken.case)

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Return the shapes of the inputs that are there."""
        return tuple(t.shape for t in inputs_of(self.taken.case) if t.present)

    @property
    def dtypes(self) -> tuple[str | None, ...]:
        """Return the dtypes of the inputs."""
        return tuple(case_dtypes(self.taken.case))

    @property
    def kernel(self) -> Kernel:
        """What the kernel is compiled for."""
        return self.dtypes, self.taken.tiling_key

    @property
    def odd(self) -> bool:
        """Whether a length of a tensor of some size is no multiple of anything usual."""
        shapes = [t.shape for t in tensors(self.taken.case) if t.present and len(t.shape) > 0]
        return any(shape[-1] % 8 for shape in shapes if shape[-1] > 8)

    @property
    def features(self) -> frozenset[Feature]:
        """What it shows."""
        band = "few" if self.size < SMALL else "many" if self.size >= LARGE else "some"
        if self.size < TINY:
            return frozenset({("digest", self.taken.digest)})
        return frozenset(
            {
                ("dtypes", self.dtypes),
                ("key", self.taken.tiling_key),
                ("size", band),
                # Odd lengths are looked at on a size of their own: a large case is an even one.
                ("odd", self.odd and band == "some"),
                ("size of dtypes", (self.dtypes, band)),
                ("digest", (self.taken.digest, band)),
            }
        )


def best(
    options: Sequence[Option], kept: Sequence[Option], failed: Collection[Kernel]
) -> Option | None:
    """The option that shows most that the kept ones do not; None when all show nothing new.

    Those of the kernels that `failed` are passed over, and those of more kernels than are worth
    compiling.
    """
    shown = {feature for option in kept for feature in option.features}
    dtypes, kernels = {o.dtypes for o in kept}, {o.kernel for o in kept}

    def worth(option: Option) -> float:
        if option.kernel in failed:
            return 0.0
        if option.dtypes not in dtypes and len(dtypes) == MOST_DTYPES:
            return 0.0
        if option.kernel not in kernels and len(kernels) == MOST_KERNELS:
            return 0.0
        return sum(_WORTH[kind] for kind, what in option.features - shown)

    chosen = max(options, key=worth, default=None)
    least = 0.0 if len(kept) < LEAST_CASES else _WORTH["digest"]
    return chosen if chosen is not None and worth(chosen) > least else None


def of_other_dtypes(
    options: Sequence[Option], kept: Sequence[Option], failed: Collection[Kernel]
) -> Option | None:
    """The option of middling size in dtypes that the kept ones do not show; None when all do.

    What is left out can become slower without a search seeing it. First come those whose first
    input has a dtype that none shows.
    """
    shown = {o.dtypes for o in kept}
    if len(shown) >= MOST_SHOWN:
        return None
    firsts = {dtypes[:1] for dtypes in shown}

    def rank(option: Option) -> tuple[bool, float]:
        return option.dtypes[:1] in firsts, abs(log2(option.size / MIDDLE))

    left = [o for o in options if o.dtypes not in shown and o.kernel not in failed]
    return min((o for o in left if o.size >= TINY), key=rank, default=None)
