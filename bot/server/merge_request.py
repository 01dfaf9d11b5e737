"""The way from a finished run to a merge request: re-check, commit, push, file or update.

A `Result` is data from outside: nothing in it is believed that can be checked here. One merge
request is open per operator; a new result updates it in place. One that a person closed without
merging is a "no" for the sources it was made from, and is remembered until they change.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final, Literal

from pydantic import Field, ValidationError

from bot.base.git import Git
from bot.base.text import WEB_ADDRESS, encoded, inert, visible
from bot.forge.base import Forge, ForgeError
from bot.forge.kinds import FORGES
from bot.forge.model import MergeRequest, Status
from bot.report import RESULT
from bot.report.facts import headline, time_word
from bot.report.mermaid import trajectory_chart
from bot.report.uncertainty import reported_times
from bot.report.view import page, values
from bot.repository.commit_style import CommitStyle
from bot.repository.mirror import workload_place
from bot.repository.patch import applies, apply, check_patch, only_numbers, own_paths
from bot.server.comments.posting import closed_by_bot
from bot.server.one_item import beside
from bot.server.own_requests import (
    BRANCHES,
    MARK_DIGITS,
    SEAL,
    SOURCES_DIGITS,
    is_about,
    is_bots,
    is_bots_commit,
    made_from,
    path_mark,
    seal,
)
from ci.model.errors import InputError, worded
from ci.model.frozen import Frozen
from ci.model.layout import below
from ci.model.regular_file import file_bytes, file_text
from ci.model.result import Result
from ci.model.yaml_model import YamlFile
from ci.session import facts
from ci.session.placing import LAUNCH, SOURCES

# Two diffs with so much in common are one idea: a person's no to one is a no to the other.
ALIKE: Final = 0.5
SHOWN_CASES: Final = 8
"""Cases above the fold, those with the least speedup first."""
CHECK: Final = "ascendopt/verified"
RUN_TRAILER: Final = "Ascendopt-Run"
OPERATOR_TRAILER: Final = "Ascendopt-Operator"
_ID: Final = re.compile(r"[\w-]{1,64}$")


class SubmitSettings(CommitStyle):
    """Where a finished run is submitted."""

    forge: str = Field(
        default="auto",
        description=f"Forge that the merge request is filed on: {', '.join(FORGES)}; auto: as the"
        " remote's address tells.",
    )
    repository: Path = Field(default=Path(), description="Checkout of the operator's repository.")
    remote: str = Field(
        default="origin", description="Remote of the checkout that the branch is pushed to."
    )
    target: str = Field(
        default="", description="Branch to merge into; the forge's default branch when not given."
    )
    propose_workload: bool = Field(
        default=False,
        description="Add the workload that was derived for the operator, if it has none.",
    )
    report_at: str = Field(
        default="",
        pattern=WEB_ADDRESS,
        description="Web address of the run's report, which the merge request then names.",
    )
    again: bool = Field(
        default=False, description="Propose again what a person has closed without merging."
    )
    dry_run: bool = Field(
        default=False,
        description="Check everything, and print the merge request that would be; write nothing.",
    )


class Submission(Frozen):
    """The fate of a result that was submitted."""

    action: Literal["opened", "updated", "declined"]
    reason: str
    branch: str = ""
    commit: str = ""
    merge_request: MergeRequest | None = None


def read_result(path: Path) -> Result:
    """The result in a file or in a run's folder; raises `InputError` when it is none."""
    file = path / RESULT if path.is_dir() else path
    if not file.is_file():
        raise InputError(f"There is no result {file}; `ascendopt optimize` writes one.")
    try:
        result = Result.model_validate_json(file_bytes(file))
    except ValidationError as problem:
        raise InputError(f"{file} is no result of ascendopt: {worded(problem)}.") from None
    try:
        values(result)
    except (ValueError, ArithmeticError, LookupError) as problem:
        # Each part is well formed, and they do not belong together. Only a ValueError says it in
        # words for a person.
        own = isinstance(problem, ValueError)
        words = visible(str(problem), 200) if own else "its values contradict each other"
        raise InputError(f"{file} is no result of ascendopt: {words}.") from problem
    return result


def operator_mark(result: Result) -> str:
    """16 hex digits that name the operator in its repository."""
    return path_mark(result.operator_path)


def sources_key(result: Result) -> str:
    """10 hex digits that stand for the operator's place and unchanged sources."""
    digest = hashlib.sha256(result.operator_path.encode())
    for path in sorted(result.base_hashes):
        digest.update(f"\0{path}\0{result.base_hashes[path]}".encode())
    return digest.hexdigest()[:SOURCES_DIGITS]


def branch_name(result: Result) -> str:
    """`optimize/<op>/<key>`, whose key stands for the operator's place and for its sources."""
    digits = f"{operator_mark(result)[:MARK_DIGITS]}{sources_key(result)}"
    return f"{BRANCHES}{slug(result.operator)}/{digits}"


def slug(operator: str) -> str:
    """An operator's name as part of a branch's."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", operator).strip("-") or "operator"


def title(result: Result, *, conventional: bool = False) -> str:
    """One line, with the figure and whether it is simulated."""
    kind = "simulated" if result.fingerprint.simulated else result.fingerprint.device
    found = result.uncertainty
    least = "at least " if found and found.differs else ""
    figure = f"{least}{result.held:.2f}x faster ({kind})"
    if found and found.even:
        figure = f"{result.speedup:.2f}x faster ({kind}, {found.condition})"
    if conventional:
        return inert(f"perf({result.operator}): {figure}", 120)
    return inert(f"Optimize {result.op_type}: {figure}", 120)


def body(result: Result, proposed: str = "", report_at: str = "") -> str:
    """The merge request's text as Markdown: verdict, cases, evidence, reasons, reproduction.

    `proposed`: where the derived workload stands that is part of the merge request; `report_at`:
    web address of the whole report.
    """
    shown = values(result)
    shown["proposed"], shown["report_at"] = proposed, report_at
    shown["mark"], shown["sources_key"] = operator_mark(result), sources_key(result)
    shown["cases"] = sorted(shown["cases"], key=lambda row: row.ratio)
    shown["shown_cases"] = SHOWN_CASES
    shown["chart"] = trajectory_chart(shown["points"], time_word(result))
    return page("merge_request.md.j2", **shown)


def commit_message(result: Result, subject: str, signed_off_by: str = "", sealed: str = "") -> str:
    """Subject, reason and trailers that name run, device, figures, and who signs off if any.

    What comes from outside means nothing in it; the operator's path is `encoded`.
    `sealed`: what `seal` makes of the commit.
    """
    times = reported_times(result)
    trailers = {
        RUN_TRAILER: result.run,
        "Ascendopt-Speedup": f"{result.speedup:.4f}",
        "Ascendopt-Speedup-Range": result.uncertainty.interval if result.uncertainty else "",
        "Ascendopt-Score-Us": f"{times[0]:.4f} -> {times[1]:.4f}" if times else "",
        "Ascendopt-Backend": f"{result.fingerprint.backend} {result.fingerprint.device}"
        + (" (simulated time)" if result.fingerprint.simulated else ""),
        "Ascendopt-Tuples": " ".join(t for t in result.best.candidate.tuple_ids if _ID.match(t)),
        SEAL: sealed,
    }
    lines = [f"{OPERATOR_TRAILER}: {encoded(result.operator_path or result.operator)}"]
    lines += [f"{key}: {inert(value, 3000)}" for key, value in trailers.items() if value]
    lines += [f"Signed-off-by: {visible(signed_off_by, 200)}"] if signed_off_by else []
    return f"{subject}\n\n{inert(headline(result))}\n\n" + "\n".join(lines) + "\n"


@dataclass(frozen=True)
class _Place:
    """What the forge's state asks for."""

    branch: str
    existing: MergeRequest | None
    declined: MergeRequest | None


def place(
    result: Result,
    ours: list[MergeRequest],
    target: str,
    by_bot: Callable[[int], bool] = lambda number: False,
    number: int = 0,
) -> _Place:
    """Which branch to use, which open merge request to update, which ended one says no.

    `ours`: the bot's own merge requests about the operator; `number`: of the one that is to be
    updated and no other, 0 for whichever is open. One that was merged into `target` says
    no, too, when the sources are what they were before: somebody has reverted it. `by_bot`: whether
    it was the bot that closed the one of a number. Raises InputError when the open one is for
    another branch than `target`, whose changes it would get, or when that of `number` is not open.
    """
    still = [m for m in ours if m.state == "open" and number in (0, m.number)]
    if number and not still:
        raise InputError(f"Merge request {number} is not open for this operator any more.")
    opened = still[-1] if still else None
    if opened is not None:
        refuse_retargeted(opened, target)
        return _Place(opened.source_branch, opened, None)
    ended = [m for m in _ended(ours, target) if made_from(m, sources_key(result))]
    noes = [m for m in ended if m.state == "merged" or not by_bot(m.number)]
    return _Place(branch_name(result), None, noes[-1] if noes else None)


def refuse_retargeted(opened: MergeRequest, target: str) -> None:
    """Raise InputError when an open merge request is for another branch than `target`: it would get
    that branch's changes."""
    if opened.target_branch != target:
        raise InputError(
            f"Merge request {opened.number} into {visible(opened.target_branch)} is open for this"
            " operator; close or merge it first."
        )


def _ended(ours: list[MergeRequest], target: str) -> list[MergeRequest]:
    """Return the ones that may say no to a change of `target`: closed, or merged there."""
    return [
        m for m in ours if m.state == "closed" or (m.state, m.target_branch) == ("merged", target)
    ]


def likeness(one: str, other: str) -> float:
    """How much two diffs are the same idea, 0 to 1: the part of all their changed lines that both
    have, whatever the blanks and the numbers in them."""
    first, second = _changed_lines(one), _changed_lines(other)
    return len(first & second) / max(1, len(first | second))


def _changed_lines(diff: str) -> set[str]:
    found = set()
    for line in diff.split("\n"):
        if line[:1] in ("+", "-") and line[:4] not in ("+++ ", "--- "):
            text = re.sub(r"\b\d\w*", "0", re.sub(r"\s+", "", line[1:]))
            found |= {line[0] + text} if text else set()
    return found


def refused_alike(
    result: Result, forge: Forge, ended: list[MergeRequest], git: Git, tip: str
) -> MergeRequest | None:
    """The merge request with much the same change that was closed, or merged and taken back.

    `ended`: the bot's own about the operator. What was merged is taken back when it fits `tip`, the
    target's commit, once more.
    """
    for one in reversed(ended):
        with suppress(ForgeError):  # one whose branch is gone may have no diff any more
            diff = forge.diff(one.number)
            again = one.state == "closed" or applies(git, diff, tip)
            alike = again and likeness(result.diff, diff) >= ALIKE
            if alike and (one.state == "merged" or not closed_by_bot(forge, one.number)):
                return one
    return None


def refuse_unfit(result: Result, git: Git, commit: str) -> None:
    """Raise `InputError` unless `result` is improved, complete and made from `commit`'s sources."""
    if result.verdict != "improved" or not result.diff:
        raise InputError(f"There is nothing to submit: {visible(headline(result))}")
    if result.verification is None:
        raise InputError("The result was never verified, so it cannot be submitted.")
    path = PurePosixPath(result.operator_path or ".")
    if path.is_absolute() or ".." in path.parts:
        raise InputError(f"The result's operator_path leaves the repository: {visible(str(path))}.")
    if result.base_commit and git.commit(result.base_commit) is None:
        raise InputError(
            f"This checkout does not know commit {visible(result.base_commit)[:12]} that the run"
            " started from; is it another repository, or does it lack a fetch?"
        )
    if not result.base_hashes:
        raise InputError("The result names no base sources, so it cannot be checked.")
    own = own_paths(path.as_posix(), result.base_hashes, result.shared_paths)
    launch = below(path.as_posix(), LAUNCH)
    for place, source in own.items():
        expected = result.base_hashes[source]
        known = place.endswith(SOURCES) or place == launch
        if not known or ".." in PurePosixPath(place).parts:
            raise InputError(f"{visible(place)} is no source that an operator has.")
        content = git.show(commit, place)
        if content is None:
            raise InputError(f"{visible(place)} is not in the target branch; run optimize there.")
        if hashlib.sha256(content).hexdigest() != expected:
            raise InputError(
                f"{visible(place)} has changed since the run; optimize it as it is now."
            )
    check_patch(result.diff, own, "the result's patch")
    if not only_numbers(result.diff, launch):
        raise InputError(
            f"The result's patch changes more of {visible(launch)} than numbers of the launch."
        )


def submit(
    result: Result, forge: Forge, checkout: Path, settings: SubmitSettings, number: int = 0
) -> Submission:
    """Hand `result` in. Raises `InputError` when it does not fit the repository as it is now.

    `number`: of the merge request to update, as of `place`. The user's work tree, index and
    branches are never touched.
    """
    login = forge.credentials()
    git = Git(checkout, login=login)
    home = forge.repository()
    target = settings.target or home.default_branch
    branches = forge.branches()
    if target not in branches:
        raise InputError(f"{home.name} has no branch '{target}' to merge into.")
    git.run("fetch", "--quiet", "--no-tags", "--", home.push_url, f"refs/heads/{target}")
    tip = branches[target]
    refuse_unfit(result, git, tip)
    result = with_workload(result, git, tip)
    existing = list(forge.merge_requests())
    own = [m for m in existing if is_bots(m, forge, (BRANCHES,))]
    ours = [m for m in own if is_about(m, result.operator_path)]
    placed = place(result, ours, target, lambda one: closed_by_bot(forge, one), number)
    declined, what = placed.declined, "for these sources"
    if declined is None and placed.existing is None and not settings.again:
        ended = _ended(ours, target)
        declined, what = refused_alike(result, forge, ended, git, tip), "with much the same change"
    if declined is not None and not settings.again:
        end = "merged and reverted" if declined.state == "merged" else "closed without merging"
        return Submission(
            action="declined",
            reason=f"Merge request {declined.number} {what} was {end}; give --again to propose it"
            " once more.",
            branch=placed.branch,
            merge_request=declined,
        )
    refuse_taken(placed.branch, [m for m in existing if m not in own])
    old = branches.get(placed.branch, "")
    if old:
        head = f"refs/heads/{placed.branch}"
        git.run("fetch", "--quiet", "--no-tags", "--", home.push_url, head)
        refuse_foreign(git, placed.branch, old, RUN_TRAILER, settings)
    workload = proposed_workload(git, result, tip) if settings.propose_workload else ""
    line = title(result, conventional=settings.conventional(git, tip))
    commit = _commit(git, result, tip, workload, line, settings)
    forge.push(git, commit, placed.branch, old)
    text = body(result, workload, settings.report_at)
    if placed.existing is not None:
        filed = forge.update(placed.existing.number, line, text)
        action: Literal["opened", "updated"] = "updated"
    else:
        filed = forge.open(line, text, placed.branch, target)
        action = "opened"
    status = Status(context=CHECK, state="success", description=inert(headline(result), 140))
    with beside("its check"):
        forge.set_status(commit, status)
    return Submission(
        action=action,
        reason=f"A merge request would be {action}; nothing was written."
        if settings.dry_run
        else f"Merge request {filed.number} was {action}.",
        branch=placed.branch,
        commit=commit,
        merge_request=filed,
    )


def refuse_taken(branch: str, others: Iterable[MergeRequest]) -> None:
    """Raise InputError when somebody else's merge request is open from the bot's branch.

    `others`: merge requests that are not the bot's own.
    """
    for one in others:
        if one.state == "open" and not one.from_fork and one.source_branch == branch:
            raise InputError(
                f"Merge request {one.number} of {visible(one.author)} is open from {branch}, which"
                " is a branch of the bot; close it, so that the bot can propose its own."
            )


def refuse_foreign(git: Git, branch: str, head: str, trailer: str, style: CommitStyle) -> None:
    """Raise InputError when `head` of the bot's branch is not a commit of the bot as it made it.

    What a person pushed or amended there is never overwritten.
    """
    if not is_bots_commit(git, head, trailer, style):
        raise InputError(
            f"Somebody else's commit {head[:12]} is on {branch}; merge or delete the branch first."
        )


def with_workload(result: Result, git: Git, tip: str) -> Result:
    """The result with the text of its workload where that lies in the checkout alone.

    Nobody else could repeat its figures: the merge request then adds the workload, or shows it.
    Raises InputError when such a workload names a golden function, which lies next to it.
    """
    named, top = result.settings.get("workload", ""), git.top()
    place = str(named) or workload_place(result.operator_path)
    if result.derived_workload or top is None or git.show(tip, place) is not None:
        return result
    file = top / place
    if not (file.is_file() and facts.belongs(file, top)):
        return result
    text = file_text(file, top.resolve())
    data = YamlFile(text, place).data
    if isinstance(data, dict) and data.get("golden"):
        raise InputError(
            f"{place} and its golden function are not in the target branch, so nobody else could"
            " repeat the figures: commit and push them first."
        )
    return result.model_copy(update={"derived_workload": text})


def proposed_workload(git: Git, result: Result, parent: str) -> str:
    """Where the derived workload of a result goes, '' where there is none or the place is taken.

    Raises InputError when it is none: it names no golden function, which would be code.
    """
    place = workload_place(result.operator_path)
    if not result.derived_workload or git.show(parent, place) is not None:
        return ""
    data = YamlFile(result.derived_workload, "the derived workload").data
    if not isinstance(data, dict) or not {"operator", "cases"} <= {*data} or "golden" in data:
        raise InputError("The result's derived workload is not valid.")
    return place


def _refuse_other_changes(git: Git, result: Result, parent: str, tree: str, workload: str) -> None:
    """What git made of the patch must be changed lines of own sources, whatever the check read,
    and at most one new file, the workload."""
    allowed = own_paths(result.operator_path or ".", result.base_hashes, result.shared_paths)
    listed = git.run("diff-tree", "-r", "-z", "--raw", "--no-renames", parent, tree).split("\0")
    for entry, path in zip(listed[::2], listed[1::2], strict=False):
        old_mode, new_mode, _, _, kind = entry.lstrip(":").split(" ")
        if workload and (kind, new_mode, path) == ("A", "100644", workload):
            continue
        if kind != "M" or old_mode != new_mode or path not in allowed:
            raise InputError(f"The result's patch would change {visible(path)}, which it may not.")


def _commit(
    git: Git, result: Result, parent: str, workload: str, subject: str, style: CommitStyle
) -> str:
    """Commit the patch on top of `parent` in an index of its own; returns the commit.

    `workload`: where the derived workload goes, '' when it is not added.
    """
    with tempfile.TemporaryDirectory(prefix="ascendopt-submit-") as folder:
        index = Path(folder) / "index"
        env = {"GIT_INDEX_FILE": str(index)}
        git.run("read-tree", parent, env=env)
        apply(git, result.diff, "the result's patch", index=index)
        if workload:
            text = result.derived_workload
            blob = git.run("hash-object", "-w", "--stdin", stdin=text).strip()
            git.run("update-index", "--add", "--cacheinfo", f"100644,{blob},{workload}", env=env)
        tree = git.run("write-tree", env=env).strip()
    _refuse_other_changes(git, result, parent, tree, workload)
    signed = style.author if style.sign_off else ""
    message = commit_message(result, subject, signed, seal(tree, parent, style))
    commit = ("commit-tree", tree, "-p", parent, "-F", "-")
    return git.run(*commit, stdin=message, env=style.identity).strip()
