"""The bot's own bare copy of a repository: what it reads commits from and cuts checkouts out of.

Nothing in it is run.
"""

from __future__ import annotations

import os
import re
import shutil
import threading
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Final

from bot.base.git import Git, GitError
from bot.forge.base import Forge
from bot.repository.job import Job
from ci.model import layout
from ci.model.errors import InputError
from ci.model.regular_file import MOST_BYTES
from ci.session.placing import SOURCES, folder_of, operators_in, workload_folders

# All of them together are held in memory; those of a large repository are some 50 MB.
_MAX_ALL_SOURCES: Final = 500_000_000
# Linux takes no longer target of a link, in bytes.
_LONGEST_TARGET: Final = 4096
# Of links that lead from one to the next; Linux follows as many.
_MOST_LINKS: Final = 40


class Commit:
    """One commit of a mirror, read lazily."""

    def __init__(self, git: Git, name: str) -> None:
        self._git = git
        self.name = name

    @cached_property
    def files(self) -> dict[str, str]:
        """Blob hash by path, over all plain files."""
        return {path: blob for mode, blob, path in self._entries if mode in ("100644", "100755")}

    @cached_property
    def submodules(self) -> frozenset[str]:
        """Paths at which the tree names a commit of another repository; nobody enters them."""
        return frozenset(path for mode, _, path in self._entries if mode == "160000")

    @cached_property
    def links(self) -> dict[str, tuple[str, str]]:
        """Blob hash and target by path, over all symbolic links."""
        blobs = {path: blob for mode, blob, path in self._entries if mode == "120000"}
        targets = self._git.blobs(list(dict.fromkeys(blobs.values())), largest=_LONGEST_TARGET)
        # A longer one leads nowhere: no system makes such a link.
        return {
            path: (blob, targets.get(blob, b"/").decode(errors="replace"))
            for path, blob in blobs.items()
        }

    @cached_property
    def _entries(self) -> list[tuple[str, str, str]]:
        """(mode, blob hash, path) of everything in the tree."""
        found = []
        for entry in self._git.run("ls-tree", "-r", "-z", self.name).split("\0"):
            head, _, path = entry.partition("\t")
            words = head.split()
            if len(words) == 3:
                found.append((words[0], words[2], path))
        return found

    def resolved(self, path: str) -> str | None:
        """The place that `path` leads to with all links followed; None outside the repository."""
        followed = self._followed(path)
        return None if followed is None else followed[0]

    def through(self, path: str) -> list[str]:
        """The links on the way of `path`."""
        followed = self._followed(path)
        return [] if followed is None else followed[1]

    def _followed(self, path: str) -> tuple[str, list[str]] | None:
        pending, place, met = [*PurePosixPath(path).parts], list[str](), list[str]()
        while pending:
            part = pending.pop(0)
            here = "/".join([*place, part])
            if part == "/" or len(met) > _MOST_LINKS or (part == ".." and not place):
                return None
            if part == "..":
                place.pop()
            elif here in self.links:
                met.append(here)
                pending = [*PurePosixPath(self.links[here][1]).parts, *pending]
            else:
                place.append(part)
        return "/".join(place), met

    @cached_property
    def operators(self) -> dict[str, tuple[str, ...]]:
        """Sources by what names the operator: its folder (one that has op_host and op_kernel, or
        the innermost one that holds an op definition and its kernel), or a path of its name in a
        folder of several."""
        return operators_in(self.files, self._texts)

    @cached_property
    def texts(self) -> dict[str, str]:
        """Text of every C++ header and source, by path; raises GitError when one is not there."""
        return self._texts([p for p in self.files if p.endswith(SOURCES)])

    def _texts(self, paths: Iterable[str]) -> dict[str, str]:
        wanted = {path: self.files[path] for path in paths}
        sizes = self._git.sizes(list(dict.fromkeys(wanted.values())))
        if lost := [path for path, blob in wanted.items() if blob not in sizes]:
            raise GitError(f"{lost[0]} of commit {self.name[:12]} is not in {self._git.folder}")
        # No reader takes another one.
        small = [blob for blob, size in sizes.items() if size <= MOST_BYTES]
        if sum(sizes[blob] for blob in small) > _MAX_ALL_SOURCES:
            raise InputError(
                f"Commit {self.name[:12]} has more than {_MAX_ALL_SOURCES // 1_000_000} MB of C++"
                " sources, so no operator is looked for in it."
            )
        contents = self._git.blobs(small)
        return {
            path: contents[blob].decode("utf-8", errors="replace")
            for path, blob in wanted.items()
            if blob in contents
        }

    @cached_property
    def includes(self) -> layout.IncludeGraph:
        """Who includes whom."""
        return layout.IncludeGraph(self.texts)

    def folder_of(self, place: str) -> str:
        """The folder with the sources of the operator that `place` names."""
        return folder_of(place, self.operators.get(place, ())) or place

    def built_from(self, folder: str) -> dict[str, str]:
        """Blob hash of every file that the operator `folder` is built from, by path."""
        reached = self.includes.reachable(self.operators.get(folder, ()))
        around = self.folder_of(folder)
        lists = [layout.below(around, f"{part}CMakeLists.txt") for part in ("", f"{layout.HOST}/")]
        paths = sorted({*reached, *(p for p in lists if p in self.files)})
        return {path: self.files[path] for path in paths if path in self.files}

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
            Git.made(folder, bare=True)
        self.git = Git(folder, own=True)

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

    def pack(self) -> None:
        """Pack what many fetches have left loose; little is left as it is. Raises GitError."""
        with self._lock:
            self.git.run("gc", "--auto", "--quiet")

    def check_out_branch(self, forge: Forge, branch: str, into: Path) -> None:
        """Put the work tree of a branch, as it is now, into the folder `into`."""
        commit = self.fetch(forge, f"refs/heads/{branch}")
        clone(self.git, commit, into)

    def commit(self, name: str) -> Commit:
        """A commit that was fetched."""
        return Commit(self.git, name)

    def changed(self, before: str, after: str) -> tuple[str, ...]:
        """Paths that differ between two commits, both names of renames."""
        listed = self.git.diff("--name-only", "-z", before, after)
        return tuple(path for path in listed.split("\0") if path)

    def by_hand(self, before: str, after: str, folder: str) -> bool:
        """Whether anybody but the bot changed `folder` between two commits."""
        authored = self.git.run(
            "log",
            "--no-merges",
            "--format=%(trailers:key=Ascendopt-Run,valueonly,separator=%x2C)%x00",
            f"{before}..{after}",
            "--",
            f":(literal){folder}",
        )
        commits = [entry.strip() for entry in authored.split("\0")][:-1]
        return not commits or not all(commits)


def check_out(git_folder: Path, job: Job, into: Path) -> None:
    """Cut the work tree of a job, at `source_commit`, out of a repository that has its commits.

    It is laid out as `clone` does. Raises InputError when a commit is missing or there is no such
    operator.
    """
    git = Git(git_folder)
    for commit in (job.source_commit, job.judge_commit):
        if git.commit(commit) is None:
            raise InputError(f"{git_folder} does not have commit {commit[:12]}; fetch it first.")
    clone(git, job.source_commit, into)
    if job.operator not in Commit(git, job.source_commit).operators:
        raise InputError(f"Commit {job.source_commit[:12]} has no operator in {job.operator}.")


def clone(git: Git, commit: str, into: Path) -> None:
    """The work tree of a commit in a fresh folder.

    No hook, filter or submodule is used; links that lead out of the repository are left out.
    """
    if into.exists():
        shutil.rmtree(into)
    into.parent.mkdir(parents=True, exist_ok=True)
    git.lay_out(commit, into)
    # Found on the disk: a name need be no UTF-8.
    for link in [place for place in _links(into) if _leads_out(place, into.resolve())]:
        link.unlink()


def _links(top: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(top):
        found = (Path(folder, name) for name in (*folders, *files))
        yield from (place for place in found if place.is_symlink())


def _leads_out(link: Path, top: Path) -> bool:
    """Whether a link leads out of `top`, or nowhere for it leads round in circles."""
    try:
        return not Path(os.path.realpath(link, strict=True)).is_relative_to(top)
    except FileNotFoundError:
        return not Path(os.path.realpath(link)).is_relative_to(top)
    except OSError:
        return True


def workload_place(folder: str) -> str:
    """Where the workload of the operator in `folder` lies next to it, from the repository's top."""
    return (PurePosixPath(folder) / "workload.yaml").as_posix()


def workload_of(judge: Commit, folder: str, chosen: str | None, workloads: str) -> str | None:
    """The workload file of the operator in `folder` on the default branch, None if there is none.

    `chosen`: named in the configuration; `workloads`: the folder that holds NAME/workload.yaml.
    There AROUND/NAME goes first, where around is the name of any folder that the operator lies in,
    nearest first: it tells operators of one name apart.
    """
    places = _workload_places(judge, folder, chosen, workloads)
    return next((place for place in places if place in judge.files), None)


def workload_submodule(
    judge: Commit, folder: str, chosen: str | None, workloads: str
) -> str | None:
    """The submodule that the operator's workload would lie in, as `workload_of` looks for it."""
    for place in _workload_places(judge, folder, chosen, workloads):
        around = {parent.as_posix() for parent in PurePosixPath(place).parents}
        if within := around & judge.submodules:
            return min(within)
    return None


def _workload_places(judge: Commit, folder: str, chosen: str | None, workloads: str) -> list[str]:
    if chosen:
        return [chosen]
    *around, name = folder.split("/")
    below = [f"{workloads}/{one}/{name}" for one in reversed(around)] + [f"{workloads}/{name}"]
    further = below if workloads and folder != layout.TOP else ()
    beside = workload_folders(folder, judge.files)
    return [workload_place(place) for place in (*beside, *further)]
