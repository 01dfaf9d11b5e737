"""What each part of the method is worth: the same operators, budget and seeds with parts left out.

Arms are the two stages alone, both, and both or Stage II without the bank. An operator never meets
what was learnt from it: its bank is a copy without its own tuples and those of near-duplicates.
The arm without a bank is the same search with nothing retrieved.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import exp, log
from pathlib import Path
from typing import Literal

from ci.backend.base import Backend
from ci.backend.pool import capacity
from ci.judge.pool_evaluator import BackendChoice
from ci.model.operator import Operator
from ci.model.result import Result
from ci.model.settings import TWO_WORKERS, OptimizeSettings
from ci.proposer.base import Proposer
from ci.search.lessons import lessons
from ci.search.task import Task
from ci.source.discovery import load_operator
from ci.source.workload_file import load_workload
from experience.bank.bank import Bank
from experience.bank.distill import Provenance
from experience.bank.patching import Misfit, undo
from experience.bank.tuple import ExperienceTuple
from lab.bench.judge_at import judge_at
from lab.bench.search_cells import kept_result, near_duplicates, own_bank, searched
from lab.bench.statistics import best_after, paired
from lab.model.ablation import (
    ARMS,
    THRESHOLDS,
    Ablation,
    AblationRow,
    AblationSettings,
    Arm,
    Cell,
)
from lab.model.paired import Difference


def ablation(
    operators: Sequence[Operator],
    bank: Bank,
    settings: AblationSettings,
    out: Path,
    make_proposer: Callable[[], Proposer],
    backend: Backend,
    on_cell: Callable[[Cell], None] = lambda cell: None,
) -> Ablation:
    """Run every cell that `out` does not hold yet, and put the table together. Resumable."""
    study = _Study(settings, out, bank.all(), near_duplicates(operators), make_proposer, backend)
    runs = [
        _Run(study, operator, seed, arm)
        for operator in operators
        for seed in range(settings.seeds)
        for arm in settings.chosen()
    ]

    def cell_of(run: _Run) -> Cell | None:
        cell = run.cell()
        if cell is not None:
            on_cell(cell)
        return cell

    with ThreadPoolExecutor(capacity(settings.pool or TWO_WORKERS)) as pool:
        done = list(pool.map(cell_of, runs))
    cells = [c for c in done if c is not None]
    if settings.learn:
        for run in runs:
            bank.add_all(run.lessons())
    fingerprint = backend.fingerprint()
    return Ablation(
        settings=settings,
        device=fingerprint.device,
        version=fingerprint.version,
        bank_tuples=len(study.tuples),
        cells=tuple(cells),
        rows=tuple(_rows(cells)),
        stage_two=difference(cells, "kernel", "kernel_no_bank"),
        both=difference(cells, "both", "both_no_bank"),
        left_out=tuple(
            sorted({r.operator.name for r, c in zip(runs, done, strict=True) if c is None})
        ),
    )


def weakened(
    operator: Operator, own: Iterable[ExperienceTuple], count: int, seed: int
) -> dict[str, str] | None:
    """The operator's texts with `count` of its own optimizations taken back; None if there are
    fewer. Which ones is drawn by the seed, each motif once; a scalar loop would hide the rest."""
    earned = sorted(
        (t for t in own if t.direction == "rewind" and t.motif_id != "scalar-loop-to-vector"),
        key=lambda t: t.id,
    )
    random.Random(f"{operator.name}:{seed}").shuffle(earned)
    texts, motifs = operator.texts(), set[str]()
    for lesson in earned:
        if len(motifs) == count:
            break
        if lesson.motif_id in motifs:
            continue
        try:
            texts = undo(lesson.diff, texts)
        except Misfit:
            continue
        motifs.add(lesson.motif_id)
    return texts if len(motifs) == count else None


@dataclass(frozen=True)
class _Study:
    """What all runs share."""

    settings: AblationSettings
    out: Path
    tuples: Sequence[ExperienceTuple]
    alike: Mapping[str, set[str]]
    """Operators, by operator, that it must not learn from."""
    make_proposer: Callable[[], Proposer]
    backend: Backend


@dataclass(frozen=True)
class _Run:
    """One operator with one seed in one arm; its folder tells whether it is done."""

    study: _Study
    operator: Operator
    seed: int
    arm: Arm

    @property
    def folder(self) -> Path:
        """Where the run leaves its result."""
        settings = self.study.settings
        home = self.study.out / self.operator.name / f"weakened-{settings.weaken}"
        return home / f"seed-{self.seed}" / f"{self.arm}-{settings.budget}"

    def cell(self) -> Cell | None:
        """The cell's run: read when it is done, else run or resumed. None when it cannot start."""
        result = kept_result(self.folder) or self._optimized()
        if result is None or result.baseline.measurement is None:
            return None
        return Cell(
            operator=self.operator.name,
            arm=self.arm,
            seed=self.seed,
            speedup=result.speedup,
            baseline_us=result.baseline.measurement.score_us,
            evaluations=result.budget.evaluations,
            best_after=tuple(s for s, _ in best_after(result, self.study.settings.budget)),
        )

    def lessons(self) -> list[ExperienceTuple]:
        """What the kernel steps of a finished run taught; nothing when there is none."""
        result = kept_result(self.folder)
        if result is None:
            return []
        copies = list((self.folder / "operator").glob("src/*/*"))
        subject = load_operator(copies[0]) if copies else self.operator
        source = Provenance(origin=f"run {result.run} of bench ablation")
        return lessons(subject, result.trials, self.study.make_proposer(), source)

    def _optimized(self) -> Result | None:
        study, settings = self.study, self.study.settings
        operator, workload = self.operator, load_workload(self.operator)
        if settings.weaken:
            own = [t for t in study.tuples if t.operator == operator.name]
            texts = weakened(operator, own, settings.weaken, self.seed)
            if texts is None:
                return None
            operator = _written(operator, texts, self.folder / "operator")
        self.folder.mkdir(parents=True, exist_ok=True)
        bank = None
        if not self.arm.endswith("no_bank") and self.arm != "tiling":
            bank = own_bank(self.folder, study.tuples, study.alike[self.operator.name])
        stage: Literal["both", "tiling", "kernel"] = (
            "tiling"
            if self.arm == "tiling"
            else "kernel"
            if self.arm.startswith("kernel")
            else "both"
        )
        choice = BackendChoice(backend="sim", device=study.backend.fingerprint().device)
        judge = judge_at(operator, workload, choice, settings.pool)
        return searched(
            Task(operator, workload, judge, study.make_proposer(), bank),
            OptimizeSettings(
                budget=settings.budget,
                stage=stage,
                seed=self.seed,
                top_k=settings.top_k,
                learn=False,
                other_shapes=False,
            ),
            self.folder,
        )


def _written(operator: Operator, texts: dict[str, str], folder: Path) -> Operator:
    """A copy of the operator with other texts, read like any other."""
    place = folder / "src" / (operator.category or "other") / operator.name
    if not place.exists():
        shutil.copytree(operator.root, place)
    for path, text in texts.items():
        (place / path).write_text(text, encoding="utf-8")
    return load_operator(place).model_copy(update={"repository": None})


def _rows(cells: Sequence[Cell]) -> list[AblationRow]:
    rows = []
    for arm in ARMS:
        speedups = [c.speedup for c in cells if c.arm == arm]
        if speedups:
            rows.append(
                AblationRow(
                    arm=arm,
                    runs=len(speedups),
                    mean=exp(sum(map(log, speedups)) / len(speedups)),
                    fast={
                        str(p): sum(s >= p for s in speedups) / len(speedups) for p in THRESHOLDS
                    },
                )
            )
    return rows


def difference(cells: Sequence[Cell], arm: Arm, without: Arm) -> Difference | None:
    """The paired ratio over operators with a bootstrap interval; an operator's seeds count once."""
    by_key = {(c.operator, c.seed, c.arm): log(c.speedup) for c in cells}
    ratios = []
    for operator in sorted({c.operator for c in cells}):
        pairs = [
            by_key[operator, s, arm] - by_key[operator, s, without]
            for s in {c.seed for c in cells}
            if (operator, s, arm) in by_key and (operator, s, without) in by_key
        ]
        if pairs:
            ratios.append(exp(sum(pairs) / len(pairs)))
    return paired(ratios)
