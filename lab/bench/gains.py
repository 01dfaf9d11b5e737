"""What `ascendopt optimize` proposes for many operators: each run is that command, in a folder of
its own, on a workload that lies there.

A run that was killed goes on where it was; one that ended is not made again.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from scipy.stats import gmean

from ci.backend.sim import SimulatorBackend
from ci.judge.evaluate import Evaluator
from ci.judge.varied_sweep import LEAST_VARIED
from ci.model.errors import InputError
from ci.model.operator import Operator
from ci.model.result import Result
from ci.model.trial import Trial
from ci.model.workload import Workload, WorkloadCase
from ci.search.task import hash_of_sources
from ci.source.golden import golden_function
from ci.source.workload_text import workload_text
from ci.system.cache import digest
from ci.system.row_file import RowFile
from ci.system.trial_store import TRIALS_FILE
from experience.bank.bank import Bank
from lab.bench.cell_process import LOG
from lab.bench.real_sizes import at_size
from lab.bench.search_cells import (
    CELL,
    RESULT,
    bank_copy,
    bank_without,
    keep_cell,
    kept_cell,
    kept_result,
    near_duplicates,
)
from lab.bench.strategies import Subject, subjects
from lab.model.gains import GainRow, Gains, GainsSettings

MADE_WITH: Final = {"elements", "budget", "seed", "wall_minutes", "device"}
"""Settings that results hang on."""

ROWS: Final = "rows.jsonl"
WORKLOAD: Final = "workload.yaml"


def measure(
    operators: Sequence[Operator],
    bank: Bank,
    settings: GainsSettings,
    on_row: Callable[[GainRow], None],
) -> Gains:
    """A row for each operator; rows that `settings.out` holds are kept.

    No operator meets what was learnt from it in `bank`. Raises InputError where there is no
    operator with a workload, where the folder holds a run of other settings, sources or workload,
    and where a search is killed: it has no row then, and is gone on with next time.
    """
    found, reasons = subjects(operators, settings)
    backend = SimulatorBackend(settings.device)
    version = backend.fingerprint().version
    made_with = {**settings.model_dump(mode="json", include=MADE_WITH), "simulator": version}
    kept = RowFile(settings.out / ROWS, GainRow, lambda row: row.operator)
    backend.toolchain.prepare()
    tuples, alike = bank.all(), near_duplicates([s.operator for s in found])

    runs = []
    for subject in found:
        own = bank_without(tuples, alike[subject.operator.name], settings.out / "banks")
        run = _Run(subject, settings, backend, own)
        begun = run.begin({**made_with, **about(subject), "bank": own.stem})
        runs.append((run, kept.rows.get(run.name) if begun else None))

    def row(run: _Run, known: GainRow | None) -> GainRow:
        if known is not None:
            return known
        made = run.row()
        kept.add(made)
        on_row(made)
        return made

    pool = ThreadPoolExecutor(settings.workers)
    try:
        rows = list(pool.map(lambda one: row(*one), runs))
    finally:
        pool.shutdown(cancel_futures=True)
    rows += [GainRow(operator=name, said=why) for name, why in sorted(reasons.items())]
    return Gains(settings=settings, version=version, enough=LEAST_VARIED, rows=tuple(rows))


def about(subject: Subject) -> dict[str, str]:
    """What results hang on of an operator: its sources and its workload. Raises InputError."""
    workload = subject.read().model_dump_json(exclude={"folder"})
    return {"sources": hash_of_sources(subject.operator), "workload": digest([workload])}


@dataclass(frozen=True)
class _Run:
    """One operator's workload and search."""

    subject: Subject
    settings: GainsSettings
    backend: SimulatorBackend
    bank: Path
    """The run begins with a copy of this one."""

    @property
    def name(self) -> str:
        """Name of its operator, and of its folder."""
        return self.subject.operator.name

    @property
    def folder(self) -> Path:
        """Where both are left."""
        return self.settings.out / self.name

    def begin(self, made_with: Mapping[str, object]) -> bool:
        """Note in the folder what the run is about; whether it was begun before. Raises InputError
        where the folder holds one that was made with something else."""
        known = (self.folder / CELL).exists()
        kept_cell(self.folder, made_with)
        keep_cell(self.folder, made_with)
        return known

    def row(self) -> GainRow:
        """What the command found, or why it ended without a result."""
        name = self.name
        try:
            self._write_workload()
        except InputError as problem:
            return GainRow(operator=name, said=str(problem))
        result = kept_result(self.folder) or self._optimized()
        if result is None or result.verdict == "baseline_failed":
            said = result.verdict_reason if result else self._last_said()
            return GainRow(operator=name, said=said)
        return row_of(result)

    def _write_workload(self) -> None:
        """The workload at the size that is asked for, as a file of the run."""
        file = self.folder / WORKLOAD
        if file.exists():
            return
        operator, workload = self.subject.operator, self.subject.read()
        if self.settings.elements:
            takes = _taker(Evaluator(operator, workload, self.backend))
            workload = at_size(operator, workload, self.settings.elements, takes)
        workload = _named(workload)
        if workload.golden:
            workload = self._with_golden(workload)
        part = file.with_suffix(".part")
        part.write_text(workload_text(operator, workload, (), self.folder), "utf-8")
        part.replace(file)

    def _with_golden(self, workload: Workload) -> Workload:
        """The workload with a copy of its golden function, and of the modules that lie next to
        it, in the run's folder: a golden lies where its workload does."""
        golden, function = golden_function(workload)
        for module in golden.parent.glob("*.py"):
            shutil.copyfile(module, self.folder / module.name)
        return workload.model_copy(
            update={"golden": f"{golden.name}:{function}", "folder": self.folder}
        )

    def _optimized(self) -> Result | None:
        """The command's result; None where it left none. Raises InputError where it was killed."""
        settings, bank = self.settings, bank_copy(self.bank, self.folder)
        words = [
            sys.executable, "-P", "-m", "ascendopt", "optimize", str(self.subject.operator.root),
            "--workload", str(self.folder / WORKLOAD), "--out", str(self.folder),
            "--bank", str(bank),
            "--budget", str(settings.budget), "--seed", str(settings.seed),
            "--wall-minutes", str(settings.wall_minutes), "--device", settings.device,
        ]  # fmt: skip
        if (self.folder / TRIALS_FILE).exists():
            words.append("--resume")
        with (self.folder / LOG).open("ab") as log:
            done = subprocess.run(
                words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False
            )
        if done.returncode < 0:
            raise InputError(
                f"The search of {self.name} was ended by signal"
                f" {-done.returncode}; the same command goes on with it."
            )
        return kept_result(self.folder)

    def _last_said(self) -> str:
        """The last line of what the command said."""
        lines = (self.folder / LOG).read_text("utf-8", errors="replace").split("\n")
        return next((line for line in reversed(lines) if line.strip()), f"It left no {RESULT}.")


def _taker(evaluator: Evaluator) -> Callable[[WorkloadCase], bool]:
    baseline, seed = evaluator.standard.baseline, evaluator.workload.seeds[0]
    return lambda case: baseline.defect(case, seed) == ""


def _named(workload: Workload) -> Workload:
    """Cases by number and the beginning of their names, which are long after growing."""
    cases = [
        case.model_copy(update={"name": f"{number} {case.name}"[:80]})
        for number, case in enumerate(workload.cases, 1)
    ]
    return workload.model_copy(update={"cases": tuple(cases)})


def row_of(result: Result) -> GainRow:
    """The row of a search whose baseline passed."""
    checked = result.verification
    return GainRow(
        operator=result.operator,
        verdict=result.verdict,
        reason=result.verdict_reason,
        speedup=result.speedup,
        low=result.held,
        before_us=_score(result.baseline),
        after_us=_score(result.best),
        floor_us=float(gmean(floors)) if (floors := [*result.floors_us.values()]) else 0.0,
        bottleneck=result.bottleneck_after or result.bottleneck_before,
        cases=len(result.baseline.measurement.cases) if result.baseline.measurement else 0,
        varied=sum(checked.varied.values()) if checked else 0,
        regimes=checked.regimes if checked else 0,
        evaluations=result.budget.evaluations,
        seconds=result.budget.wall_seconds,
    )


def _score(trial: Trial) -> float:
    return trial.measurement.score_us if trial.measurement else 0.0
