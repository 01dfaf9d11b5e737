"""The tables of `bench strategies` from its cells: pure functions.

Only what can be compared is in them: an operator with the seeds for which every arm has a run. An
operator counts once, by the geometric mean of its seeds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import fmean
from typing import TypeAlias

from lab.bench.statistics import fast, floor_share, geometric_mean, interval, paired
from lab.model.strategies import (
    KINDS,
    THRESHOLDS,
    Arm,
    CaseTime,
    Cell,
    LeftOut,
    Row,
    StrategyBench,
    StrategyBenchSettings,
    Versus,
)

Grid: TypeAlias = dict[str, list[Cell]]
"""The comparable cells of one arm, by operator."""


def table(
    settings: StrategyBenchSettings,
    arms: Sequence[Arm],
    operators: Sequence[str],
    cells: Sequence[Cell],
    left_out: Sequence[LeftOut],
    *,
    proposer: str,
    device: str,
    version: str,
    bank_tuples: int,
) -> StrategyBench:
    """Everything that the cells of these operators say."""
    seeds = comparable(arms, cells)
    named = set(operators) - {one.operator for one in left_out}
    floors = lowest_floors(cells)
    rows: list[Row] = []
    grids: dict[str, Grid] = {}
    titles: dict[str, str] = {}
    for arm in arms:
        whole = {
            o: [c for c in cells if c.arm == arm.name and (c.operator, c.seed) in pairs]
            for o, pairs in seeds.items()
        }
        if not whole:
            continue
        for less in [n for n in arm.shorter if 3 <= n < settings.budget]:
            name = f"{arm.name}_{less}"
            titles[name] = f"{arm.title} = {less}"
            grids[name] = {o: [shortened(c, name, less) for c in g] for o, g in whole.items()}
            rows.append(_row(name, titles[name], grids[name], {}))
        titles[arm.name] = f"{arm.title} = {settings.budget}" if arm.shorter else arm.title
        grids[arm.name] = whole
        rows.append(_row(arm.name, titles[arm.name], whole, floors))
    versus = []
    for name in [n for n in grids if n != arms[0].name]:
        difference = paired(ratios(grids[arms[0].name], grids[name]))
        if difference is not None:
            versus.append(Versus(arm=name, title=titles[name], difference=difference))
    return StrategyBench(
        settings=settings,
        proposer=proposer,
        device=device,
        version=version,
        bank_tuples=bank_tuples,
        arms=tuple(arms),
        cells=tuple(sorted(cells, key=lambda c: (c.operator, c.seed, c.arm))),
        compared=tuple(seeds),
        seeds=max((len(pairs) for pairs in seeds.values()), default=0),
        rows=tuple(rows),
        versus=tuple(versus),
        left_out=tuple(left_out),
        unfinished=tuple(sorted(named - seeds.keys())),
    )


def comparable(arms: Sequence[Arm], cells: Sequence[Cell]) -> dict[str, set[tuple[str, int]]]:
    """Return, by operator, the (operator, seed) for which every arm has a run; in
    order of the names."""
    made: dict[tuple[str, int], set[str]] = {}
    for cell in cells:
        made.setdefault((cell.operator, cell.seed), set()).add(cell.arm)
    found: dict[str, set[tuple[str, int]]] = {}
    for pair in sorted(made):
        if {arm.name for arm in arms} <= made[pair]:
            found.setdefault(pair[0], set()).add(pair)
    return found


def shortened(cell: Cell, name: str, budget: int) -> Cell:
    """What the beginning of a run says of a smaller budget, its final check included."""
    curve, trials = cell.best_after[: budget - 1], cell.best_trial_after[: budget - 1]
    return cell.model_copy(
        update={
            "arm": name,
            "speedup": curve[-1],
            "best_trial": trials[-1],
            "best_after": curve,
            "best_trial_after": trials,
            "evaluations": min(cell.evaluations, budget),
            "outcomes": {},  # and what it cost: they are the whole run's
        }
    )


def ratios(ours: Grid, other: Grid) -> list[float]:
    """Return the speedup, by operator, of one arm over that of another, each the mean
    of its seeds."""
    return [_speedup(ours[o]) / _speedup(other[o]) for o in ours]


def lowest_floors(cells: Sequence[Cell]) -> dict[tuple[str, str], float]:
    """Return, by (operator, case), the lowest floor of any program of any arm:
    one yardstick for all."""
    floors: dict[tuple[str, str], float] = {}
    for cell in cells:
        for case in cell.cases:
            if case.floor_us is not None:
                key = (cell.operator, case.case)
                floors[key] = min(case.floor_us, floors.get(key, case.floor_us))
    return floors


def _row(name: str, title: str, grid: Grid, floors: dict[tuple[str, str], float]) -> Row:
    cells = [c for group in grid.values() for c in group]
    means = [_speedup(group) for group in grid.values()]
    low, high = interval(means)
    counted = Counter[str]()
    for cell in cells:
        counted.update(cell.outcomes)
    length = min(len(c.best_after) for c in cells)
    return Row(
        arm=name,
        title=title,
        runs=len(cells),
        mean=geometric_mean(means),
        low=low,
        high=high,
        fast={str(p): fast([c.speedup for c in cells], p) for p in THRESHOLDS},
        floor_before=_share(grid, floors, after=False),
        floor_after=_share(grid, floors, after=True),
        curve=tuple(geometric_mean(c.best_after[i] for c in cells) for i in range(length)),
        outcomes={kind: counted[kind] for kind in KINDS if counted[kind]},
        evaluations=fmean(c.evaluations for c in cells),
        spent=fmean(c.evaluations >= c.granted - 1 for c in cells),
        wall_seconds=fmean(c.wall_seconds for c in cells),
        cpu_seconds=fmean(c.cpu_seconds for c in cells),
        tokens=fmean(c.tokens for c in cells),
        money=fmean(c.money for c in cells),
    )


def _speedup(cells: Sequence[Cell]) -> float:
    return geometric_mean(c.speedup for c in cells)


def _share(grid: Grid, floors: dict[tuple[str, str], float], *, after: bool) -> float | None:
    """Mean over operators and seeds of floor / time; None when a floor is not known."""
    shares = []
    for cell in (c for group in grid.values() for c in group):
        if any((cell.operator, case.case) not in floors for case in cell.cases):
            return None
        shares.append(
            floor_share(
                [
                    (case.weight, floors[cell.operator, case.case], _time(case, after))
                    for case in cell.cases
                ]
            )
        )
    return fmean(shares)


def _time(case: CaseTime, after: bool) -> float:
    return case.after_us if after else case.before_us
