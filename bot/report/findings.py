"""What a check found, in words: for a terminal, and as Markdown for one comment."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from bot.base.language import translated as _
from bot.base.text import visible
from bot.report.sentences import local
from ci.model.finding import CheckReport, Finding, Severity


def report_lines(report: CheckReport, reproduce: str, *, one_case: bool = False) -> list[str]:
    """A report for a person: a line for each operator, then its findings, each with the command
    that shows it alone. `reproduce`: the command that shows all of them, of `one_case` or more."""
    head = f"{report.folder}: {summary(report)}"
    if report.unchecked:
        return [head]
    lines = [head]
    for found in report.findings:
        lines += finding_lines(found)
        if found.alone and found.fails and not one_case:
            lines.append(f"      alone: {reproduce} --case {shlex.quote(found.alone)}")
    lines += [f"  {note}" for note in report.notes]
    if report.fails:
        lines.append(f"  Again: {reproduce}")
    return lines


def summary(report: CheckReport) -> str:
    """'2 errors, 1 note in 14 cases (9 varied), 12 s', or why nothing was checked."""
    if report.unchecked:
        return f"not checked: {visible(report.unchecked)}"
    counts = {s: sum(f.severity is s for f in report.findings) for s in Severity}
    said = ", ".join(f"{n} {s.value}{'s' * (n != 1)}" for s, n in counts.items() if n)
    varied = sum(report.varied.values())
    cases = f"{report.cases} case{'s' * (report.cases != 1)}"
    more = f" ({varied} varied)" if varied else ""
    return f"{said or 'nothing found'} in {cases}{more}, {report.seconds:.0f} s"


def finding_lines(found: Finding) -> list[str]:
    """A finding for a terminal: place, kind and sentence, then what belongs to it."""
    place = f"{found.place.source}: " if found.place.source else ""
    lines = [f"  {place}{found.severity.value}: {found.title}: {visible(found.text)}"]
    if found.other.source:
        lines.append(f"      the other access: {found.other.source}")
    words = [line for line in found.evidence.splitlines() if not line.startswith("the other")]
    lines += [f"      {visible(line)}" for line in words[:6]]
    if found.advice:
        lines.append(f"      {found.advice}")
    if found.place.case:
        lines.append(f"      shown by {shown_by(found)}")
    return lines


def shown_by(found: Finding) -> str:
    """'case a, where another length is tried, and 3 more'."""
    case = _("case {name}", name=visible(found.place.case))
    if found.varied:
        case += _(" (another {what} than the workload's)", what=local(found.varied))
    return case + (_(", and {count} more", count=found.more) if found.more else "")


def failing(reports: Iterable[CheckReport]) -> bool:
    """Whether any operator fails its check."""
    return any(report.fails for report in reports)
