"""Launches an operator as it is on its own and on varied cases, and says all that is wrong.

Each case runs twice: as it is measured, and built to be checked, with tensors that know their
buffers and other bytes in what nothing sets.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from ci.backend.sim import SimulatorBackend, SimulatorBuild
from ci.host.tiling_request import HostRequest, host_request, platform_facts
from ci.judge.check.ahead import compiled_ahead
from ci.judge.check.doubts import (
    doubtful,
    input_guessed,
    may_be_unasked,
    may_round,
    outputs_guessed,
    outputs_unread,
    unlaunched,
)
from ci.judge.check.far import far
from ci.judge.check.findings import Findings
from ci.judge.check.host_lengths import lengthened
from ci.judge.check.host_state import (
    as_inferred,
    ask_again,
    left_unset,
    refused_by_inference,
    remembers,
)
from ci.judge.check.ignored import ignored, only_first
from ci.judge.check.meetings import Meetings
from ci.judge.check.mistaken import mistaken
from ci.judge.check.other_values import other_values
from ci.judge.gate_subject import Standard
from ci.judge.launch_record import Launched, launch_once
from ci.judge.reference import empty_like
from ci.judge.varied.lengths import Empty, Lengths
from ci.judge.varied_sweep import WIDE, sweep
from ci.model.amount import amount
from ci.model.errors import CaseDeclined, CaseTooLarge, InputError, TrialFailure
from ci.model.finding import CheckReport, CheckSettings, Finding
from ci.model.operator import Operator
from ci.model.trial import Outcome, Place
from ci.model.workload import WorkloadCase
from ci.simulator.launch import MEETS, stops_itself
from ci.source.one_case import case_line, one_case

Say: TypeAlias = Callable[[str], None]

ALWAYS = (Outcome.COMPILE_ERROR, Outcome.TIMEOUT)
"""What every case would show again."""

ROUNDING = {family.name for family in WIDE.families if family.rounding}
"""What is varied where a right operator may miss its tolerance."""

OVERTIME = 1.5
"""Times the seconds of a check, until which other integers are tried on cases that show a fault,
and tensors of gibibytes."""

MOST_UNEXPLAINED = 4
"""Wrong cases that are held against what an operator may have taken for something else: each
costs a launch and some calls of the golden function."""

OF_SEVERAL = ("host_state",)
"""Findings that only calls for several cases show."""

REFUSABLE = (Outcome.COMPILE_ERROR, Outcome.TIMEOUT, Outcome.REJECTED)
"""How an operator fails on a case that it is not made for, besides its host side's saying so."""


@dataclass
class _Check:
    standard: Standard
    settings: CheckSettings
    say: Say
    findings: Findings = field(default_factory=Findings)
    notes: list[str] = field(default_factory=list)
    launched: list[tuple[str, WorkloadCase]] = field(default_factory=list)
    """Cases that the plain build was launched on, with what is varied in them."""
    failed: list[tuple[str, WorkloadCase]] = field(default_factory=list)
    """Varied cases on which it failed."""
    lengthened: list[WorkloadCase] = field(default_factory=list)
    """Cases that only the host side is asked about."""
    varied: dict[str, int] = field(default_factory=dict)
    unexplained: int = MOST_UNEXPLAINED
    """Further wrong cases in which something may be taken for something else."""
    started: float = field(default_factory=time.monotonic)

    @property
    def seed(self) -> int:
        return self.standard.workload.seeds[0]

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self.started

    @property
    def late(self) -> bool:
        return self.elapsed > self.settings.seconds

    def own(self) -> None:
        """The workload's cases, or the one that is asked for."""
        if self.settings.case:
            workload = self.standard.workload
            asked, varied = one_case(self.standard.operator, workload, self.settings.case)
            if varied:
                self.say(f"case {asked.cases[0].name}")
                if not self._vary(varied, asked.cases[0]):
                    self.notes.append("The operator is not made for the case.")
                return
            self.standard = dataclasses.replace(self.standard, workload=asked)
        for case in self.standard.workload.cases:
            self.say(f"case {case.name}")
            found = self._plain(case)
            self._collect(case, found)
            if isinstance(found, TrialFailure) and found.outcome in ALWAYS:
                break
            self.launched.append(("", case))

    def _collect(
        self, case: WorkloadCase, found: Launched | TrialFailure, family: str = ""
    ) -> None:
        plain = [self._plain(one) for varied, one in self.launched if not varied]
        own = [one for one in plain if isinstance(one, Launched)]
        if isinstance(found, TrialFailure) or not found.compared.agrees:
            only_first(self.standard, case, self.findings, family)
            if family:
                cases = [one for _, one in self.launched] or self.standard.workload.cases
                ignored(self.standard, case, found, cases, self.findings)
        if isinstance(found, TrialFailure):
            unasked = bool(family) and may_be_unasked(self.standard, case, found.refusal)
            self.findings.failure(found, family, mild=family == Empty.name, unasked=unasked)
        else:
            explained = self.findings.shows("ignored", case.name)
            if not found.compared.agrees and self.unexplained and not explained:
                named = mistaken(self.standard, case, self.findings, family)
                self.unexplained = 0 if named else self.unexplained - 1
            longer = may_round(own, found)
            self.findings.launched(found, self.seed, family, rounding=family in ROUNDING or longer)

    def ask(self) -> None:
        """What the host side says of the cases."""
        own = [case for varied, case in self.launched if not varied]
        others = [case for varied, case in self.launched if varied and self._right(case)]
        if self.settings.varied and not self.settings.case:
            self.lengthened = lengthened(self.standard, own)
        ask_again(self.standard, own, others, self.lengthened, self.findings)

    def vary(self) -> None:
        """Cases that are made from those that pass."""
        standard = self.standard
        passing = [case for _, case in self.launched if self._right(case)]
        if not passing or self.settings.varied == 0:
            if self.settings.varied:
                self.notes.append("No case of the workload passes: none was varied.")
            return
        self.say("varied cases")
        workload = standard.workload.model_copy(update={"cases": tuple(passing)})
        half = self.settings.seconds / 2
        regimes_end = self.elapsed + (half - self.elapsed) * 2 / 3
        tier = dataclasses.replace(
            WIDE,
            most_cases=self.settings.varied,
            most_regimes=self.settings.varied,
            late=lambda: self.elapsed > half,
            regimes_late=lambda: self.elapsed > regimes_end,
        )
        swept = sweep(dataclasses.replace(standard, workload=workload), {}, tier)
        self.varied = swept.counts
        for family, before in swept.cases:
            if self._turned_down(before.case):
                continue
            self._doubt(family, before.case)
            self.findings.launched(before, self.seed, family)
            self.launched.append((family, before.case))
        for family, case in (*((family, case) for family, case, _ in swept.wrong), *swept.odd):
            if (family, case) not in (*self.launched, *self.failed):
                self._vary(family, case)
        for ladder in swept.longer:
            self._first_taken(ladder)
        if tier.late():
            self.notes.append("Half of the time is up: fewer cases were varied.")
        if swept.untaken:
            self.notes.append(f"Not varied: {', '.join(swept.untaken)}.")

    def _vary(self, family: str, case: WorkloadCase) -> bool:
        """Collect what a varied case shows; False where the operator is not made for it."""
        taken = self._taken(case)
        if taken is None:
            return False
        self.varied[family] = self.varied.get(family, 0) + 1
        self._doubt(family, case)
        self._collect(case, taken, family)
        (self.launched if isinstance(taken, Launched) else self.failed).append((family, case))
        return True

    def _doubt(self, family: str, case: WorkloadCase) -> None:
        if doubtful(self.standard, family, case):
            self.findings.doubtful.add(case.name)
        elif input_guessed(self.standard, case):
            self.findings.guessed.add(case.name)
        elif unlaunched(self.standard, family, case):
            self.findings.unlaunched.add(case.name)
        elif outputs_guessed(self.standard, family, case):
            self.findings.outputs_guessed.add(case.name)
            if outputs_unread(self.standard, case):
                self.findings.outputs_unread.add(case.name)

    def _first_taken(self, ladder: Sequence[WorkloadCase]) -> None:
        """Collect what the first case shows that the operator is made for."""
        for case in ladder:
            if self._vary(Lengths.name, case):
                return

    def watch(self, build: SimulatorBuild) -> None:
        """The same cases, built to be checked, and what the host side says of all of them."""
        meetings, asked = Meetings(build, self.findings), dict[str, HostRequest]()
        varied = [one for one in self.launched if one[0]]
        failed = [one for one in self.failed if self.findings.shown(one[1].name)]
        self._watch(build, [one for one in self.launched if not one[0]], meetings, asked)
        if self.settings.varied and not (self.settings.case and self.findings.ordered()):
            self._far(build)
        self._watch(build, [*varied, *failed], meetings, asked)
        self.revalue(build)
        remembers(build, asked, self.findings)
        meetings.ask(asked)

    def _far(self, build: SimulatorBuild) -> None:
        """Tensors of gibibytes, made from the cases that pass."""
        passing = [case for varied, case in self.launched if not varied and self._right(case)]
        if not passing:
            return
        self.say("tensors of gibibytes")
        workload = self.standard.workload.model_copy(update={"cases": tuple(passing)})
        standard = dataclasses.replace(self.standard, workload=workload)
        end = self.settings.seconds * OVERTIME
        if not far(standard, build, lambda: self.elapsed > end, self.findings):
            self.notes.append("Time is up: not all tensors of gibibytes were tried.")

    def alone(self, found: Finding) -> Finding:
        """The finding with the line of its case, where a launch of that case alone shows it."""
        if found.kind in OF_SEVERAL:
            return found
        name = self.findings.made_from.get(found.place.case, found.place.case)
        own = [("", case) for case in self.standard.workload.cases]
        asked = [(Lengths.name, case) for case in self.lengthened]
        for varied, case in (*self.launched, *self.failed, *own, *asked):
            if case.name == name:
                said = case_line(self.standard.operator, self.standard.workload, case, varied)
                return found.model_copy(update={"alone": said})
        return found

    def revalue(self, build: SimulatorBuild | None) -> None:
        """Make notes of what other values of a case's integers do not show, where no golden
        function says which are right, or what they were not tried for: it may take half as long
        again as all else."""
        if self.standard.workload.golden:
            return
        settings = self.settings.model_copy(update={"seconds": self.settings.seconds * OVERTIME})
        for varied, case in (*self.launched, *self.failed):
            for other in other_values(case, varied=bool(varied)):
                again = _Check(self.standard, settings, self.say, started=self.started)
                if not self.findings.shown(case.name):
                    break
                if again.late:
                    self.findings.untried(case.name)
                    break
                self.say(f"case {other.name}")
                taken = self._taken(other)
                if taken is None:
                    continue
                again._doubt(varied, other)
                again._collect(other, taken, varied)
                if build is not None:
                    again.launched.append((varied, other))
                    again._watch(build, again.launched, Meetings(build, again.findings), {})
                self.findings.hold_against(case.name, again.findings, other.name)

    def _watch(
        self,
        build: SimulatorBuild,
        cases: Sequence[tuple[str, WorkloadCase]],
        meetings: Meetings,
        asked: dict[str, HostRequest],
    ) -> None:
        for number, (varied, case) in enumerate(cases):
            if varied and self.late:
                left = len(cases) - number
                self.notes.append(
                    f"Time is up: {amount(left, 'case')} ran without checks of buffers."
                )
                return
            self.say(f"case {case.name}, built to be checked")
            try:
                now: Launched | TrialFailure = launch_once(
                    build, self.standard.references, case, self.seed
                )
            except TrialFailure as failure:
                if failure.outcome in ALWAYS:
                    self.notes.append(f"Buffers were not checked: {failure.refusal.message}")
                    return
                now = failure
            self.findings.warnings(now.warnings, case.name, varied)
            plain = self._plain(case)
            right = self.standard.references.known(case, self.seed)
            if right is None:  # the launch that would have made it failed
                continue
            facts, read = platform_facts(build.device), build.value_inputs
            asked[case.name] = host_request(
                build.operator, case, facts, right.inputs, right.outputs, read=read
            )
            for met in (w for w in now.warnings if w.kind == MEETS):
                meetings.note(case, build.answer(case, right.inputs, right.outputs), met)
            if isinstance(plain, Launched):
                self._compare(case, plain, now, varied, build)

    def _compare(
        self,
        case: WorkloadCase,
        plain: Launched,
        now: Launched | TrialFailure,
        varied: str,
        build: SimulatorBuild,
    ) -> None:
        if isinstance(now, Launched):
            compared = bool(self.standard.workload.golden)
            alike = compared and now.compared.agrees and plain.compared.agrees
            if now.digest == plain.digest:
                self.findings.steady.add(case.name)
            if now.digest == plain.digest or alike:
                return
            place, what = _first_difference(plain, now), "gives other outputs"
            where = " The two launches part near this line."
            kinds = ("uninitialised", "padding_lanes")
            unwritten = [w for kind in kinds for w in now.warnings if w.kind == kind]
            if not place.line and unwritten:
                place, where = unwritten[0].place, f" {unwritten[0].text}"
                if unwritten[0].other.line:
                    place = unwritten[0].other
                    where += " This line writes what lies in front of them and leaves them out."
        else:
            place = now.refusal.place
            what = f"fails ({now.refusal.sentence.rstrip('.')})"
            where = " The two launches part near this line."
        where = where if place.line else ""
        wrapped = [w for w in now.warnings if w.kind == "wrapped"]
        if wrapped:
            self.findings.together(
                "wrapped",
                wrapped[0].place.model_copy(update={"case": case.name}),
                f"{wrapped[0].text} Compilers differ on what it gives: built to be checked, the"
                f" kernel {what}.",
                varied,
            )
            return
        short = [w for w in now.warnings if w.kind == "short_tiling"]
        if short:
            self.findings.together(
                "short_tiling",
                short[0].place.model_copy(update={"case": case.name}),
                f"{short[0].text} Where other bytes lie behind them, the kernel {what}.",
                varied,
            )
            return
        references = self.standard.references
        host = left_unset(references.unmodified, build, case, references.of(case, self.seed))
        if host is not None:
            self.findings.together(
                "unset",
                host.place.model_copy(update={"case": case.name}),
                f"The host side leaves {host.what} to memory that nothing has set, or computes it"
                f" of such: where that holds other bytes, the kernel {what}.",
                varied,
            )
            return
        behind = [w for w in now.warnings if w.kind == "behind"]
        right = references.of(case, self.seed)
        if behind and build.reads_behind(case, right.inputs, empty_like(right.outputs)):
            self.findings.together(
                "behind",
                behind[0].place.model_copy(update={"case": case.name}),
                f"{behind[0].text} The kernel {what} when other bytes lie there.",
                varied,
            )
            return
        self.findings.together(
            "unset",
            place.model_copy(update={"case": case.name}),
            f"The kernel {what} when memory that nothing has set holds other bytes: it reads a "
            f"member, a local or a buffer before giving it a value.{where}",
            varied,
        )

    def _taken(self, case: WorkloadCase) -> Launched | TrialFailure | None:
        """The launch of a varied case; None where the operator is not made for it, as its host side
        or an assertion of its kernel says, or where the case tells outputs that it would not give.
        """
        if self._turned_down(case):
            return None
        try:
            found = self._plain(case)
        except InputError:  # the golden function does not take it
            return None
        if isinstance(found, (CaseDeclined, CaseTooLarge)):
            return None
        if isinstance(found, TrialFailure) and (
            found.outcome in REFUSABLE or stops_itself(found.refusal.sentence)
        ):
            return None
        return found

    def _turned_down(self, case: WorkloadCase) -> bool:
        """Whether InferShape refuses a varied case that no golden function takes, or gives it other
        outputs than it declares: they are made for the case that it was made from."""
        if self.standard.workload.golden:
            return False
        if refused_by_inference(self.standard, case):
            return True
        return as_inferred(self.standard, case) is False

    def _right(self, case: WorkloadCase) -> bool:
        found = self._plain(case)
        return isinstance(found, Launched) and found.compared.agrees

    def _plain(self, case: WorkloadCase) -> Launched | TrialFailure:
        try:
            return self.standard.baseline.at(case, self.seed)
        except TrialFailure as failure:
            return failure


def _first_difference(plain: Launched, now: Launched) -> Place:
    """The first line that only one of the two launches was seen at."""
    lines = [{(f, n) for f, n, _ in one.run.pipes.hot_lines} for one in (plain, now)]
    apart = sorted(lines[0] ^ lines[1])
    return Place(file=apart[0][0], line=apart[0][1]) if apart else Place()


def _placed(found: Finding, operator: Operator) -> Finding:
    """The finding with its files where they lie, seen from the operator's folder."""
    places = {
        name: place.model_copy(update={"file": operator.seen_from_folder(place.file)})
        for name, place in (("place", found.place), ("other", found.other))
    }
    return found.model_copy(update=places)


def check(standard: Standard, settings: CheckSettings, say: Say) -> CheckReport:
    """All that is found. Raises InputError when the golden function fails on the workload's own
    cases, EnvironmentProblem when this machine cannot build."""
    if isinstance(standard.backend, SimulatorBackend):
        standard.backend.toolchain.prepare(("plain", "checked"))  # takes none of the check's time
    one = _Check(standard, settings, say)
    if settings.case:
        one.own()
    else:
        with compiled_ahead(standard):
            one.own()
            one.vary()
    if isinstance(standard.backend, SimulatorBackend) and (one.launched or one.failed):
        try:
            build = standard.backend.built(standard.operator, {}, standard.workload, "checked")
            one.watch(build)
        except TrialFailure as failure:
            one.notes.append(f"Buffers were not checked: {failure.refusal.message}")
    else:
        one.revalue(None)
    one.ask()
    if not standard.workload.golden:
        one.notes.append("Results were not compared: the workload names no golden function.")
    return CheckReport(
        operator=standard.operator.name,
        folder=standard.operator.root,
        kernel=standard.operator.seen_from_folder(standard.operator.kernel_entry),
        findings=tuple(_placed(one.alone(f), standard.operator) for f in one.findings.ordered()),
        cases=len(one.launched),
        varied=one.varied,
        notes=tuple(dict.fromkeys(one.notes)),
        seconds=round(time.monotonic() - one.started, 2),
    )
