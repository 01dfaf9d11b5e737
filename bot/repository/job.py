"""One piece of work for the bot: which operator, at which commit, judged by what, for whom."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Final, Literal

from pydantic import Field

from bot.base.language import Language, current_language
from bot.repository.command import Stage
from ci.model.frozen import Frozen
from ci.model.trial import Change

# Hex digits of a key; 64 bits are enough to tell jobs apart and short enough to be read out.
KEY_DIGITS: Final = 16

VERIFYING: Final = 3.0
"""Priority of a change that was found already and is verified again: it takes minutes."""
ASKED: Final = 2.0
"""Priority of work that a person waits for."""

DERIVED: Final = ""
"""The place of a workload that the run derives, for an operator that has none."""

# Part of a run's time that its search may take.
_SEARCHING: Final = 0.7

State = Literal["queued", "running", "delivering", "waiting", "done", "failed", "cancelled"]
# `waiting`: its result is verified and waits for a free place among the open merge requests.
ENDED: Final = ("done", "failed", "cancelled")


class Job(Frozen):
    """Everything that a run needs; data only, so that a job file can cross into a job without
    tokens."""

    key: str = Field(
        pattern=r"^[0-9A-Za-z_-]{1,64}$",
        description="Equal for equal work: see `job_key`. Names the run and its folder.",
    )
    kind: Literal["optimize", "verify", "create", "measure", "check"] = Field(
        default="optimize",
        description="verify: measure a proposed patch again on a moved base; create: make an"
        " operator of a golden function; measure: time an author's own change against its base;"
        " check: say what is wrong with it.",
    )
    forge: str = Field(description="Name of the forge in the bot's configuration.")
    repository: str = Field(description="owner/name.")
    number: int = Field(
        default=0, description="Merge request that it is about; 0 for a push or the night."
    )
    issue: int = Field(default=0, description="Issue that it was asked for in; 0 for none.")
    operator: str = Field(
        description="Operator's folder from the repository's top, be it to be made."
    )
    source_ref: str = Field(description="Ref on the forge that holds `source_commit`.")
    source_commit: str = Field(description="Commit whose sources are optimized.")
    target_branch: str = Field(description="Branch that the result is proposed for.")
    judge_ref: str = Field(description="The default branch's ref.")
    judge_commit: str = Field(description="Its commit: workload, golden function, configuration.")
    workload: str = Field(
        description="Workload file from the repository's top, at judge_commit; '' to derive one."
    )
    backend: Literal["sim", "cann"] = "sim"
    device: str
    stage: Stage = "both"
    budget: int
    seed: int = 0
    proposer: str = "rules"
    wall_minutes: float = 120.0
    minimum_speedup: float = 1.02
    dry_run: bool = False
    from_fork: bool = False
    patch: str = Field(default="", description="What a verify job measures against the base.")
    patch_of: int = Field(default=0, description="The bot's merge request that `patch` is from.")
    changes: tuple[Change, ...] = Field(
        default=(), description="What `patch` does, as the run that found it summed it up."
    )
    golden: str = Field(
        default="", description="Of create: Python that a person wrote, for the sandbox alone."
    )
    function: str = Field(default="", description="Of create: the golden function's name.")
    shapes: str = Field(default="", description="Of create: the text of the workload file.")
    requested_by: str = Field(default="", description="Login of who asked; '' for a push.")
    comment_id: int = Field(default=0, description="The comment that asked, if one did.")
    base_commit: str = Field(
        default="", description="Of measure and check: what source_commit is held to."
    )
    threshold: float = Field(
        default=1.05, ge=1.0, description="Of measure: the check fails beyond this slowdown."
    )
    without: tuple[str, ...] = Field(
        default=(),
        description="Ids of motifs that people said no to: nothing with them is proposed.",
    )
    language: Language = Field(
        default_factory=current_language, description="Of the comments, the report, the request."
    )
    priority: float = Field(
        default=0.0, description="Higher goes first in the queue; no part of the key."
    )

    def within(self, seconds: float | None, jobs: int) -> Job:
        """The job when `jobs` jobs, itself among them, share `seconds`; None: as long as it may.

        What one leaves, the next ones have. A part is for building and for verifying the best,
        which the wall time of a search does not count.
        """
        if seconds is None:
            return self
        share = _SEARCHING * max(seconds, 60.0) / 60.0 / jobs
        return self.model_copy(update={"wall_minutes": min(self.wall_minutes, share)})

    @property
    def commits(self) -> tuple[str, ...]:
        """The commits that the run needs, each once."""
        named = (self.source_commit, self.judge_commit, self.base_commit)
        return tuple(dict.fromkeys(filter(None, named)))

    @property
    def run(self) -> str:
        """The short name of the run, as status comments show it."""
        return self.key[:10]


def job_key(
    forge: str,
    repository: str,
    operator: str,
    blobs: Mapping[str, str],
    settings: Mapping[str, str],
) -> str:
    """The identity of work: (forge, repository, operator, blob hashes, configuration, target).

    `repository`: what stays when it is renamed, so that nothing is searched for twice.
    `blobs`: git hash by path of every file that the operator is built from or judged by;
    `settings`: what else decides the result, the target among them. A merge request's number or
    who asked is not part of it: the same sources asked for twice are the same work.
    """
    digest = hashlib.sha256()
    for part in (forge, repository, operator):
        digest.update(part.encode() + b"\0")
    for mapping in (blobs, settings):
        for name in sorted(mapping):
            digest.update(name.encode() + b"\0" + mapping[name].encode() + b"\0")
        digest.update(b"\1")
    return digest.hexdigest()[:KEY_DIGITS]


class Record(Frozen):
    """A job with its standing in the queue."""

    job: Job
    state: State
    attempts: int = 0
    outages: int = Field(default=0, description="Attempts that ended because the forge was away.")
    cancel: bool = Field(default=False, description="Somebody asked to stop it.")
    created: float = Field(description="Unix time, s.")
    started: float = 0.0
    finished: float = 0.0
    note: str = Field(default="", description="Why it waits, failed or what came of it.")
    comment_id: int = Field(default=0, description="The status comment, once there is one.")
    merge_request: int = Field(default=0, description="The merge request that came of it.")
    speedup: float = 0.0
    progress: str = Field(default="", description="The last progress line.")
    lease_until: float = Field(default=0.0, description="Unix time until which a worker holds it.")
    not_before: float = Field(default=0.0, description="Unix time before which it is not tried.")

    @property
    def stopped(self) -> bool:
        """Whether it was cancelled; its worker may not have stopped yet."""
        return self.state == "cancelled" or (self.state == "running" and self.cancel)

    @property
    def tries(self) -> int:
        """Attempts that count: an outage of the forge takes none of the job's."""
        return self.attempts - self.outages


def standing_fact(forge: str, repository: str, number: int) -> str:
    """The name under which it is remembered how a merge request of the bot stands."""
    return f"standing {forge} {repository} {number}"
