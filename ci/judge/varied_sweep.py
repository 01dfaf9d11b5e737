"""Sweeps over varied cases: which of them the unmodified operator passes, within a cost.

They come from the workload, the op definition, the tiling's constants and the candidate's changed
lines. To vary something else: a `Family` in `ci/judge/varied`, its place in a tier, and a test.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from ci.backend.tiled import TiledBuild
from ci.host.tiling_request import host_request, platform_facts
from ci.judge.gate_subject import Standard
from ci.judge.launch_record import Launched, Sweep, new_warning
from ci.judge.varied.base import Family, Known, Ladder, elements
from ci.judge.varied.lengths import Empty, Larger, Lengths, OwnThresholds, Proportions, Thresholds
from ci.judge.varied.numbers import changed_numbers, tiling_numbers
from ci.judge.varied.shrunk import Answered, Regime, smallest
from ci.judge.varied.structure import Dtypes, ListLengths, Presence, Rank
from ci.judge.varied.values import Attributes, GivenValues, Magnitude, Ranges, Special
from ci.model.errors import TrialFailure
from ci.model.workload import WorkloadCase
from rules.devices import nearest_device

LEAST_ELEMENTS = 1 << 16
"""What a launch costs next to its elements is distinguished from these on."""

ELEMENT_BYTES = 4
"""Element bytes of the outputs that a tier's elements may give: an index may become a long row."""

LARGEST_ELEMENTS = 1 << 22
"""Largest elements of the inputs of a case of the family of larger sizes."""

MOST_DRIVEN = 1 << 24
"""Most elements of the inputs of a case that takes one of the candidate's decisions the other
way."""

DRIVEN_WORK = 1e8
"""Cycles times cores of the unmodified operator on it."""

MOST_REFUSED = 200
"""Cases that the unmodified operator does not take, before no more are made."""


LEAST_VARIED = 20
"""A verification on fewer varied cases says little about anything but its workload."""


@dataclass(frozen=True)
class Tier:
    """How far the cases of a workload are varied."""

    families: tuple[Family, ...]
    most_cases: int
    most_elements: int
    """Most elements of all inputs of a case together, and about as many of its outputs."""
    most_work: float
    """Cycles times cores of one launch of the unmodified operator; about 3 million a second."""
    all_work: float
    """The same of all cases together."""
    larger_cases: int
    """How many cases are so large that every core has much to do."""
    larger_work: float = 8e6
    """Busy cycles of all pipes and cores in one launch of such a case."""
    own: float = 1.0
    """How many times larger a case at a number of the candidate's changed lines may be: what is
    meant for large tensors can only be seen on one."""


QUICK = Tier(
    (
        OwnThresholds(),
        Larger(),
        Thresholds(),
        Lengths(),
        Proportions(),
        Attributes(),
        ListLengths(),
        GivenValues(),
        Ranges(),
    ),
    most_cases=9,
    most_elements=1 << 21,
    most_work=2e6,
    all_work=8e6,
    larger_cases=1,
)
"""Before a candidate is built on: no kernel is compiled for these, mostly."""

WIDE = Tier(
    (
        *QUICK.families,
        Special(),
        Magnitude(),
        Dtypes(),
        Rank(),
        Presence(),
        Empty(),
    ),
    most_cases=64,
    most_elements=1 << 22,
    most_work=6e6,
    all_work=40e6,
    larger_cases=3,
    own=4.0,
)
"""Before it is reported."""


def sweep(standard: Standard, files: dict[str, str], tier: Tier) -> Sweep:
    """The cases of a tier that the unmodified operator passes, families in turns."""
    found, seen, work = Sweep(), set[str](), 0.0
    most = min(tier.most_cases, standard.settings.varied_cases)
    judge = Taker(standard, tier)
    known = known_of(standard, judge, changed_numbers(standard.operator, standard.changed(files)))
    shrink(standard, judge, known, found)
    known = replace(known, workload=judge.workload)
    own_work = 0.0
    for family, ladder in _turns(known, tier):
        mine, large = isinstance(family, OwnThresholds), isinstance(family, Larger)
        if mine and (_own(found.counts) >= most // 4 or own_work > tier.all_work / 2):
            continue
        if large and found.counts.get(Larger.name, 0) >= tier.larger_cases:
            continue
        most_elements = judge.most_own if mine else judge.most_larger if large else judge.most
        for case in ladder:
            if _identity(case) in seen:
                break
            if judge.takes(case, most_elements):
                seen.add(_identity(case))
                before = standard.baseline.at(case, judge.seed)
                found.cases.append((family.name, before))
                if mine:
                    own_work += _work(before)
                elif not large:
                    work += _work(before)
                break
            if judge.is_costly(case, most_elements):
                found.costly[family.name] = found.costly.get(family.name, 0) + 1
                continue
            found.refused[family.name] = found.refused.get(family.name, 0) + 1
            defect = judge.defects.get(case.name)
            if defect:
                found.defects.setdefault(family.name, defect)
                found.wrong.append((family.name, case, defect))
        # What the candidate's own numbers take is no other family's.
        full = len(found.cases) - _own(found.counts) >= most or work > tier.all_work
        if full or sum(found.refused.values()) - _own(found.refused) > MOST_REFUSED:
            break
    return found


def known_of(standard: Standard, taker: Taker, numbers: tuple[float, ...] = ()) -> Known:
    """What cases are made from."""
    return Known(
        standard.operator,
        standard.workload,
        taker.takes,
        numbers,
        tiling_numbers(standard.operator),
        nearest_device(standard.backend.fingerprint().device).vector_cores,
    )


def _own(counts: Mapping[str, int]) -> int:
    return counts.get(OwnThresholds.name, 0)


APART = (OwnThresholds, Larger)
"""Families that come first, and have a share of their own."""


class Taker:
    """Whether the unmodified operator passes a case, within what a tier may cost."""

    def __init__(self, standard: Standard, tier: Tier) -> None:
        self._standard = standard
        self.seed = standard.workload.seeds[0]
        self.own = [standard.baseline.at(case, self.seed) for case in standard.workload.cases]
        self._warned = [w for launched in self.own for w in launched.warnings]
        sizes = [elements(launched.case) for launched in self.own]
        density = [_work(o) / max(n, LEAST_ELEMENTS) for o, n in zip(self.own, sizes, strict=True)]
        written = [o.run.pipes.gm_write_bytes / ELEMENT_BYTES for o in self.own]
        growth = max(1.0, *(w / max(n, 1) for w, n in zip(written, sizes, strict=True)))
        self.most = min(tier.most_elements / growth, tier.most_work / max(density))
        """Elements of the inputs of a case."""
        busy = [_busy(o) / max(n, LEAST_ELEMENTS) for o, n in zip(self.own, sizes, strict=True)]
        self.most_larger = min(LARGEST_ELEMENTS / growth, tier.larger_work / max(busy))
        """Most elements of a case of the family of larger sizes; what cores wait for costs
        little to see."""
        # The largest case says best what a larger one costs.
        of_largest = density[sizes.index(max(sizes))]
        self.most_own = tier.own * min(tier.most_elements / growth, tier.most_work / of_largest)
        """Most elements of a case at a number of the candidate's changed lines."""
        self.most_driven = min(MOST_DRIVEN / growth, DRIVEN_WORK / of_largest)
        """Most elements of a case that takes one of the candidate's decisions the other way."""
        self.workload = standard.workload
        """What further cases are made from."""
        self.defects: dict[str, str] = {}

    def takes(self, case: WorkloadCase, most: float | None = None) -> bool:
        """Passed, without a warning that the workload's own cases do not show.

        `most` elements of its inputs, `self.most` by default.
        """
        if self.is_costly(case, most):
            return False
        baseline = self._standard.baseline
        defect = baseline.defect(case, self.seed)
        if defect:
            self.defects[case.name] = defect
        if defect != "":
            return False
        found = baseline.at(case, self.seed)
        return new_warning(found.warnings, self._warned) is None

    def is_costly(self, case: WorkloadCase, most: float | None = None) -> bool:
        """Whether it has more elements than `most`, `self.most` by default."""
        return elements(case) > (self.most if most is None else most)


def shrink(standard: Standard, judge: Taker, known: Known, found: Sweep) -> None:
    """Have cases made from small ones of each regime where the workload's own are too large."""
    large = [case for case in known.workload.cases if judge.is_costly(case)]
    if not large:
        return
    small = [case for case in known.workload.cases if case not in large]
    regimes: dict[Regime, WorkloadCase | None] = {}
    for case in large:
        for regime, made in smallest(known, case, lambda cases: asked(standard, cases)).items():
            taken = not judge.is_costly(made) and judge.takes(made)
            if taken and regimes.get(regime) is None:
                regimes[regime] = made
            regimes.setdefault(regime, None)
    tried = [case for case in regimes.values() if case is not None]
    for case in tried:
        found.cases.append(("regime", standard.baseline.at(case, judge.seed)))
    found.regimes = len(regimes)
    found.untried = tuple(f"tiling key {k}, {c}" for (k, c), v in regimes.items() if v is None)
    if tried or small:
        judge.workload = known.workload.model_copy(update={"cases": (*small, *tried)})


def asked(standard: Standard, cases: Sequence[WorkloadCase]) -> list[Answered | None]:
    """What the host side of the unmodified operator says of cases that nobody launches."""
    build = standard.references.unmodified
    if not isinstance(build, TiledBuild) or build.value_inputs:
        return [None] * len(cases)
    facts = platform_facts(build.device)
    requests = [host_request(standard.operator, case, facts) for case in cases]
    try:
        answers = build.host.answers(requests)
    except TrialFailure:
        return [None] * len(cases)
    return [
        Answered(one.tiling.tiling_key, one.tiling.block_dim)
        if one.tiling is not None and one.tiling.status == "ok"
        else None
        for one in answers
    ]


def _turns(known: Known, tier: Tier) -> Iterator[tuple[Family, Ladder]]:
    """The candidate's own numbers first, for they have a share of their own; the rest in turns."""
    for family in tier.families:
        if isinstance(family, APART):
            yield from ((family, ladder) for ladder in family.ladders(known))
    left = [
        (family, family.ladders(known)) for family in tier.families if not isinstance(family, APART)
    ]
    while left:
        for family, ladders in tuple(left):
            some = list(islice(ladders, family.turns))
            yield from ((family, ladder) for ladder in some)
            if len(some) < family.turns:
                left.remove((family, ladders))


def _identity(case: WorkloadCase) -> str:
    return repr((case.inputs, case.outputs, case.attrs))


def _busy(launched: Launched) -> float:
    pipes = launched.run.pipes
    return float(sum(pipes.busy_cycles.values()) * pipes.block_dim)


def _work(launched: Launched) -> float:
    pipes = launched.run.pipes
    return float(pipes.total_cycles * pipes.block_dim)
