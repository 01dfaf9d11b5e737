"""Runs the passes over a program, in order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ci.create.passes.base import Budget, Pair, Plan, Slot, has_two_forms, splits
from ci.create.passes.budget import Queue, budget, queues
from ci.create.passes.buffers import buffers
from ci.create.passes.copies import copies
from ci.create.passes.gathers import gathers
from ci.create.passes.pairs import pairs
from ci.create.passes.partition import partition
from ci.create.passes.sync import sync
from ci.create.passes.vector import vector
from ci.create.program import Phase, Program
from ci.create.scalars import Scalar

PASSES: Final[tuple[Callable[[Plan], None], ...]] = (
    partition,
    buffers,
    pairs,
    copies,
    gathers,
    vector,
    sync,
)


@dataclass(frozen=True)
class Lowered:
    """A program in its forms, with what they share."""

    program: Program
    streamed: tuple[Plan, ...]
    resident: tuple[Plan, ...]
    """Empty when no phase goes over its tensors more than once."""
    queues: tuple[Queue, ...]
    scalars: dict[Scalar, str]

    def slots(self, resident: bool) -> tuple[Slot, ...]:
        """The buffers of one form."""
        found: dict[str, Slot] = {}
        for plan in self.resident if resident else self.streamed:
            found |= plan.slots
        return tuple(sorted(found.values(), key=lambda s: (s.kind, s.name)))

    @property
    def helpers(self) -> set[str]:
        """Functions that the kernel calls."""
        return set().union(*(p.helpers for p in (*self.streamed, *self.resident)))

    @property
    def pairs(self) -> tuple[tuple[Pair, Phase], ...]:
        """Parts of tensors that go in one copy, each with its phase."""
        return tuple((pair, plan.phase) for plan in self.streamed for pair in plan.pairs)

    @property
    def totals(self) -> int:
        """Numbers that all cores compute together."""
        return sum(len(p.phase.totals) for p in self.streamed)

    @property
    def split(self) -> Plan | None:
        """The phase of which several cores can do one unit, if it is like that."""
        return next((p for p in self.streamed if splits(p)), None)

    def budget(self, resident: bool, narrow: bool) -> Budget:
        """What a tile takes of UB."""
        split = self.split is not None and not resident
        return budget(self.slots(resident), self.queues, narrow, self.totals, split)


def lower(program: Program) -> Lowered:
    """The kernel's plans; raises InputError with what a pass finds broken."""
    scalars: dict[Scalar, str] = {}

    def planned(resident: bool) -> tuple[Plan, ...]:
        plans = tuple(
            Plan(program, phase, resident and has_two_forms(phase), scalars=scalars)
            for phase in program.phases
        )
        for plan in plans:
            for run in PASSES:
                run(plan)
        return plans

    streamed = planned(False)
    both = any(has_two_forms(phase) for phase in program.phases)
    resident = planned(True) if both else ()
    made = Lowered(program, streamed, resident, tuple(queues((*streamed, *resident))), scalars)
    for form in (False, True) if both else (False,):
        for narrow in (False, True):
            made.budget(form, narrow)
    return made
