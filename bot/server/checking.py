"""Checking an author's own change: what its comment and its check say.

A merge request has one comment of its checks, with a section an operator that is replaced when the
operator is checked again; findings that are new in the merge request come first.
"""

from __future__ import annotations

import posixpath
import shlex
from pathlib import Path
from typing import Final

from bot.base.language import translated as _
from bot.forge.base import Forge
from bot.report.findings import shown_by
from bot.report.sentences import local
from bot.report.view import page
from bot.repository.job import Job
from bot.server.change_jobs import read_found
from bot.server.comments.posting import put_section, set_check
from ci.model.checked_change import CheckedChange
from ci.model.finding import Finding

CHECKED: Final = "checked.json"
_LONGEST: Final = 600
"""Characters of a command that shows a finding: a longer one is left out."""

_SHOWN: Final = 20
"""Findings of a kind (new, old, gone) in a section: forges cut comments at 65,536 characters."""


def read_checked(job: Job, folder: Path) -> CheckedChange:
    """Read the result of a run of the job. Raises InputError as `read_found` does."""
    return read_found(job, folder / CHECKED, CheckedChange)


def tell_checked(job: Job, found: CheckedChange, forge: Forge) -> str:
    """Put the findings into the merge request's comment and set the check; the check's sentence."""
    put_section(forge, job, section(job, found))
    words = summary(found)
    set_check(job, forge, "failure" if found.new else "success", words)
    return words


def summary(found: CheckedChange) -> str:
    """One line: how much is new, gone and as before."""
    if found.unchecked:
        return _("not checked: {why}", why=local(found.unchecked))
    counts = (
        (found.new, _("{count} new", count=len(found.new))),
        (found.gone, _("{count} gone", count=len(found.gone))),
        (found.old, _("{count} as before", count=len(found.old))),
    )
    some = [words for those, words in counts if those]
    if not some:
        return _("nothing found in {count:case|cases}", count=found.cases)
    return _("findings: {counts}", counts=", ".join(some))


def _alone(operator: str, found: Finding) -> str:
    """The command that shows a finding alone; '' where there is none, or a long one."""
    command = shlex.join(["ascendopt", "check", operator, "--case", found.alone])
    return command if found.alone and len(command) <= _LONGEST else ""


def section(job: Job, found: CheckedChange) -> str:
    """The part of the comment that is about one operator."""
    return page(
        "checked.md.j2",
        job=job,
        found=found,
        shown=_SHOWN,
        shown_by=shown_by,
        alone=lambda found: _alone(job.operator, found),
        place=lambda place: posixpath.normpath(f"{job.operator}/{found.folder}/{place.source}"),
        summary=summary(found),
    ).strip()
