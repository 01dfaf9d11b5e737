"""The bot's own bare copy of a repository: what it reads commits from and cuts checkouts out of.

Nothing in it is run. Sources come from the commit under test; whatever judges them (workload and
golden function) from the default branch.
"""

from __future__ import annotations

import re
import shutil
import threading
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Final

from bot.base.git import Git, GitError
from bot.forge.base import Forge
from bot.repository.job import Job
from ci.model import layout
from ci.model.errors import InputError

# A source file larger than this is generated data, not something an operator includes.
_MAX_SOURCE_BYTES: Final = 2_000_000


class Commit:
    """One commit of a mirror, read lazily."""

    def __init__(self, git: Git, name: str) -> None:
        self._git = git
        self.name = name

    @cached_property
    def files(self) -> dict[str, str]:
        """Blob hash by path, over all plain files."""
        found = {}
        for entry in self._git.run("ls-tree", "-r", "-z", self.name).split("\0"):
            head, _, path = entry.partition("\t")
            words = head.split()
            if len(words) == 3 and words[0] in ("100644", "100755"):
                found[path] = words[2]
        return found

    @cached_property
    def operators(self) -> dict[str, tuple[str, ...]]:
        """Sources by operator folder: one that has op_host and op_kernel."""
        return layout.operators(self.files)

    @cached_property
    def texts(self) -> dict[str, str]:
        """Text of every C++ header and source, by path."""
        wanted = {p: blob for p, blob in self.files.items() if p.endswith(layout.SOURCES)}
        contents = self._git.blobs(list(dict.fromkeys(wanted.values())))
        return {
            path: contents[blob].decode("utf-8", errors="replace")
            for path, blob in wanted.items()
            if len(contents.get(blob, b"")) <= _MAX_SOURCE_BYTES
        }

    @cached_property
    def includes(self) -> layout.IncludeGraph:
        """Who includes whom."""
        return layout.IncludeGraph(self.texts)

    def built_from(self, folder: str) -> dict[str, str]:
        """Blob hash of every file that the operator in `folder` is built from, by path."""
        reached = self.includes.reachable(self.operators.get(folder, ()))
        lists = (f"{folder}/CMakeLists.txt", f"{folder}/{layout.HOST}/CMakeLists.txt")
        paths = sorted({*reached, *(p for p in lists if p in self.files)})
        return {path: self.files[path] for path in paths if path in self.files}

    def beside(self, file: str) -> dict[str, str]:
        """Blob hash of what a workload file may use: the plain files of its own folder."""
        home = str(PurePosixPath(file).parent)
        return {p: b for p, b in self.files.items() if str(PurePosixPath(p).parent) == home}

    def read(self, path: str) -> bytes | None:
        """Content of a file, None when it is not there."""
        return self._git.show(self.name, path)


class Mirror:
    """A bare repository on the bot's disk that follows one repository of a forge."""

    def __init__(self, folder: Path) -> None:
        """Open it, or make an empty one."""
        self.folder = folder
        self._lock = threading.Lock()
        if not (folder / "HEAD").exists():
            folder.mkdir(parents=True, exist_ok=True)
            Git(folder).run("init", "--quiet", "--bare", ".")
        self.git = Git(folder)

    def fetch(self, forge: Forge, ref: str) -> str:
        """Bring `ref` of the forge's repository here; its commit. Raises GitError."""
        home = forge.repository()
        slug = re.sub(r"[^A-Za-z0-9_-]", "-", ref)
        with self._lock:
            self.git.run(
                "fetch",
                "--quiet",
                "--no-tags",
                "--no-write-fetch-head",
                "--",
                home.push_url,
                f"+{ref}:refs/ascendopt/{slug}",
                env=forge.credentials(),
            )
            commit = self.git.commit(f"refs/ascendopt/{slug}")
        if commit is None:
            raise GitError(f"{ref} of {home.name} is no commit")
        return commit

    def ensure(self, forge: Forge, ref: str, commit: str) -> None:
        """Make sure that `commit` is here, fetching `ref` if need be.

        Raises InputError when the ref no longer leads to it (somebody pushed over it).
        """
        if self.git.commit(commit) is None:
            self.fetch(forge, ref)
        if self.git.commit(commit) is None:
            raise InputError(f"Commit {commit[:12]} is gone from {ref}; somebody pushed over it.")

    def check_out_branch(self, forge: Forge, branch: str, into: Path) -> None:
        """Put the work tree of a branch, as it is now, into the folder `into`."""
        commit = self.fetch(forge, f"refs/heads/{branch}")
        _clone(self.git, commit, into)

    def commit(self, name: str) -> Commit:
        """A commit that was fetched."""
        return Commit(self.git, name)

    def changed(self, before: str, after: str) -> tuple[str, ...]:
        """Paths that differ between two commits, both names of renames."""
        listed = self.git.run("diff", "--name-only", "-z", "--no-renames", before, after)
        return tuple(path for path in listed.split("\0") if path)

    def by_hand(self, before: str, after: str, folder: str) -> bool:
        """Whether anybody but the bot changed `folder` between two commits."""
        authored = self.git.run(
            "log",
            "--no-merges",
            "--format=%(trailers:key=Ascendopt-Run,valueonly,separator=%x2C)%x00",
            f"{before}..{after}",
            "--",
            folder,
        )
        commits = [entry.strip() for entry in authored.split("\0")][:-1]
        return not commits or not all(commits)


def check_out(git_folder: Path, job: Job, into: Path) -> None:
    """Cut the work tree of a job out of a repository that has its commits.

    The sources are those of `source_commit`; the files of the workload's folder, which judge, are
    replaced by those of `judge_commit`. No hook, filter or submodule of the repository is used.
    Raises InputError when a commit is missing or there is no such operator.
    """
    git = Git(git_folder)
    for commit in (job.source_commit, job.judge_commit):
        if git.commit(commit) is None:
            raise InputError(f"{git_folder} does not have commit {commit[:12]}; fetch it first.")
    _clone(git, job.source_commit, into)
    judge, tested = Commit(git, job.judge_commit), Commit(git, job.source_commit)
    if job.operator not in tested.operators:
        raise InputError(f"Commit {job.source_commit[:12]} has no operator in {job.operator}.")
    trusted = judge.beside(job.workload)
    if job.workload not in trusted:
        raise InputError(f"{job.workload} is not on the default branch.")
    _replace(into, tested.beside(job.workload), trusted, git)


def _clone(git: Git, commit: str, into: Path) -> None:
    """The work tree of a commit in a fresh folder; no hook or submodule is used."""
    if into.exists():
        shutil.rmtree(into)
    into.parent.mkdir(parents=True, exist_ok=True)
    source = git.run("rev-parse", "--absolute-git-dir").strip()
    git.run("clone", "--quiet", "--shared", "--no-checkout", "--", source, str(into.resolve()))
    Git(into).run("checkout", "--quiet", "--detach", commit)


def _replace(into: Path, old: Iterable[str], new: dict[str, str], git: Git) -> None:
    """In the work tree: delete the files `old` and write the blobs `new`."""
    for path in old:
        _inside(into, path).unlink(missing_ok=True)
    contents = git.blobs(list(new.values()))
    for path, blob in new.items():
        file = _inside(into, path)
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.is_symlink():
            file.unlink()
        file.write_bytes(contents[blob])


def _inside(top: Path, path: str) -> Path:
    """`path` below `top`; InputError when a link of the work tree leads it elsewhere."""
    file = top / path
    if not file.parent.resolve().is_relative_to(top.resolve()):
        raise InputError(f"{path} lies behind a link that leads out of the repository.")
    return file


def workload_of(judge: Commit, folder: str, chosen: str | None, workloads: str) -> str | None:
    """The workload file of the operator in `folder` on the default branch, None if there is none.

    `chosen`: named in the configuration; `workloads`: the folder that holds NAME/workload.yaml.
    """
    name = folder.rsplit("/", 1)[-1]
    places: Sequence[str] = (
        [chosen]
        if chosen
        else [
            f"{folder}/workload.yaml",
            *([f"{workloads}/{name}/workload.yaml"] if workloads else []),
        ]
    )
    return next((place for place in places if place in judge.files), None)
