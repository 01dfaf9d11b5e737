"""How sure a figure is, in words and rows: conditions of a launch, and moved constants."""

from __future__ import annotations

from collections.abc import Mapping
from math import log
from typing import NamedTuple

from bot.base.language import translated as _
from bot.base.text import microseconds
from bot.report.sentences import local
from ci.model.ensemble import CONDITIONS, is_joint
from ci.model.result import Result
from ci.model.trial import Measurement, weighted_mean
from ci.model.uncertainty import TOGETHER
from rules.constants import in_words
from rules.devices import device_names, load_device

MOST_ROWS = 8
"""Moved constants that a report names; all of them are in result.json."""

LEAST_SHIFT = 0.005
"""A constant that moves the speedup by less than half a percent is not named."""


class SpreadRow(NamedTuple):
    """A member of the ensemble: mean time over the cases before and after, and the speedup."""

    member: str
    """The member as the measurement names it."""
    before_us: float
    after_us: float
    ratio: float
    words: str = ""
    """The member for people who merge."""


def spread_rows(result: Result) -> list[SpreadRow]:
    """The conditions, then the moved constants by how far they move the speedup."""
    found = result.uncertainty
    before, after = result.baseline.measurement, result.best.measurement
    if found is None or before is None or after is None:
        return []

    def far(member: str) -> float:
        return abs(log(found.members[member] / found.speedup))

    cases = (*before.cases, *after.cases)
    known = [m for m in found.members if all(m in case.members_us for case in cases)]
    conditions = [member for member in known if member in CONDITIONS]
    moved = [m for m in known if m not in CONDITIONS and not is_joint(m) and far(m) > LEAST_SHIFT]
    shown = [*conditions, *sorted(moved, key=far, reverse=True)[:MOST_ROWS]]
    return [
        SpreadRow(m, _mean(before, m), _mean(after, m), found.members[m], _words(result, m))
        for m in shown
    ]


def _words(result: Result, member: str) -> str:
    """A member in words, with what is assumed otherwise where the device is known here."""
    device = result.fingerprint.device
    return in_words(member, load_device(device).constants if device in device_names() else None)


def _mean(measured: Measurement, member: str) -> float:
    return weighted_mean((case.members_us[member] for case in measured.cases), measured.cases)


def reported_times(result: Result) -> tuple[float, float] | None:
    """Mean times before and after of which the result's speedup is the ratio, in µs."""
    before, after = result.baseline.measurement, result.best.measurement
    if before is None or after is None:
        return None
    rows = spread_rows(result)
    if rows and rows[0].member != "cold":
        return rows[0].before_us, rows[0].after_us
    return before.score_us, after.score_us


def range_line(result: Result) -> str:
    """The range of the speedup and where it is least, for the headline; '' without an ensemble."""
    found = result.uncertainty
    if found is None:
        return ""
    unsure = _("Over all start states and everything that the model is unsure of")
    states = _("Over all start states")
    said = _(
        "{over}: {low}× to {high}×. Smallest gain: {least}.",
        over=unsure if result.fingerprint.simulated else states,
        low=f"{found.low:.2f}",
        high=f"{found.high:.2f}",
        least=_where(result, found.weakest[0]),
    )
    hanging = _("Less than half of the gain remains there.")
    return f"{said} {hanging}" if found.hangs_on else said


def spread_note(result: Result) -> str:
    """Number of members, and the two that give the ends of the range; '' without an ensemble."""
    found = result.uncertainty
    if found is None:
        return ""
    said = _(
        "{count:condition was|conditions were} timed: the start states of a launch, and"
        " each constant of the"
        " machine model that is assumed or loosely fitted, at both ends of its range. The speedup"
        " is at least {low}× ({least}) and at most {high}× ({most}).",
        count=len(found.members),
        low=f"{found.low:.2f}",
        least=_where(result, found.weakest[0]),
        high=f"{found.high:.2f}",
        most=_where(result, found.strongest[0]),
    )
    shown = len(spread_rows(result))
    if not 0 < shown < len(found.members):
        return said
    return f"{said} " + _(
        "The table has {shown} of them: the start states, and the constants that move the speedup"
        " most.",
        shown=shown,
    )


def _where(result: Result, member: str) -> str:
    """A member as a clause in brackets."""
    words = local(_words(result, member))
    return words if member in (*CONDITIONS, TOGETHER) else _("if {assumption}", assumption=words)


def ensemble_lines(members_us: Mapping[str, float]) -> list[str]:
    """A case's times under each condition, and the range over all that was moved."""
    conditions = [m for m in members_us if m in CONDITIONS]
    lines = [f"{m}: {microseconds(members_us[m])}" for m in conditions]
    moved = {m: t for m, t in members_us.items() if m not in CONDITIONS and not is_joint(m)}
    if moved:
        least, most = min(moved, key=lambda m: moved[m]), max(moved, key=lambda m: moved[m])
        lines.append(
            f"{conditions[0]}, over the machine's uncertainty: {microseconds(moved[least])}"
            f" ({least}) to {microseconds(moved[most])} ({most})"
        )
    return lines
