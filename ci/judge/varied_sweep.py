"""Sweeps over varied cases: which of them the unmodified operator passes, within a cost.

They come from the workload, the op definition, the tiling's constants and the candidate's changed
lines. To vary something else: a `Family` in `ci/judge/varied`, its place in a tier, and a test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

from ci.judge.gate_subject import Standard
from ci.judge.host_regimes import Covered, cover, found_regimes, numbers_of, outputs_of
from ci.judge.launch_record import Launched, Sweep, new_warning
from ci.judge.varied.base import Family, Known, Ladder, elements
from ci.judge.varied.counts import Counts
from ci.judge.varied.lengths import Empty, Larger, Lengths, OwnThresholds, Proportions, Thresholds
from ci.judge.varied.numbers import changed_numbers, kernel_numbers, tiling_numbers
from ci.judge.varied.regimes import MOST_BASES, rough_regimes
from ci.judge.varied.structure import Dtypes, ListLengths, Presence, Rank
from ci.judge.varied.values import Attributes, Exact, GivenValues, Magnitude, Ranges, Special, Ties
from ci.model.workload import Workload, WorkloadCase
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


LEAST_VARIED = 40
"""A verification on fewer varied cases says little about anything but its workload."""

WORK_A_SECOND = 3e6
"""Cycles times cores that are simulated in a second, about."""


def never() -> bool:
    """False."""
    return False


@dataclass(frozen=True)
class Tier:
    """How far the cases of a workload are varied."""

    families: tuple[Family, ...]
    most_cases: int
    most_elements: int
    """Most elements of all inputs of a case together, and about as many of its outputs."""
    most_work: float
    """Cycles times cores of one launch of the unmodified operator."""
    all_work: float
    """The same of all cases together, once there are `LEAST_VARIED`; twice that in any case."""
    larger_cases: int
    """How many cases are so large that every core has much to do."""
    larger_work: float = 8e6
    """Busy cycles of all pipes and cores in one launch of such a case."""
    regime_seconds: float = 0.0
    """What regimes may cost that only exist at sizes above `most_elements`.

    0: regimes are only asked for where the workload's own cases are too large to be varied, and
    rough ones: of each dtype, tiling key and share of the cores one case."""
    most_regimes: int = 1 << 30
    """Most regimes of the host side of which a case is tried."""
    late: Callable[[], bool] = never
    """Whether no further case is to be begun."""
    regimes_late: Callable[[], bool] = never
    """Whether no further regime is to be tried."""
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
        Counts(),
        Special(),
        Ties(),
        Exact(),
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
    regime_seconds=180.0,
    own=4.0,
)
"""Before it is reported."""


def sweep(standard: Standard, files: dict[str, str], tier: Tier) -> Sweep:
    """The cases of a tier that the unmodified operator passes: of each regime, then families in
    turns."""
    found, seen, work = Sweep(), set[str](), 0.0
    costly: list[tuple[str, WorkloadCase]] = []
    most = min(tier.most_cases, standard.settings.varied_cases)
    if most == 0:
        return found
    judge = Taker(standard, tier)
    _note(found, judge.cover_regimes(), standard)
    known = known_of(standard, judge, changed_numbers(standard.operator, standard.changed(files)))
    own_work = 0.0
    for family, ladder in _turns(known, tier):
        mine, large = isinstance(family, OwnThresholds), isinstance(family, Larger)
        if mine and (_own(found.counts) >= most // 4 or own_work > tier.all_work / 2):
            continue
        if large and found.counts.get(Larger.name, 0) >= tier.larger_cases:
            continue
        most_elements = judge.most_own if mine else judge.most_larger if large else judge.most
        for case in ladder:
            if _identity(case) in seen or tier.late():
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
                costly.append((family.name, case))
                continue
            _decline(found, family.name, case, judge.defect(case))
        # What the candidate's own numbers take is no other family's.
        count = len(found.cases) - _own(found.counts)
        spent = work > tier.all_work * (1 if count >= LEAST_VARIED else 2)
        own = found.turned_down.get(OwnThresholds.name)
        declined = found.declined - (own.refused + own.wrong if own else 0)
        if count >= most or spent or declined > MOST_REFUSED or tier.late():
            break
    if judge.least_costly is not None and len(found.cases) < most:
        costly.append(("other dimension", judge.least_costly))
    _take_costly(found, judge, tier, costly, work, seen)
    found.longer = tuple(
        cases for cases in known.probed.values() if not any(map(judge.is_costly, cases))
    )
    return found


def _take_costly(
    found: Sweep,
    judge: Taker,
    tier: Tier,
    costly: list[tuple[str, WorkloadCase]],
    work: float,
    seen: set[str],
) -> None:
    """Try the cheapest of the costly cases where there are too few others, as far as the work of
    all cases goes."""
    for kind, case in sorted(costly, key=lambda one: elements(one[1])):
        if _identity(case) in seen:
            continue
        seen.add(_identity(case))
        work += judge.seconds(case) * WORK_A_SECOND
        enough = len(found.cases) - _own(found.counts) >= LEAST_VARIED or not tier.regime_seconds
        if enough or work > 2 * tier.all_work or elements(case) > MOST_DRIVEN or tier.late():
            found.turn_down(kind).too_costly(judge.seconds(case))
        elif judge.takes(case, MOST_DRIVEN):
            found.cases.append((kind, judge.launched(case)))
        else:
            _decline(found, kind, case, judge.defect(case))


def _decline(found: Sweep, kind: str, case: WorkloadCase, defect: str) -> None:
    """Note a case that the unmodified operator does not take, or that has a `defect` there."""
    found.turn_down(kind).decline(defect)
    _keep(found, kind, case, defect)


def _keep(found: Sweep, kind: str, case: WorkloadCase, defect: str) -> None:
    if defect:
        found.defects.setdefault(kind, defect)
        found.wrong.append((kind, case, defect))
    else:
        found.odd.append((kind, case))


class Takes(Protocol):
    """What cases are made from, and which of them may be built on."""

    workload: Workload

    def takes(self, case: WorkloadCase) -> bool:
        """Whether the unmodified operator passes a case."""


def known_of(standard: Standard, taker: Takes, numbers: tuple[float, ...] = ()) -> Known:
    """What cases are made from."""
    return Known(
        standard.operator,
        taker.workload,
        taker.takes,
        numbers,
        tiling_numbers(standard.operator),
        kernel_numbers(standard.operator),
        nearest_device(standard.backend.fingerprint().device).vector_cores,
        standard.references.infers,
        lambda cases: outputs_of(standard, cases),
        lambda case: numbers_of(standard, case),
    )


def _own(counts: Mapping[str, int]) -> int:
    return counts.get(OwnThresholds.name, 0)


REGIME = "regime"
"""What is varied in cases that stand for a regime of the host side."""

APART = (OwnThresholds, Larger)
"""Families that come first, and have a share of their own."""


class Taker:
    """Whether the unmodified operator passes a case, within what a tier may cost."""

    def __init__(self, standard: Standard, tier: Tier) -> None:
        self._standard, self._tier = standard, tier
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
        self.late = lambda: tier.late() or tier.regimes_late()
        self.most_regimes = tier.most_regimes
        self.least_costly: WorkloadCase | None = None
        """The smallest that was too large to be taken."""

    def takes(self, case: WorkloadCase, most: float | None = None) -> bool:
        """Passed, without a warning that the workload's own cases do not show.

        `most` elements of its inputs, `self.most` by default.
        """
        if self.is_costly(case, most):
            if self.least_costly is None or elements(case) < elements(self.least_costly):
                self.least_costly = case
            return False
        baseline = self._standard.baseline
        if baseline.defect(case, self.seed) != "":
            return False
        found = baseline.at(case, self.seed)
        return new_warning(found.warnings, self._warned) is None

    def launched(self, case: WorkloadCase) -> Launched:
        """The unmodified operator's launch of a case that it takes."""
        return self._standard.baseline.at(case, self.seed)

    def is_costly(self, case: WorkloadCase, most: float | None = None) -> bool:
        """Whether it has more elements than `most`, `self.most` by default."""
        return elements(case) > (self.most if most is None else most)

    def seconds(self, case: WorkloadCase) -> float:
        """Estimate of what a launch of it takes; of `most` elements it is what the tier allows."""
        return elements(case) / self.most * self._tier.most_work / WORK_A_SECOND

    def defect(self, case: WorkloadCase) -> str:
        """What the unmodified operator does wrong on it; '' where it refuses it or is right."""
        return self._standard.baseline.defect(case, self.seed) or ""

    def cover_regimes(self) -> Covered:
        """What the unmodified operator does in each regime of its host side.

        Further cases are made from the small ones of these where the workload's own are too large.
        """
        standard, tier = self._standard, self._tier
        cases = standard.workload.cases
        own = [case for case in cases if not self.is_costly(case)]
        if len(own) == len(cases) and not tier.regime_seconds:
            return Covered()
        regimes = found_regimes(standard, known_of(standard, self))
        if not tier.regime_seconds:
            regimes = rough_regimes(regimes)
        covered = cover(regimes, self, tier.regime_seconds)
        if len(own) < len(cases):
            small = [case for case in covered.tried.values() if not self.is_costly(case)]
            bases = tuple({c.name: c for c in (*own, *small[:MOST_BASES])}.values())
            if bases:
                self.workload = standard.workload.model_copy(update={"cases": bases})
        return covered


def _note(found: Sweep, covered: Covered, standard: Standard) -> None:
    """Put into a sweep what became of the regimes."""
    seed, own = standard.workload.seeds[0], standard.workload.cases
    made = [case for case in covered.tried.values() if case not in own]
    found.cases += [(REGIME, standard.baseline.at(case, seed)) for case in made]
    found.regimes = len(covered.tried) + len(covered.costly)
    for case, defect in (one for one in covered.failed if one[0] not in own):
        _keep(found, REGIME, case, defect)
    found.untried = tuple(f"{r} (about {s:.0f} s)" for r, s in covered.costly.items())
    for defect in covered.declined.values():
        found.turn_down(REGIME).decline(defect)


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
