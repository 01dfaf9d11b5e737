"""An operator with all that evaluates it, and what can be done with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ci.model.errors import InputError
from ci.model.experience import RewindSettings, RewindStep
from ci.model.frozen import Frozen
from ci.model.notice import Notice
from ci.model.settings import (
    ONE_AT_A_TIME,
    ConditionOptions,
    EvaluationSetup,
    OptimizeSettings,
    ProposerOptions,
)
from ci.model.trial import Candidate
from ci.session.proposers import AGENT, REPLAY, find_proposer

if TYPE_CHECKING:
    from ci.judge.base import Judge
    from ci.judge.gate_subject import EvaluationSettings
    from ci.model.finding import CheckReport, CheckSettings
    from ci.model.operator import Operator
    from ci.model.profile import Profile
    from ci.model.prompt import StepPrompt
    from ci.model.result import Result
    from ci.model.trial import Trial
    from ci.model.workload import Workload
    from ci.search.base import Strategy
    from experience.jobs.rewind import RewindResult

FINAL: Final = ConditionOptions()
"""What a run's result is measured over unless its options say otherwise."""


@dataclass(frozen=True)
class Session:
    """An operator ready to be evaluated, and what can be done with it."""

    operator: Operator
    workload: Workload
    evaluator: Judge
    settings: dict[str, str]
    """Workload, backend and device as a person would give them again from the repository's top."""
    timelines: Path | None = None
    """Folder that takes an instruction timeline of each case when profiling."""

    def evaluate(self, candidate: Candidate, *, widened: bool = False) -> Trial:
        """Build, run, verify and measure once; `widened`: over the session's ensemble too."""
        return self._widened(self.evaluator.evaluate(candidate, 0), widened)

    def _widened(self, trial: Trial, asked: bool) -> Trial:
        """The trial with its times over the ensemble if that is asked for, else without."""
        if trial.measurement is None:
            return trial
        members_us = self.evaluator.members_us(trial.candidate) if asked else {}
        return trial.model_copy(update={"measurement": trial.measurement.over(members_us)})

    def profile(self, candidate: Candidate, out: Path, *, widened: bool = False) -> Profile:
        """One trial with its diagnosis; trace and tables go to `out` when it runs.

        `widened`: over the session's ensemble too. The session must have been opened with
        `timelines`.
        """
        from ci.judge.profile import write_profile
        from ci.judge.roofline import rooflines
        from ci.model.profile import Profile

        assert self.timelines is not None
        trial = self._widened(self.evaluator.evaluate(candidate, 0, profile=True), widened)
        if trial.measurement is None:
            return Profile(trial=trial)
        trace, tables = write_profile(self.operator.name, trial.measurement, self.timelines, out)
        return Profile(
            trial=trial,
            diagnosis=find_proposer(ProposerOptions()).diagnose(self.operator, trial),
            rooflines=rooflines(trial.measurement),
            trace=str(trace),
            tables=tuple(str(table) for table in tables),
        )

    def optimize(
        self,
        settings: OptimizeSettings,
        proposing: ProposerOptions,
        bank: Path | None,
        out: Path,
        onlooker: Callable[[Notice], None] = lambda notice: None,
        *,
        strategy: Frozen | Callable[[], Strategy] | None = None,
        set_aside: bool = False,
    ) -> Result:
        """Search for something faster; resumable from `out`. `bank` None: the user's own.

        `strategy` is chosen by `strategy_options()`, the default one when not given; or it makes
        one that is in no list, as an agent needs.
        `set_aside`: trials in `out` that another program or bank left are kept under another name,
        and the search begins again, instead of an `InputError`.
        """
        from ci.search.optimize import optimize
        from ci.search.strategies import make_strategy
        from ci.search.task import Task
        from ci.session.open_bank import open_bank
        from ci.system import trial_store

        proposer = find_proposer(proposing)
        # A replay is offered what the recorded run was, and earns nobody credit a second time.
        chosen = None if proposing.proposer.startswith(REPLAY) else open_bank(bank)
        task = Task(self.operator, self.workload, self.evaluator, proposer, chosen)
        if proposing.proposer == AGENT and not callable(strategy):
            raise InputError("--proposer agent is for `ascendopt optimize`, which starts it.")

        def search() -> Result:
            made = strategy() if callable(strategy) else make_strategy(strategy)
            return optimize(task, settings, out, onlooker, strategy=made)

        try:
            found = search()
        except InputError:
            if not set_aside or not trial_store.set_aside(out):
                raise
            found = search()
        return self._told(found, proposing.proposer)

    def prompt(self, bank: Path | None) -> StepPrompt:
        """Return the prompt for a first step of both halves; nothing is sent."""
        from ci.proposer.llm.first_prompt import first_prompt
        from ci.session.open_bank import open_bank

        trial = self.evaluator.evaluate(Candidate(), 0)
        return first_prompt(self.operator, self.workload, trial, open_bank(bank))

    def check(
        self, settings: CheckSettings, say: Callable[[str], None] = lambda what: None
    ) -> CheckReport:
        """All that is wrong with the operator as it is; `say` hears what is going on."""
        from ci.judge.check.check import check
        from ci.judge.evaluate import Evaluator

        assert isinstance(self.evaluator, Evaluator)  # no pool
        return check(self.evaluator.standard, settings, say)

    def verify(
        self,
        change: Candidate,
        out: Path,
        onlooker: Callable[[Notice], None] = lambda notice: None,
    ) -> Result:
        """Measure and verify an earlier change on the operator as it is."""
        from ci.search.reverify import reverify

        found = reverify(self.operator, self.evaluator, change, out, onlooker)
        return self._told(found, "rules")

    def rewind(
        self,
        settings: RewindSettings,
        proposing: ProposerOptions,
        bank: Path | None,
        on_step: Callable[[RewindStep], None],
    ) -> RewindResult:
        """Remove the operator's optimizations one by one; what they were worth goes to `bank`."""
        from ci.search.outcome import base_commit
        from ci.session.open_bank import begin_beside, open_bank
        from experience.jobs.rewind import rewind

        proposer, store = find_proposer(proposing), open_bank(bank)
        tried: list[RewindStep] = []

        def step_done(step: RewindStep) -> None:
            tried.append(step)
            on_step(step)

        begin_beside(
            proposer,
            store,
            settings,
            workload=self.workload,
            device=self.evaluator.fingerprint().device,
            upcoming=lambda: len(tried) + 1,
        )
        return rewind(
            self.operator,
            self.evaluator,
            proposer,
            store,
            settings,
            commit=base_commit(self.operator),
            on_step=step_done,
        )

    def _told(self, result: Result, proposer: str) -> Result:
        """The result with the settings that a person would give again."""
        settings = {**result.settings, **self.settings, "proposer": proposer}
        return result.model_copy(update={"settings": settings})


def open_session(
    path: Path,
    setup: EvaluationSetup,
    *,
    timelines: Path | None = None,
    conditions: ConditionOptions = FINAL,
    pool: str = "",
    screen: bool = False,
) -> Session:
    """Read the operator and its workload, and build the evaluator; raises `InputError`.

    `conditions` are those that final figures are measured over. `pool` says where evaluations run,
    as `PoolOptions` does; '' in this process. `screen`: the simulator screens for a device, as
    `ScreenOptions` says.
    """
    from ci.judge.gate_subject import EvaluationSettings
    from ci.source.discovery import load_operator
    from ci.source.workload_file import load_workload

    operator = load_operator(path)
    workload = load_workload(operator, setup.workload)
    if setup.jobs > 1 and (setup.backend in ONE_AT_A_TIME or setup.recording is not None):
        raise InputError(
            "--jobs is for simulated time: on an NPU, or with --recording, launches must not meet;"
            " leave it at 1."
        )
    judging = EvaluationSettings(
        timelines=timelines, jobs=setup.jobs, ensemble=conditions.ensemble()
    )
    evaluator = _evaluator(operator, workload, setup, judging, pool)
    if screen and setup.backend in ONE_AT_A_TIME:
        from ci.judge.two_tiers import TwoTiers

        simulated = setup.model_copy(update={"backend": "sim", "recording": None})
        every = judging.model_copy(update={"ensemble": FINAL.ensemble()})
        first = _evaluator(operator, workload, simulated, every, pool)
        evaluator = TwoTiers(first, evaluator)
    settings = {"backend": setup.backend, "device": setup.device}
    if setup.asc_headers:
        settings["asc-headers"] = setup.asc_headers
    settings |= {k: v for k in ("conditions", "inputs") if (v := getattr(conditions, k))}
    if setup.workload is not None:
        settings["workload"] = _from_top(setup.workload, operator.repository)
    return Session(operator, workload, evaluator, settings, timelines)


def _evaluator(
    operator: Operator,
    workload: Workload,
    setup: EvaluationSetup,
    judging: EvaluationSettings,
    pool: str,
) -> Judge:
    """What judges here or at a pool; what is wrong with the golden is said before anything is
    built."""
    if pool:
        from ci.backend.pool import open_pool
        from ci.judge.pool_evaluator import BackendChoice, PooledEvaluator

        if setup.recording is not None:
            raise InputError("--recording keeps what this process runs; leave --pool out.")
        choice = BackendChoice(
            backend=setup.backend,
            device=setup.device,
            asc_headers=setup.asc_headers,
            state=judging.state,
        )
        workers = open_pool(pool, setup.backend)
        pooled = PooledEvaluator(operator, workload, choice, workers, settings=judging)
        pooled.load()
        return pooled
    from ci.backend import make_backend
    from ci.judge.evaluate import Evaluator

    backend = make_backend(
        setup.backend,
        setup.device,
        recording=setup.recording,
        asc_headers=setup.asc_headers,
        state=judging.state,
    )
    if setup.recording is not None and setup.backend != "replay":
        from ci.backend.replay import RecordingBackend

        if setup.recording.exists():
            raise InputError(f"{setup.recording} exists already; a recording is a new file.")
        if not setup.recording.parent.is_dir():
            raise InputError(f"The folder {setup.recording.parent} does not exist.")
        backend = RecordingBackend(backend, setup.recording)
    evaluator = Evaluator(operator, workload, backend, settings=judging)
    evaluator.references.load()
    return evaluator


def _from_top(path: Path, top: Path | None) -> str:
    """`path` from the repository's top when it lies inside, else as it was given."""
    if top is not None and path.resolve().is_relative_to(top.resolve()):
        return path.resolve().relative_to(top.resolve()).as_posix()
    return str(path)
