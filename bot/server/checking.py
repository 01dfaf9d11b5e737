"""Checking an author's own change: what its comment and its check say.

A merge request has one comment of its checks, with a section an operator that is replaced when the
operator is checked again; findings that are new in the merge request come first.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from pydantic import ValidationError

from bot.forge.base import Forge
from bot.report.findings import shown_by
from bot.report.view import page
from bot.repository.job import Job
from bot.server.change_jobs import check_is_of
from bot.server.comments.posting import put_section, set_check
from ci.model.checked_change import CheckedChange
from ci.model.errors import InputError, worded

CHECKED: Final = "checked.json"
_SHOWN: Final = 20
"""Findings of a kind (new, old, gone) in a section: forges cut comments at 65,536 characters."""


def read_checked(job: Job, folder: Path) -> CheckedChange:
    """What a run of the job left, data from outside. Raises InputError when it is not of the job.

    `folder` is that of the run.
    """
    file = folder / CHECKED
    try:
        found = CheckedChange.model_validate_json(file.read_bytes())
    except OSError as problem:
        raise InputError(f"There is no {file}: the run left no findings.") from problem
    except ValidationError as problem:
        raise InputError(f"{file} holds no findings: {worded(problem)}.") from None
    check_is_of(job, found)
    return found


def tell_checked(job: Job, found: CheckedChange, forge: Forge) -> str:
    """Put the findings into the merge request's comment and set the check; the check's sentence."""
    put_section(forge, job, section(job, found))
    words = summary(found)
    set_check(job, forge, "failure" if found.new else "success", words)
    return words


def summary(found: CheckedChange) -> str:
    """One line: how much is new, gone and as before."""
    if found.unchecked:
        return f"not checked: {found.unchecked}"
    counts = ((found.new, "new"), (found.gone, "gone"), (found.old, "as before"))
    said = [f"{len(some)} {word}" for some, word in counts if some]
    return f"findings: {', '.join(said)}" if said else f"nothing found in {found.cases} cases"


def section(job: Job, found: CheckedChange) -> str:
    """The part of the comment that is about one operator."""
    return page(
        "checked.md.j2",
        job=job,
        found=found,
        shown=_SHOWN,
        shown_by=shown_by,
        summary=summary(found),
    ).strip()
