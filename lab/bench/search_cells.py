"""The cells of a bench: one search each in a folder of its own, made once, resumed when killed.

No operator meets what was learnt from it: the bank of its cell is a copy without its own tuples
and those of near-duplicates.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from ci.model.errors import InputError
from ci.model.frozen import Frozen
from ci.model.operator import Operator
from ci.model.result import Result
from ci.model.settings import OptimizeSettings
from ci.search.base import Strategy
from ci.search.optimize import optimize
from ci.search.task import Task
from ci.system.trial_store import TRIALS_FILE
from experience.bank.bank import Bank
from experience.bank.embed import hashed_words
from experience.bank.tuple import ExperienceTuple
from lab.bench.statistics import best_after, case_times, outcomes
from lab.model.strategies import Arm, Cell

ALIKE: Final = 0.9
"""Kernels whose wording is this similar count as one: neither learns from the other."""

RESULT: Final = "result.json"
CELL: Final = "cell.json"


class CellFile(Frozen):
    """What a cell is about, and what came out of it."""

    settings: dict[str, Any]
    cell: Cell | None = None
    """None while it is not done."""


def near_duplicates(operators: Sequence[Operator]) -> dict[str, set[str]]:
    """Return, by operator, the names of those whose kernels are nearly the
    same text; itself included."""
    texts = {o.name: "\n".join(o.read(s) for s in o.kernel_sources) for o in operators}
    vectors = {name: hashed_words(text) for name, text in texts.items()}
    return {
        a: {b for b in vectors if float(vectors[a] @ vectors[b]) >= ALIKE} | {a} for a in vectors
    }


def own_bank(folder: Path, tuples: Iterable[ExperienceTuple], alike: set[str]) -> Bank:
    """The bank of the cell in `folder`: `tuples` without those of the operators in `alike`."""
    bank = Bank(folder / "bank.duckdb")
    bank.add_all([t for t in tuples if t.operator not in alike])
    return bank


def bank_without(tuples: Sequence[ExperienceTuple], alike: set[str], folder: Path) -> Path:
    """A bank of `tuples` without those of `alike`, to be copied; those with equal ones share it."""
    kept = [t for t in tuples if t.operator not in alike]
    file = folder / f"{tuples_digest(kept)}.duckdb"
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(".part")
        part.unlink(missing_ok=True)
        bank = Bank(part)
        bank.add_all(kept)
        bank.stats()  # an empty bank has a file from its first question on
        part.replace(file)
    return file


def bank_copy(bank: Path, folder: Path) -> Path:
    """The bank of the run in `folder`, which begins as a copy of `bank`."""
    own = folder / "bank.duckdb"
    if not own.exists():
        shutil.copyfile(bank, own.with_suffix(".part")).replace(own)
    return own


def tuples_digest(tuples: Iterable[ExperienceTuple]) -> str:
    """16 hex digits for what a bank offers; not for how often it was used."""
    return hashlib.sha256("\n".join(sorted(t.id for t in tuples)).encode()).hexdigest()[:16]


def kept_result(folder: Path) -> Result | None:
    """What the search in `folder` found; None while it is not done."""
    kept = folder / RESULT
    return Result.model_validate_json(kept.read_text(encoding="utf-8")) if kept.exists() else None


def searched(
    task: Task, settings: OptimizeSettings, folder: Path, strategy: Strategy | None = None
) -> Result:
    """Search in `folder`, going on where a killed run stopped, and keep the result there."""
    resumed = settings.model_copy(update={"resume": (folder / TRIALS_FILE).exists()})
    result = optimize(task, resumed, folder, strategy=strategy)
    _write(folder / RESULT, result.model_dump_json())
    return result


def kept_cell(folder: Path, settings: Mapping[str, Any]) -> Cell | None:
    """The cell that `folder` holds; None while it is not done.

    Raises `InputError` when it was begun with other settings, naming the first that differs.
    """
    file = folder / CELL
    if not file.exists():
        return None
    try:
        held = CellFile.model_validate_json(file.read_text(encoding="utf-8"))
    except ValidationError as problem:
        raise InputError(f"{file} is not the record of a cell; remove {folder}.") from problem
    for key, value in settings.items():
        if held.settings.get(key) != value:
            raise InputError(
                f"{file} was made with {key} {held.settings.get(key, 'not said')}, now it is "
                f"{value}; give another --out, or remove that folder to make the run again."
            )
    return held.cell


def keep_cell(folder: Path, settings: Mapping[str, Any], cell: Cell | None = None) -> None:
    """Note what the cell in `folder` is about and, when it is done, what came out of it."""
    folder.mkdir(parents=True, exist_ok=True)
    held = CellFile(settings=dict(settings), cell=cell)
    _write(folder / CELL, held.model_dump_json(indent=1))


def cell_of(result: Result, arm: Arm, folder: str, cpu_seconds: float) -> Cell:
    """The cell of a run whose baseline passed; `folder` is where its trials are."""
    curve = best_after(result, result.budget.granted)
    assert result.baseline.measurement is not None and result.best.measurement is not None
    return Cell(
        operator=result.operator,
        arm=arm.name,
        seed=result.seed,
        folder=folder,
        verdict=result.verdict,
        reason=result.verdict_reason,
        speedup=result.speedup,
        best_trial=result.best.number,
        cases=case_times(result.baseline.measurement, result.best.measurement),
        best_after=tuple(speedup for speedup, _ in curve),
        best_trial_after=tuple(number for _, number in curve),
        outcomes=outcomes(result.trials),
        evaluations=result.budget.evaluations,
        granted=result.budget.granted,
        wall_seconds=result.budget.wall_seconds,
        cpu_seconds=cpu_seconds,
        tokens=result.budget.tokens,
        money=result.budget.money,
        fingerprint=f"{result.fingerprint.device} {result.fingerprint.version}",
    )


def _write(file: Path, text: str) -> None:
    """All of it or nothing."""
    part = file.with_name(f"{file.name}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(file)
