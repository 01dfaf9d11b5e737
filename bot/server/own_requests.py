"""Which merge requests are the bot's own, which operator each is about, whose its commit is.

Anybody can name a branch, copy a marker, edit a text or amend a commit. So the repository that the
branch is in and the account that opened the merge request decide first, then the branch's name. A
marker in the text counts only where the name of an older branch does not tell.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Final, Literal

from bot.base.git import Git
from bot.forge.base import Forge
from bot.forge.model import MergeRequest
from bot.repository.commit_style import CommitStyle
from bot.repository.config import FILE, parse_config
from ci.model.errors import InputError

BRANCHES: Final = "optimize/"
MADE_BRANCHES: Final = "create/"
OWN_BRANCHES: Final = (BRANCHES, MADE_BRANCHES)
MARK_DIGITS: Final = 6
"""Hex digits of an operator's mark in a branch's name; those of its sources follow."""
SOURCES_DIGITS: Final = 10

SEAL: Final = "Ascendopt-Seal"
"""Trailer of the bot's commits."""

_LEFT_OUT: Final = ".,:;\"'\\<> "
_KEY: Final = re.compile(
    rf"{BRANCHES}[^/]+/(?P<mark>[0-9a-f]{{{MARK_DIGITS}}})?(?P<sources>[0-9a-f]{{{SOURCES_DIGITS}}})"
)
_MADE: Final = re.compile(rf"{MADE_BRANCHES}[^/]+/[0-9a-f]{{{SOURCES_DIGITS}}}")
_MARK: Final = re.compile(r"<!-- ascendopt: ([0-9a-f]{16}) -->")
_SOURCES: Final = re.compile(r"<!-- ascendopt-sources: ([0-9a-f]{10}) -->")


def is_bots(request: MergeRequest, forge: Forge, branches: tuple[str, ...] = OWN_BRANCHES) -> bool:
    """Whether a merge request is of this repository, the bot's account and one of `branches`.

    The branch must have the whole form of the bot's: other jobs may share the account, and a
    prefix, such as that of one that optimizes pictures.
    """
    branch = request.source_branch
    named = _KEY.fullmatch(branch) or _MADE.fullmatch(branch)
    return (
        not request.from_fork
        and named is not None
        and branch.startswith(branches)
        and forge.is_viewer(request.author)
    )


def own_requests(
    forge: Forge,
    state: Literal["all", "open"] = "all",
    branches: tuple[str, ...] = OWN_BRANCHES,
) -> list[MergeRequest]:
    """The bot's own merge requests, by number. Raises ForgeError."""
    return [m for m in forge.merge_requests(state) if is_bots(m, forge, branches)]


def path_mark(folder: str) -> str:
    """16 hex digits that name the operator in `folder`, counted from the repository's top."""
    return hashlib.sha256(folder.encode()).hexdigest()[:16]


def is_about(request: MergeRequest, folder: str) -> bool:
    """Whether an own merge request is about the operator in `folder`."""
    return marked_with(request) == path_mark(folder)[:MARK_DIGITS]


def operator_of(request: MergeRequest, folders: Iterable[str]) -> str:
    """The folder, of `folders`, that an own merge request is about; '' for none."""
    return next((folder for folder in folders if is_about(request, folder)), "")


def marked_with(request: MergeRequest) -> str:
    """MARK_DIGITS of the mark of the operator that an own merge request is about, '' for none."""
    named = _KEY.fullmatch(request.source_branch)
    if named is not None and named["mark"]:
        return named["mark"]
    found = _MARK.search(request.body)
    return found[1][:MARK_DIGITS] if found is not None else ""


def made_from(request: MergeRequest, key: str) -> bool:
    """Whether an own merge request was made from the sources of `key`, at first or at its last
    rebase."""
    named, found = _KEY.fullmatch(request.source_branch), _SOURCES.search(request.body)
    return key in ((named or {"sources": ""})["sources"], found[1] if found else "")


def seal(tree: str, parent: str, style: CommitStyle) -> str:
    """16 hex digits that fit a commit of the bot as it made it: `tree` on `parent`, and by whom."""
    return _sealed(tree, parent, style.identity["GIT_COMMITTER_EMAIL"])


def _sealed(tree: str, parents: str, address: str) -> str:
    # git leaves out such characters at the ends of an address
    words = f"{tree}\0{parents}\0{address.strip(_LEFT_OUT)}"
    return hashlib.sha256(words.encode()).hexdigest()[:16]


def is_bots_commit(git: Git, commit: str, trailer: str, style: CommitStyle) -> bool:
    """Whether the bot made `commit` as it is: an amended or rebased one keeps its trailers.

    So its seal must fit it. One of an earlier version has none; whom the repository names as author
    then, now or by default must have committed it.
    """
    trailers = "".join(f"%n%(trailers:key={t},valueonly,separator=%x2C)" for t in (trailer, SEAL))
    shown = git.run("show", "-s", f"--format=%T%n%P%n%ce{trailers}", commit).split("\n")
    tree, parents, address, run, sealed = (line.strip() for line in shown[:5])
    if sealed:
        return bool(run) and sealed == _sealed(tree, parents, address)
    styles = [style, CommitStyle()]
    with suppress(InputError):  # a configuration that was broken then named nobody
        styles.append(parse_config(git.show(f"{commit}^", FILE)).merge_requests)
    return bool(run) and address in {s.identity["GIT_COMMITTER_EMAIL"] for s in styles}
