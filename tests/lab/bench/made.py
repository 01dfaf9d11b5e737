"""Cells with figures that are known."""

from __future__ import annotations

from lab.model.strategies import CaseTime, Cell


def cell(operator: str, arm: str, seed: int, after: float, floor: float | None = 1.0) -> Cell:
    """A run that made a case of 4 µs take `after` by its second candidate of three."""
    return Cell(
        operator=operator, arm=arm, seed=seed, folder=f"{operator}/seed-{seed}/{arm}-5",
        verdict="improved", reason="", speedup=4 / after, best_trial=2,
        cases=(CaseTime(case="one", weight=1, before_us=4, after_us=after, floor_us=floor),),
        best_after=(1.0, 1.0, 4 / after, 4 / after), best_trial_after=(0, 0, 2, 2),
        outcomes={"faster": 1, "race": 2, "cached": 3}, evaluations=5, granted=5,
        wall_seconds=10, cpu_seconds=8, tokens=0, money=0, fingerprint="910B4 x",
    )  # fmt: skip
