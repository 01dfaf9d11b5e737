"""What each part of the method is worth: the same operators, budget and seeds with parts left out.

Arms are the two stages alone, both, and both or Stage II without the bank. An operator never meets
what was learnt from it: its bank is a copy without its own tuples and those of near-duplicates.
The arm without a bank is the same search with nothing retrieved.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from math import exp, log
from pathlib import Path
from typing import Literal

import numpy as np
from scipy import stats

from ci.backend.base import Backend
from ci.judge.evaluate import Evaluator
from ci.model.bench.ablation import (
    ARMS,
    THRESHOLDS,
    Ablation,
    AblationRow,
    AblationSettings,
    Arm,
    Cell,
    Difference,
)
from ci.model.operator import Operator
from ci.model.result import Result
from ci.model.settings import OptimizeSettings
from ci.model.trial import Outcome
from ci.model.workload import Workload
from ci.proposer.base import Proposer
from ci.search.lessons import lessons
from ci.search.optimize import optimize
from ci.search.task import Task
from ci.source.discovery import load_operator
from ci.source.workload_file import load_workload
from ci.system.trial_store import TRIALS_FILE
from experience.bank.bank import Bank
from experience.bank.distill import Provenance
from experience.bank.embed import hashed_words
from experience.bank.patching import Misfit, undo
from experience.bank.tuple import ExperienceTuple

ALIKE = 0.9
"""Kernels whose wording is this similar count as one: neither learns from the other."""

RESAMPLES = 10_000
CONFIDENCE = 0.95


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
    out.mkdir(parents=True, exist_ok=True)
    tuples = bank.all()
    alike = near_duplicates(operators)
    work = [
        (operator, seed, arm)
        for operator in operators
        for seed in range(settings.seeds)
        for arm in settings.chosen()
    ]

    def run(item: tuple[Operator, int, Arm]) -> Cell | None:
        operator, seed, arm = item
        home = out / operator.name / f"weakened-{settings.weaken}" / f"seed-{seed}"
        held_out = [t for t in tuples if t.operator not in alike[operator.name]]
        own = [t for t in tuples if t.operator == operator.name]
        cell = _cell(operator, arm, seed, settings, home, held_out, own, make_proposer(), backend)
        if cell is not None:
            on_cell(cell)
        return cell

    with ThreadPoolExecutor(settings.jobs) as pool:
        done = list(pool.map(run, work))
    cells = [c for c in done if c is not None]
    if settings.learn:
        for operator, seed, arm in work:
            home = out / operator.name / f"weakened-{settings.weaken}" / f"seed-{seed}"
            bank.add_all(_lessons(operator, home / f"{arm}-{settings.budget}", make_proposer()))
    fingerprint = backend.fingerprint()
    return Ablation(
        settings=settings,
        device=fingerprint.device,
        version=fingerprint.version,
        bank_tuples=len(tuples),
        cells=tuple(cells),
        rows=tuple(_rows(cells)),
        stage_two=difference(cells, "kernel", "kernel_no_bank"),
        both=difference(cells, "both", "both_no_bank"),
        left_out=tuple(sorted({i[0].name for i, c in zip(work, done, strict=True) if c is None})),
    )


def near_duplicates(operators: Sequence[Operator]) -> dict[str, set[str]]:
    """By operator, the names of those whose kernels are nearly the same text; itself included."""
    texts = {o.name: "\n".join(o.read(s) for s in o.kernel_sources) for o in operators}
    vectors = {name: hashed_words(text) for name, text in texts.items()}
    return {
        a: {b for b in vectors if float(vectors[a] @ vectors[b]) >= ALIKE} | {a} for a in vectors
    }


def weakened(
    operator: Operator, own: Iterable[ExperienceTuple], count: int, seed: int
) -> dict[str, str] | None:
    """The operator's texts with `count` of its own optimizations taken back; None if there are
    fewer. Which ones is drawn by the seed, each motif once; a scalar loop would hide the rest."""
    lessons = sorted(
        (t for t in own if t.direction == "rewind" and t.motif_id != "scalar-loop-to-vector"),
        key=lambda t: t.id,
    )
    random.Random(f"{operator.name}:{seed}").shuffle(lessons)
    texts, motifs = operator.texts(), set[str]()
    for lesson in lessons:
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


def _cell(
    operator: Operator,
    arm: Arm,
    seed: int,
    settings: AblationSettings,
    home: Path,
    held_out: Sequence[ExperienceTuple],
    own: Sequence[ExperienceTuple],
    proposer: Proposer,
    backend: Backend,
) -> Cell | None:
    """The cell's run: read when it is done, else run or resumed. None when it cannot start."""
    folder = home / f"{arm}-{settings.budget}"
    kept = folder / "result.json"
    if not kept.exists():
        workload = load_workload(operator)
        subject = operator
        if settings.weaken:
            texts = weakened(operator, own, settings.weaken, seed)
            if texts is None:
                return None
            subject = _written(operator, texts, folder / "operator")
        result = _run(subject, workload, arm, seed, settings, folder, held_out, proposer, backend)
        part = kept.with_suffix(".part")
        part.write_text(result.model_dump_json(), encoding="utf-8")
        part.replace(kept)
    result = Result.model_validate_json(kept.read_text(encoding="utf-8"))
    if result.baseline.measurement is None:
        return None
    return Cell(
        operator=operator.name,
        arm=arm,
        seed=seed,
        speedup=result.speedup,
        baseline_us=result.baseline.measurement.score_us,
        evaluations=result.budget.evaluations,
        best_after=_best_after(result, settings.budget),
    )


def _run(
    operator: Operator,
    workload: Workload,
    arm: Arm,
    seed: int,
    settings: AblationSettings,
    folder: Path,
    held_out: Sequence[ExperienceTuple],
    proposer: Proposer,
    backend: Backend,
) -> Result:
    folder.mkdir(parents=True, exist_ok=True)
    bank = None
    if not arm.endswith("no_bank") and arm != "tiling":
        bank = Bank(folder / "bank.duckdb")
        bank.add_all(held_out)
    stage: Literal["both", "tiling", "kernel"] = (
        "tiling" if arm == "tiling" else "kernel" if arm.startswith("kernel") else "both"
    )
    return optimize(
        Task(operator, workload, Evaluator(operator, workload, backend), proposer, bank),
        OptimizeSettings(
            budget=settings.budget,
            stage=stage,
            seed=seed,
            top_k=settings.top_k,
            learn=False,
            other_shapes=False,
            resume=(folder / TRIALS_FILE).exists(),
        ),
        folder,
    )


def _written(operator: Operator, texts: dict[str, str], folder: Path) -> Operator:
    """A copy of the operator with other texts, read like any other."""
    place = folder / "src" / (operator.category or "other") / operator.name
    if not place.exists():
        shutil.copytree(operator.root, place)
    for path, text in texts.items():
        (place / path).write_text(text, encoding="utf-8")
    return load_operator(place).model_copy(update={"repository": None})


def _best_after(result: Result, budget: int) -> tuple[float, ...]:
    """The best accepted speedup after each evaluation, up to the whole budget."""
    assert result.baseline.measurement is not None
    base, best, found = result.baseline.measurement.score_us, 1.0, [1.0]
    for trial in result.trials[1:]:
        if trial.cached:
            continue
        if trial.outcome is Outcome.OK and trial.measurement is not None:
            best = max(best, base / trial.measurement.score_us)
        found.append(best)
    found += [best] * (budget - 1 - len(found))
    return tuple(found)


def _lessons(operator: Operator, folder: Path, proposer: Proposer) -> list[ExperienceTuple]:
    """What the kernel steps of a finished run taught; nothing when there is none."""
    kept = folder / "result.json"
    if not kept.exists():
        return []
    result = Result.model_validate_json(kept.read_text(encoding="utf-8"))
    copies = list((folder / "operator").glob("src/*/*"))
    subject = load_operator(copies[0]) if copies else operator
    source = Provenance(origin=f"run {result.run} of bench ablation")
    return lessons(subject, result.trials, proposer, source)


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
            ratios.append(sum(pairs) / len(pairs))
    if len(ratios) < 2:
        return None
    values = np.array(ratios)
    low = high = float(values.mean())
    if np.ptp(values) > 0:
        drawn = stats.bootstrap(
            (values,),
            np.mean,
            confidence_level=CONFIDENCE,
            n_resamples=RESAMPLES,
            method="percentile",
            random_state=np.random.default_rng(0),
        ).confidence_interval
        low, high = float(drawn.low), float(drawn.high)
    return Difference(
        operators=len(ratios),
        ratio=exp(float(values.mean())),
        low=exp(low),
        high=exp(high),
        better=int((values > log(1.01)).sum()),
        worse=int((values < -log(1.01)).sum()),
    )
