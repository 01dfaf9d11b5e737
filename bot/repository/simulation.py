"""What the bot would do for a change, from commits alone: no forge is asked and nothing runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from pydantic import Field

from bot.base.git import Git, GitError
from bot.base.text import visible
from bot.repository.config import FILE, RepositoryConfig
from bot.repository.mirror import Commit, workload_of
from bot.repository.trigger import Touched, touched_operators
from ci.model.amount import amount
from ci.model.errors import InputError
from ci.model.frozen import Frozen
from rules.triggers import load_triggers

_HEAD: Final = "ref: refs/heads/"


class Decision(Frozen):
    """The bot's decision about one operator that a change concerns."""

    operator: str = Field(description="Its folder.")
    decision: str
    kernel: bool = Field(description="Whether its kernel changed.")
    tiling: bool = Field(description="Whether its host tiling changed.")
    because: tuple[str, ...] = Field(description="Changed files that concern it.")


def default_branch(git: Git, remote: str = "origin") -> str:
    """The default branch of a checkout's remote: what the clone noted, else what the remote says.

    Raises InputError when neither tells; the branch that is checked out says nothing.
    """
    noted = f"refs/remotes/{remote}/HEAD"
    try:
        name = git.run("symbolic-ref", "--quiet", noted).strip()
        return name.removeprefix(f"refs/remotes/{remote}/")
    except GitError:
        pass
    try:
        asked = git.run("ls-remote", "--symref", "--", remote, "HEAD")
    except GitError as problem:
        raise InputError(
            f"The remote '{remote}' of {git.folder} does not say what its default branch is"
            f" ({problem}). Name it: `init --branch` or `config simulate --base`."
        ) from None
    for line in asked.splitlines():
        if line.startswith(_HEAD):
            return line.removeprefix(_HEAD).split("\t")[0]
    raise InputError(
        f"The remote '{remote}' of {git.folder} has no default branch:"
        " `init --branch` or `config simulate --base` names one."
    )


def default_commit(git: Git, branch: str, remote: str = "origin") -> str | None:
    """The commit of the default branch as last fetched, else of the local branch of its name."""
    return git.commit(f"refs/remotes/{remote}/{branch}") or git.commit(f"refs/heads/{branch}")


def simulated(
    git: Git,
    judge: str,
    before: str,
    after: str,
    config: RepositoryConfig,
    vain: Mapping[str, str] = MappingProxyType({}),
) -> list[Decision]:
    """Return the bot's decisions for the change from commit `before` to `after`.

    `judge` is the commit of the default branch that brings the workloads. `vain`: why nothing can
    come of an operator, as far as somebody has read them; the bot finds it out when it tries.
    """
    listed = git.diff("--name-only", "-z", before, after).split("\0")
    judges, tested = Commit(git, judge), Commit(git, after)
    found: Sequence[Touched] = touched_operators(
        [p for p in listed if p], tested.operators, tested.texts, load_triggers()
    )
    # As the queue takes them: larger shares of the model's time first, then by folder.
    found = sorted(found, key=lambda one: -config.override(one.folder).share)
    most, decisions, searches = config.limits.operators_per_event, list[Decision](), 0
    for one in found:
        words = _decided(one.folder, judges, config)
        if words.startswith(_SEARCHED) and one.folder in vain:
            words = f"tried in vain: {visible(vain[one.folder], 200)}"
        if words.startswith(_SEARCHED):
            searches += 1
            later = "" if searches <= most else f"queued, as a run starts {most} searches; then "
            words = later + words
        decisions.append(
            Decision(
                operator=one.folder,
                decision=words,
                kernel=one.kernel,
                tiling=one.tiling,
                because=tuple(one.because),
            )
        )
    return decisions


_SEARCHED: Final = "optimized"


def _decided(folder: str, judges: Commit, config: RepositoryConfig) -> str:
    if not config.covers(folder):
        return f"left alone: {FILE} says so"
    workload = workload_of(judges, folder, config.override(folder).workload, config.workloads)
    chosen = config.override(folder).workload
    if workload is None and chosen:
        return f"left alone: {chosen} is not at {judges.name[:12]}"
    return (
        f"{_SEARCHED} with {amount(config.granted(folder, None), 'evaluation')} on {config.backend}"
        f" {config.target}, judged by {workload or 'a workload that is derived then'}"
    )
