"""Run one job where there is no token: check out, optimize or verify, leave the result.

This is the half of the bot that may run on a machine which builds and runs candidates. It gets a
job file and a git repository that has the job's commits, and leaves a folder of data.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from pydantic import ValidationError
from rich.console import Console

from bot.report import RESULT
from bot.repository.job import Job
from bot.repository.mirror import check_out
from bot.repository.patch import applied
from bot.server.finish import finish
from bot.server.progress import progress_for
from ci.model.errors import InputError
from ci.model.result import Result
from ci.model.settings import OptimizeSettings, Target
from ci.proposer.base import Proposer
from ci.search.run import optimize
from ci.session import Session, open_session
from ci.system.trial_store import set_aside
from experience.bank.bank import Bank

JOB_FILE: Final = "job.json"
CHECKOUT: Final = "checkout"


def read_job(file: Path) -> Job:
    """The job in a file; raises InputError when it is none."""
    if not file.is_file():
        raise InputError(f"There is no job file {file}; `ascendopt ci plan` writes them.")
    try:
        return Job.model_validate_json(file.read_bytes())
    except ValidationError as problem:
        first = problem.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InputError(f"{file} is no job: {where}: {first['msg']}.") from None


def run_job(
    job: Job, git_folder: Path, out: Path, proposer: Proposer, bank: Bank, console: Console
) -> Result:
    """Run `job` with the commits of `git_folder` and leave everything in `out`; its result.

    A run that was killed goes on where it was. Raises InputError when the job does not fit the
    repository, such as a patch that no longer applies.
    """
    check_out(git_folder, job, out / CHECKOUT)
    top = out / CHECKOUT
    target = Target(
        workload=top / job.workload, backend=job.backend, device=job.device, recording=None
    )
    session = open_session(top / job.operator, target)
    unit = "simulated time" if job.backend == "sim" else "time"
    with progress_for(console, session.operator.name, unit) as progress:
        if job.kind == "verify":
            found = _verify(job, session, out, progress)
        else:
            found = _optimize(job, session, proposer, bank, out, progress)
    settings = {**found.settings, **session.settings, "proposer": job.proposer}
    # The run is known by its key wherever the bot names it.
    named = found.model_copy(update={"settings": settings, "run": job.run})
    return finish(named, session.operator, out)


def _optimize(
    job: Job, session: Session, proposer: Proposer, bank: Bank, out: Path, progress: object
) -> Result:
    assert callable(progress)
    settings = OptimizeSettings(
        budget=job.budget,
        stage=job.stage,
        seed=job.seed,
        wall_minutes=job.wall_minutes,
        resume=True,
    )
    arguments = (session.operator, session.workload, session.evaluator, proposer, bank)
    try:
        return optimize(*arguments, settings, out, progress)
    except InputError:
        # The program or the bank changed since the run was killed: its trials are kept aside.
        if not set_aside(out):
            raise
        return optimize(*arguments, settings, out, progress)


def _verify(job: Job, session: Session, out: Path, progress: object) -> Result:
    from ci.judge.other_shapes import OtherShapes
    from ci.search.reverify import reverify

    assert callable(progress)
    operator, workload = session.operator, session.workload
    files = applied(operator, job.patch, "the merge request's patch")
    return reverify(
        operator,
        session.evaluator,
        files,
        f"the change of merge request {job.patch_of}, on the base as it is now",
        out,
        progress,
        elsewhere=OtherShapes(operator, workload, session.evaluator.backend).fault,
    )


def result_file(out: Path) -> Path:
    """Where a run leaves its result."""
    return out / RESULT
