"""A made operator in the words of a merge request: pure functions of data."""

from __future__ import annotations

from typing import NamedTuple

from bot.report.uncertainty import CONDITIONS
from bot.report.view import page
from ci.model.created import Created, Judged
from ci.model.trial import CaseMeasurement
from ci.model.workload import Tolerance


class MadeRow(NamedTuple):
    """One case: its time over the machine's uncertainty, against its floor; all in µs."""

    case: str
    us: float
    low_us: float
    high_us: float
    floor_us: float | None
    cores: int

    @property
    def over_floor(self) -> float | None:
        """How many times the floor it takes."""
        return self.us / self.floor_us if self.floor_us else None


def rows(judged: Judged) -> list[MadeRow]:
    """The cases in their order; without an ensemble the range is that of the samples."""
    return [_row(case, judged.floors_us.get(case.case)) for case in judged.cases]


def _row(case: CaseMeasurement, floor: float | None) -> MadeRow:
    moved = [us for member, us in case.members_us.items() if member not in CONDITIONS]
    least = min([case.low_us, *moved])
    most = max([case.high_us, *moved])
    return MadeRow(case.case, case.median_us, least, most, floor, case.pipes.block_dim)


def headline(created: Created, judged: Judged) -> str:
    """What was made, and how it does, in one sentence."""
    found = rows(judged)
    kind = "simulated time" if judged.fingerprint.simulated else "time"
    ratios = [row.over_floor for row in found if row.over_floor]
    said = f"{created.operator} was made and is right on {len(found)} cases"
    if not ratios:
        return f"{said}."
    return f"{said}, in {min(ratios):.1f} to {max(ratios):.1f} times the least {kind} of each."


def tolerance_words(tolerance: Tolerance) -> str:
    """'0.01 % of the value, and 1e-05', and what may miss it."""
    parts = []
    if tolerance.relative:
        parts.append(f"{tolerance.relative:.3g} of the value")
    if tolerance.absolute or not parts:
        parts.append(f"{tolerance.absolute:.3g}")
    words = " plus ".join(parts)
    return (
        f"{words}, but for {tolerance.outliers:.2%} of the elements"
        if tolerance.outliers
        else words
    )


def body(created: Created, judged: Judged, **told: str) -> str:
    """The merge request's text as Markdown; `told`: what was asked for, by whom and where."""
    return page(
        "made.md.j2",
        created=created,
        judged=judged,
        rows=rows(judged),
        headline=headline(created, judged),
        tolerances={d: tolerance_words(t) for d, t in judged.tolerances.items()},
        **told,
    )
