"""What `ascendopt optimize` proposes for many operators: each run is that command, in a folder of
its own, on a workload that lies there.

A run that was killed goes on where it was; one that ended is not made again.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from scipy.stats import gmean

from ci.backend.sim import SimulatorBackend
from ci.judge.evaluate import Evaluator
from ci.model.errors import InputError
from ci.model.operator import Operator
from ci.model.result import Result
from ci.model.trial import Trial
from ci.model.workload import Workload, WorkloadCase
from ci.source.golden import golden_function
from ci.source.workload_text import workload_text
from ci.system.row_file import RowFile
from ci.system.trial_store import TRIALS_FILE
from experience.bank.bank import Bank
from lab.bench.real_sizes import at_size
from lab.bench.search_cells import (
    RESULT,
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
BANK: Final = "bank.duckdb"
LOG: Final = "log.txt"


def measure(
    operators: Sequence[Operator],
    bank: Bank,
    settings: GainsSettings,
    on_row: Callable[[GainRow], None],
) -> Gains:
    """A row for each operator; rows that `settings.out` holds are kept.

    No operator meets what was learnt from it in `bank`. Raises InputError where there is no
    operator with a workload, or where the folder holds runs of other settings.
    """
    found, reasons = subjects(operators, settings)
    backend = SimulatorBackend(settings.device)
    version = backend.fingerprint().version
    made_with = {**settings.model_dump(mode="json", include=MADE_WITH), "simulator": version}
    kept_cell(settings.out, made_with)
    keep_cell(settings.out, made_with)
    kept = RowFile(settings.out / ROWS, GainRow, lambda row: row.operator)
    backend.toolchain.prepare()
    tuples, alike = bank.all(), near_duplicates([s.operator for s in found])

    def row_of(subject: Subject) -> GainRow:
        name = subject.operator.name
        if name in kept.rows:
            return kept.rows[name]
        own = bank_without(tuples, alike[name], settings.out / "banks")
        row = _Run(subject, settings, backend, own).row()
        kept.add(row)
        on_row(row)
        return row

    with ThreadPoolExecutor(settings.workers) as pool:
        rows = list(pool.map(row_of, found))
    rows += [GainRow(operator=name, said=why) for name, why in sorted(reasons.items())]
    return Gains(settings=settings, version=version, rows=tuple(rows))


@dataclass(frozen=True)
class _Run:
    """One operator's workload and search."""

    subject: Subject
    settings: GainsSettings
    backend: SimulatorBackend
    bank: Path
    """The run begins with a copy of this one."""

    @property
    def folder(self) -> Path:
        """Where both are left."""
        return self.settings.out / self.subject.operator.name

    def row(self) -> GainRow:
        """What the command found, or why it ended without a result."""
        name = self.subject.operator.name
        self.folder.mkdir(parents=True, exist_ok=True)
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
        """The command's result; None where it left none."""
        settings, bank = self.settings, self.folder / BANK
        if not bank.exists():
            shutil.copyfile(self.bank, bank.with_suffix(".part")).replace(bank)
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
            subprocess.run(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False)
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
