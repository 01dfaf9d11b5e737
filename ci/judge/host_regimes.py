"""Which regimes of the host side a candidate is launched in, and at what cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from math import prod
from typing import Protocol

import numpy as np

from ci.backend.tiled import TiledBuild
from ci.host.survey import Inference
from ci.host.tiling_layout import WORD
from ci.host.tiling_request import HostRequest, host_request, platform_facts
from ci.judge.gate_subject import Standard
from ci.judge.varied.base import Known, elements
from ci.judge.varied.regimes import Answered, Regime, Regimes, regimes_of
from ci.model.errors import InputError, TrialFailure
from ci.model.launch import Tensors, arrays
from ci.model.workload import Workload, WorkloadCase
from ci.source.inputs import draw_inputs

MOST_ASKED = 1 << 22
"""Elements of the inputs up to which regimes are looked for, where no case of the workload has
more."""

MOST_GIVEN = 1 << 16
"""Elements of the inputs up to which a golden function is asked how long outputs are."""

LARGEST = 1 << 22
"""Elements of a case of a regime that no smaller one has, if those of the workload are smaller."""

RUNGS = 3
"""Cases of one regime that are tried, until the unmodified operator passes one."""

RUNG = 8
"""How many times more elements the next of them has."""


def found_regimes(standard: Standard, known: Known) -> Regimes:
    """The regimes of the unmodified operator's host side; asked once for all candidates."""

    def ask() -> Regimes:
        most = max(MOST_ASKED, *map(elements, standard.workload.cases))
        return regimes_of(known, lambda cases: asked(standard, cases), most)

    return standard.baseline.regimes(ask)


def asked(standard: Standard, cases: Sequence[WorkloadCase]) -> list[Answered | None]:
    """What the host side of the unmodified operator says of cases that nobody launches."""
    build = standard.references.unmodified
    if not isinstance(build, TiledBuild):
        return [None] * len(cases)
    requests = requests_of(standard, cases)
    askable = [number for number, request in enumerate(requests) if request is not None]
    found: list[Answered | None] = [None] * len(cases)
    try:
        answers = build.host.answers([request for request in requests if request is not None])
    except TrialFailure:
        return found
    for number, one in zip(askable, answers, strict=True):
        if one.tiling is not None and one.tiling.status == "ok":
            said = one.tiling
            pattern, outputs = build.pattern(said), _elements(one.inference)
            found[number] = Answered(said.tiling_key, said.block_dim, pattern, outputs)
    return found


def requests_of(standard: Standard, cases: Sequence[WorkloadCase]) -> list[HostRequest | None]:
    """What the host side is asked of each case; None of a case that cannot be."""
    build = standard.references.unmodified
    if not isinstance(build, TiledBuild):
        return [None] * len(cases)
    operator, facts, read = standard.operator, platform_facts(build.device), build.value_inputs
    found: list[HostRequest | None] = []
    for case in cases:
        try:
            inputs = _values(standard, build, case)
            found.append(host_request(operator, case, facts, inputs, read=read))
        except InputError:
            found.append(None)
    return found


def _values(standard: Standard, build: TiledBuild, case: WorkloadCase) -> Tensors | None:
    """The inputs of a case whose values its host side reads; None where it reads none."""
    read = build.value_inputs
    places = [i for i, spec in enumerate(standard.operator.inputs) if spec.name in read]
    return draw_inputs(case, standard.workload.seeds[0], places) if read else None


def numbers_of(standard: Standard, case: WorkloadCase) -> frozenset[int]:
    """The numbers of 32 bits, from 2 to `MOST_ASKED`, of the tiling data of a case."""
    build = standard.references.unmodified
    if not isinstance(build, TiledBuild):
        return frozenset()
    facts, read = platform_facts(build.device), build.value_inputs
    try:
        inputs = _values(standard, build, case)
        data = build.host.tile(standard.operator, case, facts, inputs, read=read).data
    except (InputError, TrialFailure):
        return frozenset()
    words = np.frombuffer(data[: len(data) // WORD * WORD], "<u4")
    return frozenset(int(one) for one in words if 2 <= one <= MOST_ASKED)


def outputs_of(standard: Standard, cases: Sequence[WorkloadCase]) -> list[int | None]:
    """Elements of all outputs of each case, as InferShape of the unmodified operator says, or the
    golden function of a small one; None where neither does."""
    told = [None if said is None else said.outputs for said in asked(standard, cases)]
    if standard.workload.golden:
        pairs = zip(told, cases, strict=True)
        return [_given(standard, case) if one is None else one for one, case in pairs]
    return told


def _given(standard: Standard, case: WorkloadCase) -> int | None:
    if elements(case) > MOST_GIVEN:
        return None
    try:
        right = standard.references.of(case, standard.workload.seeds[0])
    except InputError:
        return None
    return sum(array.size for array in arrays(right.outputs))


def _elements(inference: Inference | None) -> int | None:
    if inference is None or inference.shapes != "ok":
        return None
    return sum(prod(one.shape) for many in inference.outputs for one in many)


@dataclass
class Covered:
    """What became of the regimes."""

    tried: dict[Regime, WorkloadCase] = field(default_factory=dict)
    """The case that stands for each; one of the workload's own where no smaller one does."""
    declined: dict[Regime, str] = field(default_factory=dict)
    """Regimes that the unmodified operator refuses ('') or gets wrong."""
    failed: list[tuple[WorkloadCase, str]] = field(default_factory=list)
    """Cases that the unmodified operator refuses (''), or what it does wrong on them."""
    costly: dict[Regime, float] = field(default_factory=dict)
    """Regimes of which nothing is known, with the seconds that the least case would take."""


class Trier(Protocol):
    """What may be launched, and what the unmodified operator makes of it."""

    most: float
    most_regimes: int
    workload: Workload

    def late(self) -> bool:
        """Whether no further case is to be begun."""

    def takes(self, case: WorkloadCase, most: float | None = None) -> bool:
        """Whether the unmodified operator passes a case of up to `most` elements."""

    def seconds(self, case: WorkloadCase) -> float:
        """Estimate of what a launch of it takes."""

    def defect(self, case: WorkloadCase) -> str:
        """What the unmodified operator does wrong on it; '' where it refuses it or is right."""


def cover(regimes: Regimes, trier: Trier, large_seconds: float) -> Covered:
    """Take a case of each regime, the cheapest that the unmodified operator passes.

    Cases larger than `trier.most` are launched for `large_seconds` in all, and none that is larger
    than the workload's own and than `LARGEST`.
    """
    found, left = Covered(), large_seconds
    own = {case.name for case in trier.workload.cases}
    most = max([trier.most, LARGEST, *map(elements, trier.workload.cases)])
    for regime, cases in _in_order(regimes):
        if trier.late() or len(found.tried) >= trier.most_regimes:
            break
        for case in rungs(cases):
            large = elements(case) > trier.most
            if case.name not in own and large:
                seconds = trier.seconds(case)
                if seconds > left or elements(case) > most:
                    found.costly.setdefault(regime, seconds)
                    break
                left -= seconds
            if trier.takes(case, most):
                found.tried[regime] = case
                break
            defect = trier.defect(case)
            found.failed.append((case, defect))
            found.declined[regime] = found.declined.get(regime) or defect
        if regime not in found.tried:
            mine = next((case for case in cases if case.name in own), None)
            if mine is not None:  # its own launches are in this regime
                found.tried[regime] = mine
        if regime in found.tried:
            found.costly.pop(regime, None)
        if regime in found.tried or regime in found.costly:
            found.declined.pop(regime, None)
    return found


def _in_order(regimes: Regimes) -> Iterator[tuple[Regime, list[WorkloadCase]]]:
    """Four kinds in turn, of each the cases of few elements first: a tiling key that is new, or a
    field that is what it was nowhere; a field that is what it was not under its key; new dtypes or
    another share of the cores; and other combinations."""
    left = sorted(regimes.items(), key=lambda one: elements(one[1][0]))
    for parts in _PARTS:
        seen: set[object] = set()
        rest = []
        for regime, cases in left:
            new = parts(regime)
            if new <= seen:
                rest.append((regime, cases))
            else:
                yield regime, cases
            seen |= new
        left = rest
    yield from left


_PARTS: tuple[Callable[[Regime], Set[object]], ...] = (
    lambda one: {one.tiling_key, *((place, what) for _, _, place, what in one.fields)},
    lambda one: {(one.tiling_key, place, what) for _, _, place, what in one.fields},
    lambda one: {one.rough},
)


def rungs(cases: Sequence[WorkloadCase]) -> Iterator[WorkloadCase]:
    """The smallest case of a regime, then some that are larger by `RUNG` each."""
    least, left = 0, RUNGS
    for case in cases:
        if left and elements(case) >= least:
            least, left = max(1, elements(case)) * RUNG, left - 1
            yield case
