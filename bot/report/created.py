"""The merge request of a created operator: pure functions of data."""

from __future__ import annotations

from typing import NamedTuple

from bot.base.language import translated as _
from bot.base.text import code, plain
from bot.report.view import page
from ci.model.created import Created, Judged
from ci.model.ensemble import CONDITIONS
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
    """The created operator and its speed, in one sentence."""
    found = rows(judged)
    ratios = [row.over_floor for row in found if row.over_floor]
    values = {"operator": created.operator, "count": len(found)}
    if not ratios:
        return _("{operator} was created and is correct on {count:case|cases}.", **values)
    return _(
        "{operator} was created and is correct on {count:case|cases}. It takes {low} to"
        " {high} times the"
        " floor of {time}.",
        **values,
        low=f"{min(ratios):.1f}",
        high=f"{max(ratios):.1f}",
        time=_("simulated time") if judged.fingerprint.simulated else _("time"),
    )


def tolerance_words(tolerance: Tolerance) -> str:
    """'0.0001 of the value plus 1e-05', and the share of elements that may miss it."""
    parts = []
    if tolerance.relative:
        parts.append(_("{share} of the value", share=f"{tolerance.relative:.3g}"))
    if tolerance.absolute or not parts:
        parts.append(f"{tolerance.absolute:.3g}")
    words = _(" plus ").join(parts)
    if not tolerance.outliers:
        return words
    share = f"{tolerance.outliers:.2%}"
    return _("{tolerance}, except for {share} of the elements", tolerance=words, share=share)


def body(created: Created, judged: Judged, **request: str) -> str:
    """The merge request's text as Markdown; `request`: the golden function, the shapes, the person
    and the place of the request."""
    return page(
        "made.md.j2",
        created=created,
        judged=judged,
        rows=rows(judged),
        headline=headline(created, judged),
        tolerance_list="; ".join(
            f"{code(dtype)} {plain(tolerance_words(t))}" for dtype, t in judged.tolerances.items()
        ),
        **request,
    )
