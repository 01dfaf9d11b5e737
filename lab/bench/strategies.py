"""Search strategies side by side: the same operators, backend, proposer, budget and seeds.

Every cell (operator, seed, arm) is a run in a process and a folder of its own. All arms of an
operator come before the next one, all operators of a seed before the next seed, so that a bench
which is stopped on its way has something to tell. An operator that does not pass its workload as
it stands is named with the reason and stops nothing.
"""

from __future__ import annotations

import resource
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from ci.backend.pool import capacity
from ci.backend.sim import SimulatorBackend
from ci.judge.base import Judge
from ci.judge.evaluate import Evaluator
from ci.judge.evaluation_cache import RememberedEvaluator
from ci.judge.gate_subject import EvaluationSettings
from ci.judge.pool_evaluator import BackendChoice
from ci.model.errors import InputError, ModelUnavailable
from ci.model.operator import Operator
from ci.model.settings import TWO_WORKERS, OptimizeSettings
from ci.model.workload import Workload
from ci.proposer.base import Proposer
from ci.search.task import Task
from ci.source.discovery import load_operator
from ci.source.placed import operator_folders
from ci.source.workload_file import load_workload, workload_in
from ci.system.cache import digest
from experience.bank.bank import Bank
from lab.bench.cell_process import Answer, Job, in_process
from lab.bench.compared_strategies import chosen_arms, strategy_of
from lab.bench.judge_at import judge_at
from lab.bench.machine import sample
from lab.bench.search_cells import (
    RESULT,
    bank_copy,
    bank_without,
    cell_of,
    keep_cell,
    kept_cell,
    near_duplicates,
    searched,
)
from lab.bench.strategy_table import table
from lab.model.chosen import ChosenOperators
from lab.model.strategies import Arm, Cell, LeftOut, StrategyBench, StrategyBenchSettings

JUDGED = EvaluationSettings(siblings=2)
"""A change of shared sources is judged on two more operators in each run, not on fifty."""


@dataclass(frozen=True)
class Subject:
    """An operator, and where its workload is."""

    operator: Operator
    workload: Path | None
    """None for the one next to the operator."""

    def read(self) -> Workload:
        """The workload; raises `InputError`."""
        return load_workload(self.operator, self.workload)


@dataclass(frozen=True)
class Run:
    """Arguments of the process of one cell."""

    subject: Subject
    arm: Arm
    seed: int
    settings: StrategyBenchSettings
    bank: Path | None
    """Begins as a copy of this one; None for an arm without experience."""
    make_proposer: Callable[[], Proposer]
    out: Path
    about: Mapping[str, Any]
    """Operator, workload, proposer, machine and bank, as far as results hang on them."""

    @property
    def identity(self) -> dict[str, Any]:
        """What must be equal for a cell that was kept to be this one."""
        return {**self.about, "arm": self.arm.model_dump(mode="json"), "seed": self.seed}

    @property
    def name(self) -> str:
        """Its folder from `out`."""
        operator = self.subject.operator.name
        return f"{operator}/seed-{self.seed}/{self.arm.name}-{self.settings.budget}"

    @property
    def folder(self) -> Path:
        """Where its trials, bank and result are."""
        return self.out / self.name

    @property
    def _answers(self) -> Path:
        """The file of what candidates came to, which arms and seeds of an operator share."""
        same = [f"{k} {self.about[k]}" for k in ("operator", "sources", "workload", "machine")]
        named = digest([*same, JUDGED.model_dump_json()])
        return self.folder.parents[1] / f"answers-{named}.sqlite"

    def make(self) -> Cell:
        """Make the run, or the rest of it, and keep its cell; raises InputError if it cannot.

        Raises ModelUnavailable when it ended early: it goes on when it is asked for again.
        """
        subject, settings, arm = self.subject, self.settings, self.arm
        bank = None if self.bank is None else bank_copy(self.bank, self.folder)
        workload = subject.read()
        judge: Judge = judge_at(
            subject.operator,
            workload,
            BackendChoice(backend="sim", device=settings.device),
            settings.pool,
            settings=JUDGED,
            most=1,
        )
        judge.load()
        remembered: RememberedEvaluator | None = None
        # An arm that is spared evaluations would have more time than the others.
        if not settings.wall_minutes:
            judge = remembered = RememberedEvaluator(judge, self._answers)
        result = searched(
            Task(
                subject.operator,
                workload,
                judge,
                self.make_proposer(),
                Bank(bank) if bank else None,
            ),
            OptimizeSettings(
                budget=settings.budget,
                stage=arm.stage,
                seed=self.seed,
                top_k=settings.top_k,
                wall_minutes=settings.wall_minutes,
                max_tokens=settings.max_tokens,
                max_cost=settings.max_cost,
                learn=False,
            ),
            self.folder,
            strategy_of(arm),
        )
        if result.verdict == "baseline_failed":
            # It is asked again next time: the operator or its workload may be fixed by then.
            (self.folder / RESULT).unlink()
            raise InputError(result.verdict_reason)
        if result.stopped:
            (self.folder / RESULT).unlink()
            raise ModelUnavailable(result.stopped)
        used = [resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        cell = cell_of(result, arm, self.name, sum(u.ru_utime + u.ru_stime for u in used))
        if remembered is not None:
            cell = cell.model_copy(
                update={
                    "wall_seconds": cell.wall_seconds + remembered.spared_wall,
                    "cpu_seconds": cell.cpu_seconds + remembered.spared_cpu,
                }
            )
            remembered.close()
        keep_cell(self.folder, self.identity, cell)
        if bank is not None:  # what it offered is in the result
            bank.unlink()
        return cell


@dataclass
class _Progress:
    """What is known while the runs go on; several threads make them."""

    reasons: dict[str, str]
    """Why an operator, or one run of it, is in no table."""
    done: dict[str, Cell] = field(default_factory=dict)
    total: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, runs: Iterable[Run]) -> list[Run]:
        """Return those that are not done yet; raises InputError for one made with other
        settings."""
        waiting = []
        for run in runs:
            cell = kept_cell(run.folder, run.identity)
            if cell is None:
                waiting.append(run)
            else:
                self.done[run.name] = cell
        self.total = len(waiting) + len(self.done)
        return waiting

    def make(self, run: Run, answer: Callable[[Job], Answer], tell: Callable[[str], None]) -> None:
        """Make a run, unless its operator is known not to pass."""
        operator = run.subject.operator.name
        if operator in self.reasons:
            return
        keep_cell(run.folder, run.identity)
        found = answer(run)
        with self.lock:
            if found.cell is not None:
                self.done[run.name] = found.cell
                said = f"{found.cell.speedup:.3f}x after {found.cell.evaluations} evaluations"
            else:
                about = operator if found.operators_fault else run.name
                self.reasons[about] = said = found.reason
            tell(f"[{len(self.done)}/{self.total}] {run.name}: {said}")

    def make_all(
        self, runs: Iterable[Run], answer: Callable[[Job], Answer], tell: Callable[[str], None]
    ) -> None:
        """Make one run after the other."""
        for run in runs:
            self.make(run, answer, tell)


def subjects(
    operators: Sequence[Operator], settings: ChosenOperators
) -> tuple[list[Subject], dict[str, str]]:
    """The operators with their workloads, and why others of the repository are left out.

    Those of the repository for which there is no workload are not meant. Raises InputError when a
    folder does not exist, or when nothing is left.
    """
    for folder in (settings.repository, settings.workloads):
        if folder is not None and not folder.is_dir():
            raise InputError(f"There is no folder {folder}.")
    given = [(o.root, o.repository or o.root.parent) for o in operators]
    if settings.repository is not None:
        top = settings.repository.resolve()
        folders = operator_folders(top)
        given += [(root, top) for root in folders if _workload(root, top, settings) is not None]
    chosen: dict[str, Subject] = {}
    reasons: dict[str, str] = {}
    for root, top in given:
        try:
            operator = load_operator(root)
            subject = Subject(operator, _workload(root, top, settings))
            if operator.name in chosen:
                twin = _place(chosen[operator.name].operator.root)
                reasons[_place(root)] = f"{twin} has the same name and is run."
                continue
            if subject.workload is None and settings.workloads is not None:
                raise InputError(f"{settings.workloads} has no workload for it.")
            subject.read()
            chosen[operator.name] = subject
        except InputError as problem:
            reasons[root.name] = str(problem)
    if not chosen:
        why = "; ".join(f"{name}: {reason}" for name, reason in list(reasons.items())[:3])
        raise InputError(f"There is no operator with a workload to run. {why}".strip())
    return sample(list(chosen.values()), settings.sample), reasons


def _place(root: Path) -> str:
    """An operator's folder as readers elsewhere see it: its category and its name."""
    return f"{root.parent.name}/{root.name}"


def _workload(root: Path, top: Path, settings: ChosenOperators) -> Path | None:
    if settings.workloads is not None:
        return workload_in(settings.workloads, root, top)
    beside = root / "workload.yaml"
    return beside if beside.is_file() else None


def bench(
    operators: Sequence[Operator],
    bank: Bank,
    settings: StrategyBenchSettings,
    out: Path,
    make_proposer: Callable[[], Proposer],
    tell: Callable[[str], None] = lambda text: None,
    answer: Callable[[Job], Answer] = in_process,
) -> StrategyBench:
    """Make every run that `out` does not hold yet, and put the tables together. Resumable.

    `make_proposer` is called in the process of each run, so it must be picklable. Raises
    InputError when `out` holds a cell that was made with other settings.
    """
    arms, tuples = chosen_arms(settings.strategies), bank.all()
    found, reasons = subjects(operators, settings)
    alike = near_duplicates([s.operator for s in found])
    backend, proposer = SimulatorBackend(settings.device), make_proposer()
    fingerprint = backend.fingerprint()
    common = {
        "budget": settings.budget,
        "wall_minutes": settings.wall_minutes,
        "top_k": settings.top_k,
        "machine": f"{fingerprint.device} {fingerprint.version}",
    }
    runs: list[list[Run]] = [[] for _ in range(settings.seeds)]
    for subject in found:
        judge = Evaluator(subject.operator, subject.read(), backend)
        own = bank_without(tuples, alike[subject.operator.name], out / "banks")
        task = Task(subject.operator, judge.workload, judge, proposer)
        about = {**task.identity(), **common, "bank": own.stem}
        for seed, of_seed in enumerate(runs):
            for arm in arms:
                with_bank = own if arm.bank and arm.stage != "tiling" else None
                of_seed.append(
                    Run(subject, arm, seed, settings, with_bank, make_proposer, out, about)
                )
    progress = _Progress(reasons=reasons)
    waiting = progress.begin(run for of_seed in runs for run in of_seed)
    if settings.run and waiting:
        backend.toolchain.prepare()
        pool = ThreadPoolExecutor(capacity(settings.pool or TWO_WORKERS))
        try:
            # The arms of an operator one after the other: each finds what the last one left.
            of_operator = groupby(waiting, key=lambda run: (run.seed, run.subject.operator.name))
            together = [list(some) for _, some in of_operator]
            for _ in pool.map(lambda some: progress.make_all(some, answer, tell), together):
                pass
        finally:
            pool.shutdown(cancel_futures=True)
    return table(
        settings,
        arms,
        [s.operator.name for s in found],
        list(progress.done.values()),
        [LeftOut(operator=o, reason=why) for o, why in sorted(progress.reasons.items())],
        proposer=proposer.name,
        device=fingerprint.device,
        version=fingerprint.version,
        bank_tuples=len(tuples),
    )
