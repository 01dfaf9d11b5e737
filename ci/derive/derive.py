"""Derives the workload of an operator that has none."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from math import prod

from ci.backend.base import Backend
from ci.backend.tiled import TiledBuild
from ci.derive.asking import Asker, Taken
from ci.derive.candidates import Sourced, candidate_cases, generic_case, other_attributes
from ci.derive.choosing import TINY, Kernel, Option, best, inputs_of
from ci.derive.growing import grown, in_all_dtypes, with_other_attributes
from ci.derive.mending import mended
from ci.derive.running import MOST_WORK, Failed, Ran, Runner, Values, drawn
from ci.judge.varied.base import elements, tensors
from ci.model.derived import DerivedCase
from ci.model.dtypes import BY_NAME
from ci.model.errors import TrialFailure
from ci.model.operator import Operator
from ci.model.trial import Outcome
from ci.model.workload import Workload, WorkloadCase

MOST_FIRST = 24
"""Cases that are launched until one passes."""

MOST_PLAIN = 10
"""Of these, before attributes are changed."""

MOST_MENDED = 4
"""Times that a case is mended, one thing at a time."""

MOST_ALTERED = 16
"""Refused cases that are asked with other attributes."""

MOST_LAUNCHED = 20
"""Cases that are launched after it."""

MOST_UNFIT = 2
"""Dtypes in which shapes fail before no other is tried in them."""

MOST_ELEMENTS = 1 << 22
"""Of all tensors of a case together: an index may become a long row."""

MOST_BASES = 4
"""Cases that others are made from."""

LEAST_ELEMENTS = 1 << 13
"""What a launch costs beside its elements is most of what fewer cost."""

MOST_SECONDS = 300.0
"""Wall time after which no further case is launched."""


class NoWorkload(Exception):
    """There is none that the operator passes; the message says why, `stopped` in a few words."""

    def __init__(self, why: str, stopped: str) -> None:
        super().__init__(why)
        self.stopped = stopped


@dataclass
class Derived:
    """A workload whose cases the operator passes."""

    workload: Workload
    cases: tuple[DerivedCase, ...]
    notes: tuple[str, ...]
    dropped: tuple[str, ...]


def derive(
    operator: Operator,
    backend: Backend,
    most_cases: int,
    given: Workload | None = None,
) -> Derived:
    """The workload of `operator`; cases and golden function of `given` are built on.

    Raises NoWorkload, EnvironmentProblem, and InputError when the golden function is unusable.
    """
    return _Derivation(operator, backend, most_cases, given).derived()


@dataclass
class _Derivation:
    """One operator's derivation, step by step."""

    operator: Operator
    backend: Backend
    most_cases: int
    given: Workload | None
    notes: list[str] = field(default_factory=list)
    dropped: list[tuple[str, str]] = field(default_factory=list)
    """In words, and the outcome."""
    failed: set[Kernel] = field(default_factory=set)
    names: Counter[str] = field(default_factory=Counter)
    values: Values = "wide"
    started: float = field(default_factory=time.monotonic)

    def derived(self) -> Derived:
        frame = self.given or Workload(
            operator=self.operator.op_type,
            cases=(generic_case(self.operator),),
            folder=self.operator.root,
        )
        try:
            build = self.backend.build(self.operator, {}, frame)
        except TrialFailure as failure:
            raise NoWorkload(failure.refusal.message, "the host side does not build") from None
        if not isinstance(build, TiledBuild):
            raise NoWorkload("The backend runs no host tiling on this computer.", "backend")
        asker = Asker(build)
        taken = self._taken(asker)
        runner = Runner(self.operator, frame, self.backend)
        runner, first, ran = self._first(runner, asker, taken)
        runs = [ran]
        kept = [first] if first.size >= TINY else []
        options = self._options(asker, first, taken)
        unfit: Counter[tuple[tuple[int, ...], ...]] = Counter()
        while len(runs) + sum(unfit.values()) < MOST_LAUNCHED:
            largest = max(runs, key=lambda r: elements(r.case))
            density = largest.work / max(LEAST_ELEMENTS, elements(largest.case))
            options = [
                option
                for option in options
                if density * option.size <= MOST_WORK and unfit[option.shapes] < MOST_UNFIT
            ]
            chosen = best(options, kept, self.failed)
            if chosen is None or len(kept) == self.most_cases or self._late():
                break
            options.remove(chosen)
            chosen = self._drawn(chosen, self.values)
            found = self._run(runner, chosen)
            if isinstance(found, Ran):
                if found.work <= MOST_WORK:
                    kept.append(chosen)
                runs.append(found)
            else:
                unfit[chosen.shapes] += 1
        return self._done(runner.frame, kept or [first])

    def _late(self) -> bool:
        return time.monotonic() - self.started > MOST_SECONDS

    def _taken(self, asker: Asker) -> list[Option]:
        """The candidates that the host tiling takes, the likeliest first."""
        sourced: list[Sourced] = []
        if self.given is not None:
            sourced += [("workload", case) for case in self.given.cases]
        sourced += candidate_cases(self.operator)
        found = self._answered(asker, sourced)
        if all(option.source == "generic shapes" for option in found):
            # An attribute may be what it refuses.
            likely = [s for s in sourced if s[0] != "generic shapes" or not found][:MOST_ALTERED]
            altered = [
                (source, other)
                for source, case in likely
                for other in other_attributes(self.operator, case)
            ]
            found = self._answered(asker, altered) + found
            sourced += altered
        if not found:
            raise NoWorkload(
                f"Its host tiling takes none of the {len(sourced)} cases that were asked;"
                f" of the first it says: {asker.words(sourced[0][1])}",
                "the tiling takes no case",
            )
        return found

    def _answered(self, asker: Asker, sourced: Sequence[Sourced]) -> list[Option]:
        """Those that the tiling takes and that are small enough to be launched."""
        answers = asker.ask([case for _, case in sourced])
        return [
            Option(source, answer)
            for (source, _), answer in zip(sourced, answers, strict=True)
            if isinstance(answer, Taken) and _all_elements(answer.case) <= MOST_ELEMENTS
        ]

    def _first(
        self, runner: Runner, asker: Asker, taken: Sequence[Option]
    ) -> tuple[Runner, Option, Ran]:
        """The first case that passes, in a frame that may have been bent for it."""
        tried, silent = 0, None
        for option in self._likely(asker, taken):
            if tried >= MOST_FIRST or self._late():
                break
            if option.kernel in self.failed:
                continue
            for values in ("wide", "tame"):
                if values == "tame" and drawn(option.taken.case, "wide") == option.taken.case:
                    break  # nothing is drawn in two ways
                chosen = self._drawn(option, values)
                tried += 1
                runner, chosen, found = self._run_mended(runner, chosen)
                if isinstance(found, Failed):
                    if not _draws_integers(option.taken.case):
                        break  # other numbers make no difference to where a kernel writes
                    continue
                self.values = values
                runner, found = self._with_updated(runner, chosen, found)
                if found.telling:
                    return runner, chosen, found
                silent = silent or (runner, chosen, found)
        if silent is not None:
            self.notes.append("The outputs of its first case are all alike, or hardly numbers.")
            return silent
        last, why = self.dropped[-1] if self.dropped else ("which nobody tried.", "no time")
        raise NoWorkload(f"No case ran well; the last one, {last}", why)

    def _likely(self, asker: Asker, taken: Sequence[Option]) -> Iterator[Option]:
        """One of each kind in turn, then the first ones with other attributes: what a tiling takes
        need not be what the kernel can do."""
        turns = list(in_turns_of_kinds(taken))
        yield from turns[:MOST_PLAIN]
        altered = [
            (option.source, other)
            for option in turns[:3]
            for other in other_attributes(self.operator, option.taken.asked)
        ]
        yield from self._answered(asker, altered)
        yield from turns[MOST_PLAIN:]

    def _run_mended(self, runner: Runner, option: Option) -> tuple[Runner, Option, Ran | Failed]:
        """How the case ran, as it is or mended; nothing is changed by what mends nothing."""
        own, case, notes = runner, option, list[str]()
        found = self._run(own, case)
        for _ in range(MOST_MENDED):
            if isinstance(found, Ran):
                self.notes += notes
                return own, case, found
            better = mended(self.operator, own.frame, case, found)
            if better is None:
                break
            frame, case, note = better
            case = self._drawn(case, "tame")  # under another name
            own = own if frame == own.frame else Runner(self.operator, frame, self.backend)
            notes += [note] if note else []
            found = self._run(own, case)
        return (own, case, found) if isinstance(found, Ran) else (runner, option, found)

    def _framed(self, frame: Workload, **update: object) -> Runner:
        return Runner(self.operator, frame.model_copy(update=update), self.backend)

    def _with_updated(self, runner: Runner, option: Option, ran: Ran) -> tuple[Runner, Ran]:
        """With the inputs that the kernel changes as outputs, and how the case ran so."""
        if runner.frame.golden or runner.frame.in_place:
            return runner, ran
        updated = runner.updated(ran.case)
        if not updated:
            return runner, ran
        framed = self._framed(runner.frame, in_place=updated)
        again = framed.run(option.taken.case)
        return (framed, again) if isinstance(again, Ran) else (runner, ran)

    def _run(self, runner: Runner, option: Option) -> Ran | Failed:
        found = runner.run(option.taken.case)
        if isinstance(found, Failed):
            what = found.outcome.value.replace("_", " ")
            self.dropped.append((f"{_shapes(option)}: {what}: {found.why}"[:300], what))
            if found.outcome in (Outcome.COMPILE_ERROR, Outcome.REJECTED):
                self.failed.add(option.kernel)
        return found

    def _options(self, asker: Asker, first: Option, taken: Sequence[Option]) -> list[Option]:
        """What is chosen from: the given cases, and what can be made of the first of them."""
        bases = [first, *(o for o in taken if o.source == first.source and o != first)][:MOST_BASES]
        made: list[tuple[str, WorkloadCase]] = []
        for number, base in enumerate(bases):
            case = base.taken.asked
            sizes = [case, *grown(self.operator, case, asker)]
            if number == 0:
                sizes += with_other_attributes(self.operator, case, asker)
            for one in sizes:
                made += [(base.source, c) for c in in_all_dtypes(self.operator, one, asker)]
        own = [(o.source, o.taken.asked) for o in taken if o.source != "generic shapes"]
        found = {_identity(option): option for option in self._answered(asker, [*made, *own])}
        found.pop(_identity(first), None)
        return [*found.values()]

    def _drawn(self, option: Option, values: Values) -> Option:
        """The option with its numbers drawn so, under a name of its own: dtype and first shape."""
        case = drawn(option.taken.case, values)
        first = next((t for t in inputs_of(case) if t.present), None)
        plain = f"{first.dtype}_{'x'.join(map(str, first.shape))}" if first else "case"
        self.names[plain] += 1
        name = plain if self.names[plain] == 1 else f"{plain}_{self.names[plain]}"
        named = case.model_copy(update={"name": name})
        asked = drawn(option.taken.asked, values)
        return replace(option, taken=replace(option.taken, case=named, asked=asked))

    def _done(self, frame: Workload, kept: Sequence[Option]) -> Derived:
        cases = tuple(option.taken.case for option in kept)
        rows = tuple(
            DerivedCase(
                name=option.taken.case.name,
                source=option.source,
                dtypes=tuple(dict.fromkeys(d for d in option.dtypes if d)),
                tiling_key=option.taken.tiling_key,
                elements=option.size,
            )
            for option in kept
        )
        workload = frame.model_copy(update={"cases": cases})
        return Derived(workload, rows, tuple(self.notes), tuple(words for words, _ in self.dropped))


def in_turns_of_kinds(options: Sequence[Option]) -> Iterator[Option]:
    """One option of each kind after the other: what fails for one shape fails for the next alike.

    Of a kind are those from one source whose inputs' shapes are related alike.
    """
    kinds: dict[object, list[Option]] = {}
    for option in options:
        kinds.setdefault((option.source, _relation(option.shapes)), []).append(option)
    for row in zip_longest(*kinds.values()):
        yield from (option for option in row if option is not None)


def _relation(shapes: Sequence[tuple[int, ...]]) -> tuple[tuple[int, ...], ...]:
    """Each shape with its lengths as places among all lengths in order of their appearance."""
    lengths = list(dict.fromkeys(length for shape in shapes for length in shape))
    return tuple(tuple(lengths.index(length) for length in shape) for shape in shapes)


def _draws_integers(case: WorkloadCase) -> bool:
    return any(
        t.present and t.values is None and not BY_NAME[t.dtype].is_float for t in inputs_of(case)
    )


def _identity(option: Option) -> str:
    case = option.taken.case
    return repr((case.inputs, case.attrs))


def _all_elements(case: WorkloadCase) -> int:
    return sum(prod(t.shape) for t in tensors(case) if t.present)


def _shapes(option: Option) -> str:
    case = option.taken.case
    return ", ".join(
        f"{t.dtype}[{'x'.join(map(str, t.shape))}]" for t in inputs_of(case) if t.present
    )
