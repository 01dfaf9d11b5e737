"""Measuring an author's own change: what its comment and its check say.

Nothing is searched. A merge request has one comment, with a section an operator that is replaced
when the operator is measured again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from bot.base.language import translated as _
from bot.forge.base import Forge
from bot.report.sentences import local
from bot.report.view import page
from bot.repository.job import Job
from bot.server.change_jobs import read_found
from bot.server.comments.posting import put_section, set_check
from ci.model.measured_change import MeasuredChange

MEASURED: Final = "measured.json"
# Longest list in a section: forges cut comments at 65,536 characters.
_CASES_SHOWN: Final = 40
_WORST_FIRST: Final = ("broken", "slower", "unclear", "fails", "same", "fixed", "faster")


def read_measured(job: Job, folder: Path) -> MeasuredChange:
    """Read the result of a run of the job. Raises InputError as `read_found` does."""
    return read_found(job, folder / MEASURED, MeasuredChange)


def tell_measured(job: Job, found: MeasuredChange, forge: Forge) -> str:
    """Put the figures into the merge request's comment and set the check; the check's sentence."""
    put_section(forge, job, section(job, found))
    failed = bool(found.broken or found.new_faults or found.slower(job.threshold))
    words = summary(found, job.threshold)
    set_check(job, forge, "failure" if failed else "success", words)
    return words


def summary(found: MeasuredChange, threshold: float) -> str:
    """One line: what became broken or slower, else how the cases changed."""
    count = len(found.cases)
    if found.broken:
        return _(
            "{some} of {count:case no longer passes|cases no longer pass}",
            some=len(found.broken),
            count=count,
        )
    if found.new_faults:
        return _("new fault: {fault}", fault=local(found.new_faults[0]))
    ratios = [c.ratio for c in found.cases if c.ratio is not None]
    if not ratios:
        return _("no case could be timed, before the change or after it")
    low, high = f"{min(ratios):.2f}", f"{max(ratios):.2f}"
    ratio = low if low == high else _("{first} to {last}", first=low, last=high)
    spread = _("{ratio} times the base's speed", ratio=ratio)
    slower = found.slower(threshold)
    if slower:
        some = len(slower)
        return _(
            "{some} of {count:case|cases} slower; {spread}", some=some, count=count, spread=spread
        )
    return _("{spread} on {count:case|cases}", spread=spread, count=count)


def section(job: Job, found: MeasuredChange) -> str:
    """The part of the comment that is about one operator."""
    return page(
        "measured.md.j2",
        job=job,
        found=found,
        cases=sorted(found.cases, key=lambda case: _WORST_FIRST.index(case.verdict)),
        shown=_CASES_SHOWN,
        summary=summary(found, job.threshold),
    ).strip()
