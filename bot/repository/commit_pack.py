"""Carry a job's commits from the step that has a token to the one that has none, as one file.

The pack holds the two commits with their files and without their history: enough to check out,
and no larger than the work tree.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, Protocol

from bot.base.git import Git, GitError
from ci.model.errors import InputError, plainly

PACK: Final = "commits.pack"


class Commits(Protocol):
    """The purpose of a pack: a job, or a refresh."""

    @property
    def commits(self) -> tuple[str, ...]:
        """The commits that the pack holds."""


def write_pack(git: Git, job: Commits, folder: Path) -> Path:
    """Write the commits of `job` into `folder`/commits.pack."""
    flags = ("--objects", "--no-walk", "--no-object-names")
    listed = git.run("rev-list", *flags, *job.commits)
    base = folder / "commits"
    name = git.run("pack-objects", "--quiet", str(base.resolve()), stdin=listed).strip()
    file = folder / PACK
    (folder / f"commits-{name}.pack").rename(file)
    for rest in folder.glob(f"commits-{name}.*"):
        rest.unlink()  # git makes the index again
    return file


def read_pack(file: Path, job: Commits, folder: Path) -> Path:
    """Make a bare repository in `folder` out of a pack; its path. Raises InputError."""
    if not file.is_file():
        raise InputError(f"There is no {file}; `ascendopt ci plan` writes it next to the job.")
    folder.mkdir(parents=True, exist_ok=True)
    try:
        git = Git.made(folder, bare=True)
        # Their parents are not in the pack.
        (folder / "shallow").write_text("".join(f"{c}\n" for c in job.commits), encoding="ascii")
        target = folder / "objects" / "pack" / "pack-job.pack"
        target.write_bytes(file.read_bytes())
        git.run("index-pack", str(target.resolve()))
        for number, commit in enumerate(job.commits):
            git.run("update-ref", f"refs/heads/{number}", commit)
    except (GitError, OSError) as problem:
        raise InputError(
            f"{file} is no pack of the job's commits: {plainly(problem)}."
        ) from problem
    return folder
