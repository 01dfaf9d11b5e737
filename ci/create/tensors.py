"""Groups of axes, and the tensors in global memory that consist of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import takewhile

from ci.create.scalars import Scalar


@dataclass(frozen=True)
class Group:
    """A run of axes; `size` says how the host computes its length."""

    name: str
    size: Scalar
    example: int
    """Its length in the case that was traced."""


@dataclass(frozen=True)
class Run:
    """Groups that lie in an axis of memory, which is as long as the group `whole`."""

    groups: tuple[str, ...]
    whole: str
    start: str = "0"
    """The element with which they begin: a number, or the group that is as long."""
    step: int = 1
    """The step, from one of their elements to the next, along the axis."""

    @property
    def ranged(self) -> bool:
        """Whether they are a part of the axis."""
        return self.groups != (self.whole,)


@dataclass(frozen=True)
class Tensor:
    """An input or output in global memory: its groups, outermost first; or a part of one."""

    name: str
    dtype: str
    """The dtype as in workloads, or 'T': the dtype that the operator is built for."""
    groups: tuple[str, ...]
    of: str = ""
    """The tensor that it is a part of."""
    runs: tuple[Run, ...] = ()
    """The runs of a part: where its groups lie in each axis of that tensor."""
    kept: bool = False
    """Whether it lies in the workspace, from one phase to later ones."""

    @property
    def memory(self) -> str:
        """The tensor whose memory it is in."""
        return self.of or self.name

    def behind(self, group: str) -> tuple[str, ...]:
        """The groups whose lengths make the distance between neighbours along a group."""
        for place, run in enumerate(self.runs):
            if group in run.groups:
                inner = run.groups[run.groups.index(group) + 1 :]
                return (*inner, *(r.whole for r in self.runs[place + 1 :]))
        return self.groups[self.groups.index(group) + 1 :]

    def step(self, group: str) -> int:
        """The elements of its axis from one of a group to the next."""
        return next((run.step for run in self.runs if group in run.groups), 1)

    def turn(self, number: int) -> Tensor:
        """The elements of one of several values that take turns along the last axis."""
        if not number:
            return self
        last = self.runs[-1]
        later = replace(last, start=f"{last.start}+{number}")
        return replace(self, runs=(*self.runs[:-1], later))

    @property
    def single(self) -> int:
        """How many of the last axes have one element in the part."""
        return len([*takewhile(lambda run: not run.groups, reversed(self.runs))])

    @property
    def gathered(self) -> bool:
        """Whether elements that are neighbours in the part lie apart in memory."""
        return bool(self.groups) and self.step(self.groups[-1]) > 1

    @property
    def begins(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Where a part begins: the starts in axes, each with the groups behind it."""
        return tuple(
            (run.start, tuple(r.whole for r in self.runs[place + 1 :]))
            for place, run in enumerate(self.runs)
            if run.start != "0"
        )

    @property
    def text(self) -> str:
        """Return the text as programs name it."""
        if not self.runs:
            return f"{self.of}[{', '.join(self.groups)}]" if self.of else self.name
        axes = []
        for run in self.runs:
            from_start = [run.start] if run.start != "0" or not run.groups else []
            steps = [str(run.step)] if run.step > 1 else []
            own = ["*".join([*steps, *run.groups])] if run.groups else []
            inside = " + ".join([*from_start, *own])
            axes.append(f"{inside} of {run.whole}" if run.ranged else run.whole)
        return f"{self.of}[{', '.join(axes)}]"


def indexed(tensor: Tensor) -> Tensor:
    """A tensor as what is indexed by values: it may be loaded from its beginning as well."""
    return replace(tensor, name=f"indexed_{tensor.name}", of=tensor.memory)
