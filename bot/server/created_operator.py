"""A made operator as data, from the run that made it to the merge request that proposes it.

It comes from where a stranger's function ran: nothing in it is believed that can be checked here.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
from pathlib import Path, PurePosixPath
from typing import Final, Literal

from pydantic import Field, ValidationError

from bot.base.git import Git
from bot.base.text import inert, visible
from bot.forge.base import Forge
from bot.report.created import body, headline
from bot.repository.commit_style import CommitStyle
from bot.repository.config import RepositoryConfig
from bot.repository.job import Job
from bot.server.merge_request import Submission, refuse_foreign, refuse_retargeted, refuse_taken
from bot.server.one_item import beside
from bot.server.own_requests import MADE_BRANCHES, SEAL, is_bots, seal
from bot.server.run_job import MADE
from ci.model.created import Created, Judged
from ci.model.errors import InputError, worded
from ci.model.frozen import Frozen
from ci.model.regular_file import file_bytes

# The trailer of its commits; not that of an optimized one, so that a merged operator is new to the
# bot, which goes on to optimize it.
TRAILER: Final = "Ascendopt-Created"
# Of all files of an operator together, in characters: made ones have some 30,000.
_LARGEST: Final = 1_000_000
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}\Z")


class Made(Frozen):
    """The operator that a run of `/create` made."""

    run: str
    operator: str = Field(description="Folder from the repository's top.")
    commit: str = Field(description="Of the default branch, when it was asked for.")
    created: Created
    judged: Judged
    files: dict[str, str] = Field(description="Texts by path below the operator's folder.")

    @property
    def headline(self) -> str:
        """Return one sentence about the operator, with its figures."""
        return headline(self.created, self.judged)


def read_made(folder: Path) -> Made:
    """Read the operator that a run made in `folder`. Raises InputError when there is none."""
    file = folder / MADE
    if not file.is_file():
        raise InputError(f"There is no {file.name}: the run made nothing.")
    try:
        return Made.model_validate_json(file_bytes(file))
    except ValidationError as problem:
        raise InputError(f"{file} is no created operator: {worded(problem)}.") from None


def check_made(job: Job, made: Made) -> None:
    """Check that a new operator is the one of the job, and only an operator's own files.

    Raises InputError with the first thing that differs.
    """
    print_ = made.judged.fingerprint
    facts: list[tuple[str, object, object]] = [
        ("run", made.run, job.run),
        ("operator's folder", made.operator, job.operator),
        ("commit", made.commit, job.source_commit),
        ("backend", print_.backend, job.backend),
        ("simulated", print_.simulated, job.backend == "sim"),
        ("device", print_.device, job.device),
    ]
    for what, claimed, own in facts:
        if claimed != own:
            told = visible(str(claimed), 80)
            raise InputError(f"The new operator is of another job: its {what} is '{told}'.")
    name = job.operator.rpartition("/")[2]
    wanted = {
        *("CMakeLists.txt", "README.md", "golden.py", "workload.yaml"),
        *(f"op_host/{name}.cpp", f"op_host/{name}_tiling.h", f"op_kernel/{name}.cpp"),
    }
    if not _NAME.match(name) or not _NAME.match(made.created.operator):
        raise InputError("The new operator has a name that no operator can have.")
    if other := wanted ^ set(made.files):
        one = visible(min(other), 80)
        raise InputError(f"The new operator lacks a file or has one too many: {one}.")
    if sum(map(len, made.files.values())) > _LARGEST:
        raise InputError(f"The new operator is larger than {_LARGEST} characters.")
    if not made.files["golden.py"].startswith(job.golden.rstrip()):
        raise InputError(
            "The new operator has another golden function than the one that was given."
        )


def branch_of(operator: str) -> str:
    """`create/<name>/<key>`, with the key of the folder: asked for again, it is the same one."""
    digest = hashlib.sha256(operator.encode()).hexdigest()[:10]
    return f"{MADE_BRANCHES}{operator.rpartition('/')[2]}/{digest}"


def submit_made(
    job: Job, made: Made, forge: Forge, checkout: Path, config: RepositoryConfig
) -> Submission:
    """Propose what was made for the default branch; updates the merge request that is open for it.

    Raises InputError when it does not fit the repository as it is now.
    """
    git, home, branch = Git(checkout), forge.repository(), branch_of(job.operator)
    branches, login = forge.branches(), forge.credentials()
    target = home.default_branch
    tip, old = branches.get(target, ""), branches.get(branch, "")
    heads = [f"refs/heads/{name}" for name in (target, branch) if name in branches]
    git.run("fetch", "--quiet", "--no-tags", "--", home.push_url, *heads, env=login)
    if git.run("ls-tree", tip, "--", job.operator).strip():
        raise InputError(f"{job.operator} exists by now.")
    around = [path.as_posix() for path in PurePosixPath(job.operator).parents][:-1]
    entries = git.run("ls-tree", "-z", tip, "--", *around).split("\0") if around else []
    if odd := [one for one in entries if one and not one.startswith("040000 ")]:
        path = visible(odd[0].partition("\t")[2])
        raise InputError(f"{path} is no folder of this repository, so nothing can be put into it.")
    style = config.merge_requests
    listed = [m for m in forge.merge_requests("open", branch) if m.source_branch == branch]
    ours = [m for m in listed if is_bots(m, forge)]
    refuse_taken(branch, [m for m in listed if m not in ours])
    for one in ours:
        refuse_retargeted(one, target)
    if old:
        refuse_foreign(git, branch, old, TRAILER, style)
    commit = _commit(git, job, made, tip, style)
    forge.push(git, commit, branch, old)
    line, text = _title(made, conventional=style.conventional(git, tip)), _body(job, made)
    action: Literal["opened", "updated"] = "updated" if ours else "opened"
    if ours:
        filed = forge.update(ours[-1].number, line, text)
    else:
        filed = forge.open(line, text, branch, target)
    if style.labels:
        with beside("its labels"):
            forge.add_labels(filed.number, style.labels)
    return Submission(
        action=action,
        reason=f"Merge request {filed.number} was {action}.",
        branch=branch,
        commit=commit,
        merge_request=filed,
    )


def _title(made: Made, *, conventional: bool) -> str:
    name = made.operator.rpartition("/")[2]
    if conventional:
        return inert(f"feat({name}): add the operator {made.created.operator}", 120)
    return inert(f"Add the operator {made.created.operator}, made of a golden function", 120)


def _body(job: Job, made: Made) -> str:
    # GitHub and GitCode link numbers of issues; GitLab's issues are counted apart, as here.
    origin = (
        f"#{job.issue or job.number}" if job.issue or job.forge != "gitlab" else f"!{job.number}"
    )
    return body(
        made.created,
        made.judged,
        operator=job.operator,
        golden=job.golden,
        shapes=job.shapes,
        run=job.run,
        origin=origin,
        requested_by=job.requested_by,
    )


def _commit(git: Git, job: Job, made: Made, parent: str, style: CommitStyle) -> str:
    """The files on top of `parent`, by an index of its own; the work tree is not touched."""
    with tempfile.TemporaryDirectory(prefix="ascendopt-made-") as folder:
        env = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
        git.run("read-tree", parent, env=env)
        for path, text in made.files.items():
            blob = git.run("hash-object", "-w", "--no-filters", "--stdin", stdin=text).strip()
            place = f"100644,{blob},{job.operator}/{path}"
            git.run("update-index", "--add", "--cacheinfo", place, env=env)
        tree = git.run("write-tree", env=env).strip()
    lines = [
        _title(made, conventional=style.conventional(git, parent)),
        "",
        inert(made.headline),
        "",
        f"{TRAILER}: {inert(job.run)}",
        f"{SEAL}: {seal(tree, parent, style)}",
        *([f"Signed-off-by: {style.author}"] if style.sign_off else []),
    ]
    command = ("commit-tree", tree, "-p", parent, "-F", "-")
    return git.run(*command, stdin="\n".join(lines) + "\n", env=style.identity).strip()
