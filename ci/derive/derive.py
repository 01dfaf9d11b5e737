"""Derives the workload of an operator that has none."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

from ci.backend.base import Backend
from ci.backend.tiled import TiledBuild
from ci.derive.accepted_cases import NoWorkload, answered, likeliest, taken_cases
from ci.derive.candidates import GENERIC, generic_case
from ci.derive.case_repair import draws_integers, is_its_own, mended
from ci.derive.case_selection import TINY, Kernel, Option, best, inputs_of, of_other_dtypes
from ci.derive.case_variants import grown, in_all_dtypes, with_other_attributes
from ci.derive.guided import is_guided
from ci.derive.host_queries import Asker, watched_asker
from ci.derive.runner import MOST_WORK, Failed, Ran, Runner, Values, drawn
from ci.judge.varied.base import elements
from ci.model.derived import DerivedCase
from ci.model.errors import TrialFailure
from ci.model.operator import Operator
from ci.model.trial import Outcome
from ci.model.workload import Workload, WorkloadCase
from ci.source.discovery import for_chip

MOST_FIRST = 24
"""Cases that are launched until one passes."""

MOST_MENDED = 4
"""Times that a case is fixed, one thing at a time."""

MOST_LAUNCHED = 20
"""Cases that are launched after it."""

MOST_UNFIT = 2
"""Dtypes in which shapes fail before no other is tried in them."""

MOST_BASES = 4
"""Cases that others are made from."""

LEAST_ELEMENTS = 1 << 13
"""What a launch costs next to its elements is most of what fewer cost."""

NOBODYS = (
    "Its shapes are {}: the tiling takes them, but nobody may ever ask for them. Sizes that the"
    " operator is used with tell more; put them into cases."
)

OWN_FAILS = "The repository asks for other cases ({}), but the first of them does not run: {}"

MOST_SECONDS = 300.0
"""Wall time after which no further case is launched."""


@dataclass
class Derived:
    """A workload whose cases the operator passes."""

    workload: Workload
    cases: tuple[DerivedCase, ...]
    notes: tuple[str, ...]
    dropped: tuple[str, ...]
    interrupted: bool = False
    faulty: WorkloadCase | None = None
    """The first case that fails by the operator's own fault: of the repository, or by a race."""


OnStep: TypeAlias = Callable[[str], None]
"""Hears in words what is done at the moment."""


def derive(
    operator: Operator,
    backend: Backend,
    most_cases: int,
    given: Workload | None = None,
    golden: str = "",
    folder: Path | None = None,
    on_step: OnStep = lambda step: None,
    most_seconds: float = MOST_SECONDS,
) -> Derived:
    """The workload of `operator`; cases and golden function of `given` are built on.

    `golden` in `folder` judges where nothing is given, unless it cannot. `on_step` hears of each
    launch; after `most_seconds` of wall time none is begun, but for a first one. When the user
    interrupts, the cases that passed until then are the workload. Raises NoWorkload,
    EnvironmentProblem, and InputError when the golden function is unusable.
    """
    frame = given or Workload(
        operator=operator.op_type,
        cases=(generic_case(operator),),
        golden=golden,
        folder=folder or operator.root,
    )
    return _Derivation(operator, backend, most_cases, given, frame, on_step, most_seconds).derived()


@dataclass
class _Derivation:
    """One operator's derivation, step by step."""

    operator: Operator
    backend: Backend
    most_cases: int
    given: Workload | None
    frame: Workload
    on_step: OnStep
    most_seconds: float
    notes: list[str] = field(default_factory=list)
    dropped: list[tuple[str, str]] = field(default_factory=list)
    """In words, and the outcome."""
    faulty: WorkloadCase | None = None
    own_fails: str = ""
    """What became of the first case that the repository itself asks for."""
    failed: set[Kernel] = field(default_factory=set)
    names: Counter[str] = field(default_factory=Counter)
    values: Values = "wide"
    started: float = field(default_factory=time.monotonic)
    interrupted: bool = False

    def derived(self) -> Derived:
        if not for_chip(self.operator):
            socs = ", ".join(self.operator.socs)
            self.notes.append(f"Tried as the 910B: the operator is declared for {socs} only.")
        self.on_step("builds the host side")
        try:
            build = self.backend.build(self.operator, {}, self.frame)
        except TrialFailure as failure:
            raise NoWorkload(failure.refusal.message, "the host side does not build") from None
        if not isinstance(build, TiledBuild):
            raise NoWorkload("The backend runs no host tiling on this computer.", "backend")
        asker = Asker(build)
        self.on_step("asks the host tiling which shapes it takes")
        taken = taken_cases(
            self.operator,
            asker,
            lambda: watched_asker(build),
            self.given.cases if self.given is not None else (),
        )
        runner = Runner(self.operator, self.frame, self.backend)
        runner, first, ran = self._first(runner, asker, taken)
        if is_guided(first.source):
            self.notes.append(NOBODYS.format(first.source))
        if self.own_fails and not _is_own(first):
            self.notes.append(self.own_fails)
        runs = [ran]
        kept = [first] if first.size >= TINY else []
        try:  # to ask the host side for more takes seconds, too
            self._more(runner, runs, kept, self._options(asker, first, taken))
        except KeyboardInterrupt:
            self.interrupted = True
            self.notes.append("Interrupted before all cases were tried.")
        return self._done(runner.frame, kept or [first])

    def _more(
        self, runner: Runner, runs: list[Ran], kept: list[Option], options: list[Option]
    ) -> None:
        """Launch options and keep those that pass, until enough are there."""
        unfit: Counter[tuple[tuple[int, ...], ...]] = Counter()
        while len(runs) + sum(unfit.values()) < MOST_LAUNCHED:
            largest = max(runs, key=lambda r: elements(r.case))
            density = largest.work / max(LEAST_ELEMENTS, elements(largest.case))
            options = [
                option
                for option in options
                if density * option.size <= MOST_WORK and unfit[option.shapes] < MOST_UNFIT
            ]
            full = len(kept) >= self.most_cases
            chosen = None if full else best(options, kept, self.failed)
            chosen = chosen or of_other_dtypes(options, kept, self.failed)
            if chosen is None or self._late():
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

    def _late(self) -> bool:
        return time.monotonic() - self.started > self.most_seconds

    def _first(
        self, runner: Runner, asker: Asker, taken: Sequence[Option]
    ) -> tuple[Runner, Option, Ran]:
        """The first case that passes, in a frame that may have been bent for it."""
        tried, silent = 0, None
        for option in likeliest(self.operator, asker, taken):
            if tried >= MOST_FIRST or (tried and self._late()):
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
                    if not draws_integers(option.taken.case):
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
        raise NoWorkload(f"No case ran well; the last one, {last}", why, self.faulty)

    def _run_mended(self, runner: Runner, option: Option) -> tuple[Runner, Option, Ran | Failed]:
        """How the case ran, as it is or fixed; nothing is changed by what fixes nothing."""
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
        """The runner with inputs that the kernel changes as outputs, and how the case ran so."""
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
        self.on_step(f"{_shapes(option)}: {found.why if isinstance(found, Failed) else 'passes'}")
        if isinstance(found, Failed):
            what = found.outcome.value.replace("_", " ")
            self.dropped.append((f"{_shapes(option)}: {what}: {found.why}"[:300], what))
            unbent = runner.frame == self.frame
            if self.faulty is None and unbent and is_its_own(self.operator, option, found):
                self.faulty = option.taken.case
            if _is_own(option):
                self.own_fails = self.own_fails or OWN_FAILS.format(
                    option.source, self.dropped[-1][0]
                )
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
        own = [(o.source, o.taken.asked) for o in taken if o.source != GENERIC]
        asked_for = {_identity(o) for o in taken if o.asked_for}
        found = {
            _identity(option): replace(option, asked_for=_identity(option) in asked_for)
            for option in answered(asker, [*made, *own])
        }
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
        return Derived(
            workload,
            rows,
            tuple(self.notes),
            tuple(words for words, _ in self.dropped),
            self.interrupted,
            self.faulty,
        )


def _is_own(option: Option) -> bool:
    """Whether somebody asks for it: the repository or the user."""
    return option.source != GENERIC and not is_guided(option.source)


def _identity(option: Option) -> str:
    case = option.taken.case
    return repr((case.inputs, case.attrs))


def _shapes(option: Option) -> str:
    case = option.taken.case
    return ", ".join(
        f"{t.dtype}[{'x'.join(map(str, t.shape))}]" for t in inputs_of(case) if t.present
    )
