"""Telling the forge: comments that are written once or edited in place, and checks of commits.

Every step may be repeated after a crash: a comment is found by its marker, and a status replaces
its last. The words are those of `bot.server.comments.wording`.
"""

from __future__ import annotations

import re
from typing import Final

from bot.base.git import GitError
from bot.base.text import encoded, inert, plain, shortened
from bot.forge.base import Forge, ForgeError
from bot.forge.model import CheckState, Comment, MergeRequest, Status
from bot.repository.job import Job
from bot.server.comments.wording import reply_mark, run_mark, said

MARKS: Final = {
    "measure": "<!-- ascendopt-measured -->",
    "check": "<!-- ascendopt-checked -->",
}
"""Begins the one comment of a merge request that a kind of job writes to."""
_SECTION: Final = re.compile(
    r"<!-- ascendopt-section: (?P<folder>[^\n]*?) -->\n.*?<!-- ascendopt-section-end -->", re.DOTALL
)
_SECTION_END: Final = "<!-- ascendopt-section-end -->"
_ALL_SECTIONS: Final = 60_000
"""Characters that all parts of such a comment share: forges take little more."""
# How the marks of the bot's reasons for closing begin, and of those that a person did not share.
_CLOSED: Final = "closed-"
_REOPENED: Final = "reopened-"
TEMPORARY: Final = (ForgeError, GitError)


def away(problem: BaseException) -> bool:
    """Whether the forge is away, asks for patience or for a new token: that passes, be it in an
    hour."""
    if isinstance(problem, ForgeError):
        return problem.token_refused or problem.kind in ("rate_limited", "unavailable")
    return isinstance(problem, GitError) and problem.away


def asked_wait(problem: BaseException) -> float:
    """Seconds that the forge asks to wait before it is asked again; 0 when it does not say."""
    return (isinstance(problem, ForgeError) and problem.retry_after) or 0.0


def say(forge: Forge, number: int, mark: str, text: str) -> int:
    """Write or rewrite the comment that begins with `mark`; its id."""
    existing = next((c for c in forge.comments(number) if is_own(c, mark, forge)), None)
    if existing is None:
        return forge.comment(number, text).id
    if existing.body.strip() != text.strip():
        forge.edit_comment(number, existing.id, text)
    return existing.id


def place_of(job: Job, forge: Forge) -> tuple[Forge, int] | None:
    """Where a run is spoken of: the forge as it takes comments there, and the number; None where
    nobody asked for it in writing."""
    if job.issue:
        return forge.of_issues(), job.issue
    return (forge, job.number) if job.number else None


def tell_run(job: Job, forge: Forge, text: str, *, failed: bool = False) -> int:
    """Write or rewrite the status comment of a run; its id, 0 where it has no place.

    A measured or checked merge request has one comment of all its runs instead, which says of a
    run no more than what it found, or that it `failed`.
    """
    if job.kind in MARKS:
        if failed:
            put_section(forge, job, text)
        return 0
    place = place_of(job, forge)
    return say(*place, run_mark(job), text) if place is not None else 0


def put_section(forge: Forge, job: Job, text: str) -> None:
    """Replace the part of the merge request's comment that is about the job's operator, or add
    it."""
    number, mark = job.number, MARKS[job.kind]
    own = next((c for c in forge.comments(number) if is_own(c, mark, forge)), None)
    parts = {m["folder"]: m[0] for m in _SECTION.finditer(own.body)} if own else {}
    name = encoded(job.operator)  # nothing in it ends the comment of HTML
    parts[name] = f"<!-- ascendopt-section: {name} -->\n{text}\n{_SECTION_END}"
    share = _ALL_SECTIONS // len(parts)
    for key, part in parts.items():  # none takes the place of another
        inner = shortened(part.removesuffix(_SECTION_END), share - len(_SECTION_END))
        parts[key] = inner + _SECTION_END if len(part) > share else part
    body = f"{mark}\n" + "\n\n".join(parts[key] for key in sorted(parts)) + "\n"
    if own is None:
        forge.comment(number, body)
    elif own.body.strip() != body.strip():
        forge.edit_comment(number, own.id, body)


def is_own(comment: Comment, mark: str, forge: Forge) -> bool:
    """Whether a comment is the bot's own and begins with `mark`: others may quote it."""
    return comment.body.startswith(mark) and forge.is_viewer(comment.author)


def answer(forge: Forge, number: int, mark: str, text: str) -> None:
    """Answer once: nothing happens when an answer with this mark is there."""
    line = reply_mark(mark)
    if not any(is_own(c, line, forge) for c in forge.comments(number)):
        forge.comment(number, f"{line}\n{text}\n")


def close(forge: Forge, request: MergeRequest, reason: str, commit: str) -> bool:
    """Close a merge request of the bot, with the reason that holds at `commit`; False for one that
    a person opened again after the bot had closed it there, and that stays so."""
    kept = reply_mark(f"{_REOPENED}{commit}")
    if any(is_own(c, kept, forge) for c in forge.comments(request.number)):
        return False
    answer(forge, request.number, f"{_CLOSED}{commit}", said("closing", reason))
    forge.close(request.number)
    return True


def closed_by_bot(forge: Forge, number: int) -> bool:
    """Whether the bot closed its merge request by itself, which is no person's no."""
    return bool(_closings(forge, number))


def tell_reopened(forge: Forge, number: int) -> None:
    """Say below the bot's reasons for closing that a person opened the merge request again.

    Should it be closed after that, they are no longer why.
    """
    for one in _closings(forge, number):
        text = one.body.replace(_CLOSED, _REOPENED, 1).rstrip()
        forge.edit_comment(number, one.id, f"{text}\n\n{said('reopened')}\n")


def _closings(forge: Forge, number: int) -> list[Comment]:
    opening = reply_mark(_CLOSED)[: -len(" -->")]
    return [one for one in forge.comments(number) if is_own(one, opening, forge)]


def set_check(
    job: Job, forge: Forge, state: CheckState, description: str, summary: str = ""
) -> None:
    """Set the check of the commit; a commit that the forge no longer has is no reason to fail.

    A job that makes an operator says nothing of the commit that it starts from.
    """
    name = inert(job.operator.rsplit("/", 1)[-1], 100)
    if job.kind == "create":
        return
    context = f"ascendopt/{job.kind}/{name}" if job.kind in MARKS else f"ascendopt/{name}"
    status = Status(
        context=context,
        state=state,
        description=inert(description, 140),
        summary=plain(summary or description, 1500),
    )
    try:
        forge.set_status(job.source_commit, status)
    except ForgeError as problem:
        if problem.kind not in ("not_found", "forbidden", "refused"):
            raise
