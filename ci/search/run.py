"""One run: evaluates what a strategy asks for, records it, meters the budget, tells onlookers.

Equal candidates are evaluated once. What an interrupted run recorded is answered by the
candidate's hash, whatever the order in which it is asked for.
"""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Callable, Collection

from pydantic import TypeAdapter

from ci.judge.base import Judge
from ci.judge.gates import admission
from ci.judge.gates.room import RoomGate
from ci.model.budget import Budget
from ci.model.comparison import MINIMUM_EFFECT, STEP_EFFECT, compare
from ci.model.errors import InputError, TrialFailure
from ci.model.notice import Notice, NoticeKind
from ci.model.objective import gains, least_gain, score_us
from ci.model.result import Verification
from ci.model.trial import Candidate, Measurement, Outcome, Refusal, Trial
from ci.model.uncertainty import uncertainty
from ci.search.ending import BudgetSpent
from ci.system.trial_store import TrialStore
from ci.tiling.template import Cut
from rules.constants import where

SIMULATED_STEP = 0.001
"""Gain of 0.1 % that is built on in simulated time, which repeats to the cycle."""

LAST_CHECKS = 4
"""Final checks that a run may make when its budget is spent and the paid one was refused."""

LAST_DROPS = 2
"""Evaluations that are kept, at most, to take steps out of the best that earn less than the minimum
effect: all of them at once and, where that costs too much, one."""

_CONFIRMED: TypeAdapter[Verification | Refusal] = TypeAdapter(Verification | Refusal)

ENSEMBLE = "ensemble"
"""The gate of candidates that are faster as measured and slower under another member."""

_STEP = "step"
"""The gate of candidates that broke a rule of their stage: they are not evaluated."""


class Run:
    """The trials of one search over an evaluator, a budget and a store."""

    def __init__(
        self,
        evaluator: Judge,
        budget: Budget,
        store: TrialStore,
        on_notice: Callable[[Notice], None],
        without: Collection[str] = (),
    ) -> None:
        """`without` names gates of admission that candidates are built on without being asked.

        Raises ValueError for one that is none. What is reported is asked by all of them.
        """
        admission(without)
        self.evaluator = evaluator
        self.budget = budget
        self.store = store
        self.history: list[Trial] = []
        self.best: Trial | None = None
        """The fastest trial that may be built on, for onlookers; None before the baseline."""
        self.preferred = ""
        """Hash of the candidate to report although others may be faster; '' for none."""
        self.cut = Cut()
        """The input by which the tiling's limits go, where the workload tells it."""
        self.confirmed: dict[str, Verification | Refusal] = {}
        """What the final check said, by the candidate's hash."""
        self._paid_check = True
        self._last_checks = LAST_CHECKS
        self._on_notice = on_notice
        self._without = without
        self._by_hash: dict[str, Trial] = {}
        self._by_program: dict[str, Trial] = {}
        self._refused_programs: set[str] = set()
        self._recorded: dict[str, deque[Trial]] = defaultdict(deque)
        for trial in store.trials():
            self._recorded[trial.candidate.hash].append(trial)
        numbers = [t.number for row in self._recorded.values() for t in row]
        self._upcoming = max(numbers, default=-1) + 1
        self._unclaimed = {t.number for row in self._recorded.values() for t in row if was_paid(t)}

    @property
    def baseline(self) -> Trial:
        """Trial 0; `measure_baseline` must have run."""
        return self.history[0]

    def upcoming(self) -> int:
        """Number of the next trial that is not recorded yet."""
        return self._upcoming

    @property
    def resolution(self) -> float:
        """Least gain that the backend can tell: searching builds on it, reporting asks for more."""
        measured = self.baseline.measurement
        simulated = measured is not None and measured.fingerprint.simulated
        return SIMULATED_STEP if simulated else STEP_EFFECT

    def known(self, candidate: Candidate) -> Trial | None:
        """The trial of an equal candidate that was evaluated or refused in this run."""
        return self._by_hash.get(candidate.hash)

    def prefer(self, trial: Trial) -> None:
        """Report this trial, if it holds up, rather than one that is faster by more edits."""
        self.preferred = trial.candidate.hash

    def is_recorded(self, candidate: Candidate) -> bool:
        """Whether the interrupted part of this run has a trial of it that was not asked for yet."""
        return bool(self._recorded.get(candidate.hash))

    def measure_baseline(self) -> Trial:
        """Trial 0: the original operator."""
        try:
            return self.evaluate(Candidate())
        except BudgetSpent:
            raise InputError("The budget does not cover the evaluation of the baseline.") from None

    def evaluate(
        self, candidate: Candidate, *, least: float = 1 + STEP_EFFECT, dropping: bool = False
    ) -> Trial:
        """The recorded trial of the candidate; raises `BudgetSpent` when nothing is left for it.

        The run reserves the evaluations that dropping weak steps needs; only `dropping=True` may
        use them. A candidate that gains by `least` on its parent must also be admitted by the
        judge. A candidate equal to an earlier one, in its texts or after compilation, gets the
        result of the earlier one and costs nothing; nor does one whose buffers do not fit.
        """
        recorded = self._take_recorded(candidate)
        earlier, program = self._by_hash.get(candidate.hash), ""
        if earlier is None and recorded is None:
            program = self.evaluator.program(candidate)
            earlier = self._by_program.get(program)
        if earlier is not None:
            again = {"candidate": candidate, "cached": True, "seconds": 0.0}
            return self._keep(recorded or earlier.model_copy(update=again), recorded is None)
        self._pay(recorded, 0 if dropping else self._kept(candidate))
        number = self._upcoming if recorded is None else recorded.number
        self.tell("trial_started", number=number, stage_of=candidate, text=candidate.rationale)
        if recorded is not None:
            return self._keep(recorded, False)
        trial = self.evaluator.evaluate(candidate, number)
        if _had_no_room(trial):
            self.budget.release()
        trial = trial.model_copy(update={"cached": False, "program": program})
        trial = self._over_states(trial, least)
        if self.gained(trial, least):
            parent = self.parent(trial)
            trial = self.evaluator.admit(trial, parent, self.baseline, without=self._without)
        return self._keep(trial, True)

    def refuse(self, candidate: Candidate, message: str) -> Trial:
        """Record a candidate that broke the rules of its stage; it costs no evaluation."""
        recorded = self._take_recorded(candidate)
        refused = Trial(
            number=self._upcoming,
            candidate=candidate,
            outcome=Outcome.REJECTED,
            refusal=Refusal(gate=_STEP, sentence=message),
        )
        return self._keep(recorded or refused, recorded is None)

    def gained(self, trial: Trial, least: float = 1 + STEP_EFFECT) -> bool:
        """Whether a trial may be built on: fit, its parent's time over its own above `least`, sure.

        False for one that was answered from an equal one: that one counts.
        """
        if not self.history or trial.candidate.hash == self.baseline.candidate.hash:
            return False
        return not trial.cached and self.faster(trial, self.parent(trial), least)

    def _over_states(self, trial: Trial, least: float) -> Trial:
        """The trial, refused where a gain as measured does not outlast the states and the ensemble.

        By the minimum effect, against the original operator: what is built on one that is
        slower anywhere would not be reported as a gain. One without a gain is not asked.
        """
        if not self.history or trial.candidate.hash == self.baseline.candidate.hash:
            return trial
        parent, base = self.parent(trial), self.baseline
        if trial.outcome is not Outcome.OK or trial.measurement is None:
            return trial
        if parent.measurement is None or base.measurement is None:
            return trial
        if not self._gains(trial, parent, least):
            return trial
        lost = least_gain(base.measurement, trial.measurement)
        try:
            if lost is None or lost[1] * (1 + MINIMUM_EFFECT) >= 1:
                lost = self._least_of_all(trial)
        except TrialFailure as failure:
            refused = failure.refusal.model_copy(update={"gate": ENSEMBLE})
            return trial.model_copy(update={"outcome": Outcome.UNFIT, "refusal": refused})
        if lost is None or lost[1] * (1 + MINIMUM_EFFECT) >= 1:
            return trial
        refused = Refusal(gate=ENSEMBLE, sentence=_loses(*lost))
        return trial.model_copy(update={"outcome": Outcome.UNFIT, "refusal": refused})

    def _gains(self, trial: Trial, than: Trial, least: float) -> bool:
        """Whether it is faster than another as measured, or over the start states."""
        as_measured = compare(measured(than), measured(trial), STEP_EFFECT).low
        return as_measured > least or self.score(than) / self.score(trial) > least

    def sure(self, trial: Trial) -> bool:
        """Whether the trial is nowhere in the ensemble slower than the original operator."""
        try:
            lost = self._least_of_all(trial)
        except TrialFailure:
            return False
        return lost is None or lost[1] * (1 + MINIMUM_EFFECT) >= 1

    def _least_of_all(self, trial: Trial) -> tuple[str, float] | None:
        """The member of the whole ensemble in which the gain is least, and that gain."""
        spread = uncertainty(measured(self.widened(self.baseline)), measured(self.widened(trial)))
        return None if spread is None else spread.weakest

    def faster(self, trial: Trial, than: Trial, least: float = 1 + STEP_EFFECT) -> bool:
        """Whether a trial is fit, gains by `least` on another and loses nothing on the baseline.

        The gain is what it is worth over the start states, where they were timed.
        """
        base = self.baseline.measurement
        if trial.outcome is not Outcome.OK or trial.measurement is None:
            return False
        if than.measurement is None or base is None:
            return False
        if compare(base, trial.measurement).verdict == "worse":
            return False
        if gains(base, trial.measurement) and gains(base, than.measurement):
            return self.score(than) / self.score(trial) > least
        return compare(than.measurement, trial.measurement, STEP_EFFECT).low > least

    def score(self, trial: Trial) -> float:
        """What the search minimises: the trial's worth over the start states as a time in µs."""
        assert self.baseline.measurement is not None and trial.measurement is not None
        return score_us(self.baseline.measurement, trial.measurement)

    def admit(self, trial: Trial) -> Trial:
        """A trial of this run as all gates admit it before it is reported, from now on so.

        Held against the original operator: a parent may never have been asked.
        """
        asked = {gate.name for gate in admission(())}
        anew = trial.model_copy(update={"gates": tuple(g for g in trial.gates if g not in asked)})
        admitted = self.evaluator.admit(anew, self.baseline, self.baseline)
        self.history[self.history.index(trial)] = admitted
        return admitted

    def confirm(self, trial: Trial) -> Verification | Refusal:
        """Return the final check of an admitted trial; it runs once.

        One is paid for when the run begins, each further one costs an evaluation, which is put
        aside at once. Where none was left `LAST_CHECKS` more are free, so that one refusal at the
        end does not take every gain of the run along; then raises `BudgetSpent`. One that is
        refused is unfit from now on.
        """
        name = trial.candidate.hash
        if name not in self.confirmed:
            if self._paid_check:
                self._paid_check = self.budget.reserve()
            elif self._last_checks:
                self._last_checks -= 1
            else:
                raise BudgetSpent
            doing = f"Verifying trial {trial.number} with more cases and seeds."
            self.tell("verifying", number=trial.number, text=doing)
            said = self.recall(f"final check of {name}", lambda: self._confirm(trial))
            self.confirmed[name] = _CONFIRMED.validate_json(said)
            if isinstance(refused := self.confirmed[name], Refusal):
                self.tell("note", number=trial.number, text=f"It is refused: {refused.message}")
        found = self.confirmed[name]
        if isinstance(found, Refusal) and trial.program:
            self._refused_programs.add(trial.program)
        if isinstance(found, Refusal) and trial in self.history:
            unfit = {"outcome": Outcome.UNFIT, "refusal": found}
            self.history[self.history.index(trial)] = trial.model_copy(update=unfit)
        return found

    def widened(self, trial: Trial) -> Trial:
        """The trial with its times over the ensemble, if one is asked for; measured once.

        Raises `TrialFailure` when a launch fails.
        """
        assert trial.measurement is not None
        said = self.recall(
            f"ensemble of {trial.candidate.hash}",
            lambda: json.dumps(self.evaluator.members_us(trial.candidate)),
        )
        return trial.model_copy(update={"measurement": trial.measurement.over(json.loads(said))})

    def end(self) -> None:
        """Give back what was put aside for a final check that nobody asked for."""
        if self._paid_check:
            self._paid_check = False
            self.budget.release()

    def _confirm(self, trial: Trial) -> str:
        try:
            return self.evaluator.confirm(trial).model_dump_json()
        except TrialFailure as failure:
            return failure.refusal.model_dump_json()

    def parent(self, trial: Trial) -> Trial:
        """The trial that this one's candidate was made from; the baseline when it names none."""
        return self._by_hash.get(trial.candidate.parent, self.baseline)

    def line(self, trial: Trial) -> list[Trial]:
        """The steps that led from the baseline to a trial, the oldest first, itself last."""
        line = [trial]
        while (above := self.parent(line[-1])) is not self.baseline and above not in line:
            line.append(above)
        return line[::-1]

    def weak(self, trial: Trial) -> list[Trial]:
        """Return those of the steps that led to a trial that gained less than the minimum
        effect."""
        pairs = [(step, self.parent(step)) for step in self.line(trial)]
        return [step for step, above in pairs if self._ratio(above, step) < 1 + MINIMUM_EFFECT]

    def _ratio(self, above: Trial, step: Trial) -> float:
        """Return the speedup of a step over its parent; 1 where either has no time."""
        if above.measurement is None or step.measurement is None:
            return 1.0
        return self.score(above) / self.score(step)

    def _kept(self, candidate: Candidate) -> int:
        """Evaluations to drop the weak steps of the best, be it this candidate."""
        parents = (self.best, self._by_hash.get(candidate.parent))
        known = [t for t in parents if t is not None and t is not self.baseline]
        return min(LAST_DROPS, max((len(self.weak(t)) for t in known), default=0))

    def doubted(self, trial: Trial) -> bool:
        """Whether the final check refused the trial's program, or one that it was made from."""
        while True:
            if isinstance(self.confirmed.get(trial.candidate.hash), Refusal):
                return True
            if trial.program in self._refused_programs:
                return True
            above = self.parent(trial)
            if above is trial or above is self.baseline:
                return False
            trial = above

    def recall(self, key: str, make: Callable[[], str]) -> str:
        """Return the text kept for `key`, also by an interrupted run; else the one of `make`."""
        known = self.store.recall(key)
        if known is None:
            known = make()
            self.store.remember(key, known)
        return known

    def note(self, text: str) -> None:
        """Tell the onlookers a sentence."""
        self.tell("note", text=text)

    def tell(
        self,
        kind: NoticeKind,
        *,
        number: int = 0,
        trial: Trial | None = None,
        stage_of: Candidate | None = None,
        text: str = "",
    ) -> None:
        """Let the onlookers know."""
        use = self.budget.use()
        self._on_notice(
            Notice(
                kind=kind,
                number=number,
                stage=stage_of.stage if stage_of is not None else "baseline",
                trial=trial,
                best_us=_score(self.best),
                baseline_us=_score(self.baseline) if self.history else None,
                spent=use.evaluations,
                granted=use.granted,
                text=text,
            )
        )

    def _take_recorded(self, candidate: Candidate) -> Trial | None:
        row = self._recorded.get(candidate.hash)
        return row.popleft() if row else None

    def _pay(self, recorded: Trial | None, kept: int) -> None:
        """Reserve what a trial costs, if that leaves as much as is to be kept.

        What the interrupted part of this run evaluated is counted when it is asked for, and at
        the latest before anything new is evaluated: it was paid for, asked for again or not.
        """
        cost = 1
        if recorded is None:
            cost += len(self._unclaimed)
        elif recorded.number not in self._unclaimed:
            cost = 0
        if (recorded is None and self.budget.left < cost + kept) or not self.budget.reserve(cost):
            raise BudgetSpent
        if recorded is None:
            self._unclaimed.clear()
        else:
            self._unclaimed.discard(recorded.number)

    def _keep(self, trial: Trial, new: bool) -> Trial:
        if new:
            trial = trial.model_copy(update={"number": self._upcoming})
            self.store.append(trial)
            self._upcoming += 1
        self.history.append(trial)
        self._by_hash.setdefault(trial.candidate.hash, trial)
        if trial.program:
            self._by_program.setdefault(trial.program, trial)
        if self.best is None or (not trial.cached and self.faster(trial, self.best)):
            self.best = trial
        self.tell(
            "trial_finished",
            number=trial.number,
            trial=trial,
            stage_of=trial.candidate,
            text=_sentence(trial),
        )
        return trial


def was_paid(trial: Trial) -> bool:
    """Whether an evaluation was spent: not on an equal candidate, nor on one that broke a rule of
    its stage or that there was no room for."""
    refused = trial.refusal is not None and trial.refusal.gate == _STEP
    return not trial.cached and not refused and not _had_no_room(trial)


def _had_no_room(trial: Trial) -> bool:
    """Whether the buffers exceeded the core, which its launch showed before it did any work."""
    return trial.refusal is not None and trial.refusal.gate == RoomGate.name


def measured(trial: Trial) -> Measurement:
    """The times of a trial that has some."""
    assert trial.measurement is not None
    return trial.measurement


def _loses(member: str, gain: float) -> str:
    """Why a gain as measured is none."""
    return (
        f"It takes {1 / gain:.3f} times as long as the original operator {where(member)}."
        " A change must lose in no start state, whatever the uncertain constants are."
    )


def _score(trial: Trial | None) -> float | None:
    return trial.measurement.score_us if trial is not None and trial.measurement else None


def _sentence(trial: Trial) -> str:
    if trial.outcome is Outcome.UNFIT and trial.refusal:
        return f"Not inherited: {trial.refusal.message}"
    if trial.measurement is not None:
        return trial.candidate.rationale or f"{trial.measurement.score_us:.2f} µs"
    return trial.refusal.message if trial.refusal else trial.outcome.value
