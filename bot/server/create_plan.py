"""The way from `/create` to a job: what is asked for, where it goes, and every reason why not.

The golden function is text here and stays text: the job carries it to where there is no token.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import Final

from bot.base.text import plain
from bot.forge.model import Comment
from bot.report.sentences import local
from bot.repository.command import Command
from bot.repository.config import FILE, RepositoryConfig
from bot.repository.job import Job, job_key
from bot.repository.mirror import Commit
from bot.server.comments.wording import said
from bot.server.job_maker import Work
from ci.model.errors import InputError
from ci.session.create import asked

# For a repository that has no operator yet, as cann-ops would have it.
_FIRST: Final = "src/custom"


def folder_for(judge: Commit, config: RepositoryConfig) -> str:
    """The folder that takes made operators: as configured, else the one that holds most operators,
    which the repository's build is sure to know."""
    if config.created:
        return config.created
    around = Counter(folder.rpartition("/")[0] for folder in judge.operators)
    if not around:
        return _FIRST
    most = max(around.values())
    return min(folder for folder, count in around.items() if count == most)


def create_job(work: Work, command: Command, comment: Comment, number: int, issue: int) -> Job:
    """The job of `/create` in `comment`, on the merge request `number` or in `issue`.

    Raises InputError with the sentence to answer.
    """
    config, home, judge = work.config, work.home, work.judge
    if not config.triggers.create:
        raise InputError(said("create_off", FILE))
    try:
        wanted = asked(command.golden, command.shapes, command.op)
    except InputError as problem:
        raise InputError(plain(local(str(problem)))) from None
    folder = "/".join(filter(None, (folder_for(judge, config), wanted.name)))
    if not config.covers(folder):
        raise InputError(said("left_alone", folder, FILE))
    same = [f for f in judge.operators if f.rpartition("/")[2] == wanted.name]
    if same or any(path.startswith(f"{folder}/") for path in judge.files):
        raise InputError(said("there_already", same[0] if same else folder))
    ref = f"refs/heads/{home.default_branch}"
    device = command.target or config.target
    texts = {"golden": command.golden, "shapes": wanted.workload}
    blobs = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()}
    settings = {
        "kind": "create",
        "function": wanted.function,
        "device": device,
        "dry_run": str(command.dry_run),
    }
    return Job(
        key=job_key(*work.connection.lasting, folder, blobs, settings),
        kind="create",
        forge=work.connection.name,
        repository=work.connection.repository,
        number=number,
        issue=issue,
        operator=folder,
        source_ref=ref,
        source_commit=judge.name,
        target_branch=home.default_branch,
        judge_ref=ref,
        judge_commit=judge.name,
        workload="",
        device=device,
        budget=0,
        wall_minutes=config.limits.wall_minutes,
        dry_run=command.dry_run,
        golden=command.golden,
        function=wanted.function,
        shapes=wanted.workload,
        requested_by=comment.author,
        comment_id=comment.id,
    )
