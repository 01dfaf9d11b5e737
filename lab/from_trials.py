"""Learns constants of the machine from what a device measured of trials that were predicted.

A prediction carries the times with each loosely known constant moved to both ends of its range.
That tells how much a time hangs on it: log t is taken as linear in the logarithms of the
constants. What is learnt are factors of constants that bring predictions nearest to measurements,
each kept in its range, which is its standard deviation too: a constant on which no time hangs
stays, and of those whose effects nobody can tell apart each takes its share.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Final, NamedTuple

import numpy as np
from scipy.optimize import lsq_linear

from ci.model.errors import InputError
from ci.model.trial import CaseMeasurement, Trial
from ci.model.uncertainty import moved
from ci.system.trial_store import TRIALS_FILE, TrialStore
from lab.model.calibration import Calibration, ConstantResult, GroupResult, RowResult
from rules.devices import Device, load_device

UNEXPLAINED: Final = 0.03
"""Relative scatter of a case's time that no constant explains: what remains where the published
cases are fitted best."""

LEAST_CHANGE: Final = 0.02
"""A constant that is moved by less is reported as it is."""


class Row(NamedTuple):
    """One case of one trial."""

    name: str
    run: str
    """Where it was measured."""
    case: str
    measured: float
    """In µs."""
    predicted: float
    hangs: dict[str, float]
    """Elasticities by constant or pattern: d log t / d log constant."""


def learn(paths: Sequence[Path], name: str) -> Calibration:
    """Constants of the device `name` from the trials of these runs, and by how much it was off.

    `paths` are folders that `optimize --screen` left, or their files of trials. Raises InputError
    when they hold no prediction next to a measurement.
    """
    device = load_device(name)
    rows = [row for path in paths for row in _rows(path, device)]
    if not rows:
        raise InputError(
            f"{', '.join(map(str, paths))}: no trial there has a prediction next to what a device"
            " measured; `optimize` on a device leaves them, unless you give --no-screen."
        )
    factors = _solve(rows, device)
    runs = sorted({row.run for row in rows})
    without = {
        run: _solve([row for row in rows if row.run != run], device)
        for run in runs
        if len(runs) > 1
    }
    constants = tuple(
        ConstantResult(
            name=constant,
            current=device.number(constant),
            fitted=device.number(constant) * factor,
            without={
                run: device.number(constant) * found.get(pattern, 1.0)
                for run, found in without.items()
            },
        )
        for pattern, factor in sorted(factors.items())
        if abs(math.log(factor)) > LEAST_CHANGE
        for constant in device.named(pattern)
    )
    return Calibration(
        device=name,
        groups=(
            GroupResult(
                title=f"times of trials on {name}, µs",
                constants=constants,
                rows=tuple(_result(row, factors) for row in rows),
            ),
        ),
        held_out=tuple(_result(row, without.get(row.run, {})) for row in rows),
        as_it_was=tuple(_result(row, {}) for row in rows),
    )


def _rows(path: Path, device: Device) -> Iterable[Row]:
    file = path / TRIALS_FILE if path.is_dir() else path
    if not file.is_file():
        raise InputError(f"There are no trials at {file}.")
    with TrialStore(file) as store:
        trials = store.trials()
    seen: set[str] = set()
    for trial in trials:
        if trial.candidate.hash not in seen:
            seen.add(trial.candidate.hash)
            yield from _rows_of(trial, str(path), device)


def _rows_of(trial: Trial, run: str, device: Device) -> Iterable[Row]:
    measured, predicted = trial.measurement, trial.predicted
    if measured is None or predicted is None or measured.fingerprint.simulated:
        return
    for real, said in zip(measured.cases, predicted.cases, strict=True):
        name = f"trial {trial.number}, {real.case}"
        yield Row(name, run, real.case, real.median_us, said.median_us, _hangs(said, device))


def _hangs(case: CaseMeasurement, device: Device) -> dict[str, float]:
    """Mean slope of log t over both ends of each constant's range."""
    base = next(iter(case.members_us.values()), case.median_us)
    slopes: dict[str, list[float]] = {}
    for pattern, ends in device.ranges.items():
        for member, us in case.members_us.items():
            factor = _factor(member, pattern, ends, device)
            if factor is not None:
                slopes.setdefault(pattern, []).append(math.log(us / base) / math.log(factor))
    return {pattern: fmean(found) for pattern, found in slopes.items() if any(found)}


def _factor(member: str, pattern: str, ends: tuple[float, float], device: Device) -> float | None:
    """Return the factor by which a member moves a constant; None for one that moves another,
    or a condition."""
    if moved(member) != pattern:
        return None
    if " x " in member:
        return float(member.rpartition(" x ")[2])
    # Said rounded in the member's name: the end of the range that is nearest is meant.
    said = float(member.rpartition(" = ")[2]) / device.number(pattern)
    return min(ends, key=lambda end: abs(end - said))


def _solve(rows: Sequence[Row], device: Device) -> dict[str, float]:
    """Factors by constant: the most probable ones. Trials of one case of a run hang together, so
    that many of them count as one."""
    names = sorted({pattern for row in rows for pattern in row.hangs})
    if not names:
        return {}
    counts = Counter((row.run, row.case) for row in rows)
    weights = np.array([1 / UNEXPLAINED / math.sqrt(counts[r.run, r.case]) for r in rows])
    slopes = np.array([[row.hangs.get(name, 0.0) for name in names] for row in rows])
    off = np.array([math.log(row.measured / row.predicted) for row in rows])
    spreads = np.array([max(abs(math.log(f)) for f in device.ranges[name]) for name in names])
    system = np.vstack([weights[:, None] * slopes, np.diag(1 / spreads)])
    wanted = np.concatenate([weights * off, np.zeros(len(names))])
    ends = np.log([device.ranges[name] for name in names])
    found = lsq_linear(system, wanted, bounds=(ends.min(axis=1), ends.max(axis=1))).x
    return {name: math.exp(float(log)) for name, log in zip(names, found, strict=True)}


def _result(row: Row, factors: dict[str, float]) -> RowResult:
    log = sum(slope * math.log(factors.get(name, 1.0)) for name, slope in row.hangs.items())
    return RowResult(
        name=row.name,
        source=row.run,
        measured=row.measured,
        predicted=row.predicted * math.exp(log),
    )
