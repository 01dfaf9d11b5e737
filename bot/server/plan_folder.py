"""The folder that carries jobs from the step that has a token to the one that has none.

plan.json                              the keys of the jobs
jobs/KEY/{job.json,commits.pack}       what to do, and the commits that it needs
bank.jsonl                             experience that the repository's bot has earned, if any
"""

from __future__ import annotations

import json
import logging
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from pydantic import Field, ValidationError

from bot.base.git import Git
from bot.repository.commit_pack import PACK, read_pack, write_pack
from bot.repository.job import Job
from bot.server.one_item import apart
from bot.server.run_job import JOB_FILE, read_job
from bot.server.state_branch import BANK
from ci.model.errors import InputError, plainly, worded
from ci.model.frozen import Frozen
from ci.model.regular_file import file_bytes

LOG: Final = logging.getLogger("ascendopt.bot")
PLAN: Final = "plan.json"
JOBS: Final = "jobs"
REFRESH: Final = "refresh"
_KEY: Final = re.compile(r"[0-9A-Za-z]{1,64}")
_REPOSITORY: Final = "repository.git"


class Tip(NamedTuple):
    """The commit of the default branch that a refresh goes over."""

    source_commit: str

    @property
    def commits(self) -> tuple[str, ...]:
        """Return the commits that a pack of it holds."""
        return (self.source_commit,)


def write_plan(jobs: Sequence[Job], git: Git, bank: str, tip: str, out: Path) -> list[Job]:
    """Write the plan folder; `git` has the commits, `bank` is JSON lines or ''.

    `tip`: commit of the default branch when the bank is to be refreshed with it, else ''. Returns
    the jobs in it: one whose commits cannot be packed is left out, and planned again later.
    """
    out.mkdir(parents=True, exist_ok=True)
    packed = list[Job]()
    for job in jobs:
        folder, failed = out / JOBS / job.key, list[Exception]()
        with apart(f"run {job.run} is planned again later", failed):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / JOB_FILE).write_text(job.model_dump_json(indent=2), encoding="utf-8")
            write_pack(git, job, folder)
        if failed:
            shutil.rmtree(folder, ignore_errors=True)
        else:
            packed.append(job)
    if bank:
        (out / BANK).write_text(bank, encoding="utf-8")
    if tip:
        (out / REFRESH).mkdir(exist_ok=True)
        write_pack(git, Tip(tip), out / REFRESH)
    listed = {"jobs": [j.key for j in packed], "refresh": tip}
    (out / PLAN).write_text(json.dumps(listed, indent=2) + "\n", encoding="utf-8")
    return packed


def planned(folder: Path) -> list[tuple[Job, Path]]:
    """The jobs of a plan folder with the folder of each; raises InputError when it is none."""
    file = folder / PLAN
    found = []
    for key in _listed(folder).jobs:
        # The key becomes a path: nothing but a key may.
        if not _KEY.fullmatch(key):
            raise InputError(f"{file} names a job that is no key.")
        place = folder / JOBS / key
        job = read_job(place / JOB_FILE)
        if job.key != key:
            raise InputError(f"{place / JOB_FILE} is the job {job.key}, not {key}.")
        found.append((job, place))
    return found


def tip_of(folder: Path) -> Tip | None:
    """The commit of the default branch that the bank is to be refreshed with; None: it is not."""
    commit = _listed(folder).refresh
    return Tip(commit) if commit else None


class _Listed(Frozen):
    """plan.json."""

    jobs: tuple[str, ...]
    refresh: str = Field(default="", pattern=r"^([0-9a-f]{40}|[0-9a-f]{64})?$")


def _listed(folder: Path) -> _Listed:
    file = folder / PLAN
    try:
        return _Listed.model_validate_json(file_bytes(file))
    except (OSError, ValidationError) as problem:
        words = worded(problem) if isinstance(problem, ValidationError) else plainly(problem)
        raise InputError(f"{folder} is no plan: {file} cannot be read ({words}).") from None


def repository_of(job: Job, place: Path, work: Path) -> Path:
    """A bare repository with the job's commits, unpacked below `work`."""
    return read_pack(place / PACK, job, work / _REPOSITORY)


@contextmanager
def work_folder() -> Iterator[Path]:
    """A folder for the work trees of a run, which is taken away in the end.

    It lies apart from the results: a CI takes all of their folder, also when it has killed the run,
    and one odd name of a work tree would keep a forge from taking any of them.
    """
    with tempfile.TemporaryDirectory(prefix="ascendopt-ci-") as made:
        yield Path(made)


@contextmanager
def bank_of(plan: Path) -> Iterator[Path | None]:
    """A bank with the shipped experience and that of the plan, gone afterwards; None when the plan
    brings none and asks for no refresh. Raises InputError when what it brings is none."""
    given = plan / BANK
    if not given.is_file() and tip_of(plan) is None:
        yield None
        return
    from experience.bank.exchange import import_tuples, open_default_bank

    with tempfile.TemporaryDirectory(prefix="ascendopt-bank-") as folder:
        bank = open_default_bank(Path(folder) / "bank.duckdb")
        if given.is_file():
            import_tuples(bank, given)
        yield bank.path
