"""Run one job where there is no token: check out, optimize or verify, leave the result.

This is the half of the bot that may run on a machine which builds and runs candidates. It gets a
job file and a git repository that has the job's commits, and leaves a folder of data.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from pydantic import ValidationError
from rich.console import Console

from bot.base.language import language
from bot.report import RESULT
from bot.repository.job import DERIVED, Job
from bot.repository.judge import lay_out
from bot.repository.mirror import check_out
from bot.repository.patch import applied
from bot.server.checking import CHECKED
from bot.server.measuring import MEASURED
from bot.server.progress import progress_for
from bot.server.run_folder import write_run
from ci.model.errors import InputError, worded
from ci.model.regular_file import file_bytes
from ci.model.result import Result
from ci.model.settings import EvaluationSetup, OptimizeSettings, ProposerOptions
from ci.model.trial import Candidate
from ci.session import facts
from ci.session.derive import derived_for
from ci.session.session import open_session

JOB_FILE: Final = "job.json"
CHECKOUT: Final = "checkout"
JUDGE: Final = "judge"
BASE: Final = "base"
"""The work tree that an author's change is measured against."""
MADE: Final = "made.json"
OWN_WORKLOAD: Final = "workload"
"""The work tree that takes the workload that a run derives."""


def read_job(file: Path) -> Job:
    """The job in a file; raises InputError when it is none."""
    if not file.is_file():
        raise InputError(f"There is no job file {file}; `ascendopt ci plan` writes them.")
    try:
        return Job.model_validate_json(file_bytes(file))
    except ValidationError as problem:
        raise InputError(f"{file} is no job: {worded(problem)}.") from None


def run_job(
    job: Job,
    git_folder: Path,
    work: Path,
    out: Path,
    console: Console,
    *,
    bank: Path | None = None,
    models: Path | None = None,
    allow_unsandboxed: bool = False,
) -> Result:
    """Run `job` with the commits of `git_folder` and leave everything in `out`; its result.

    `work`: folder of its work trees, `out` or another. `bank` None: the user's own; `models` fills
    the roles of the proposer llm. A run that was killed goes on where it was. `allow_unsandboxed`:
    run what a merge request brings where no sandbox closes files. Raises InputError when that is
    refused, and when the job does not fit the repository, such as a patch that no longer applies.
    """
    refuse_open_files(job, allow_unsandboxed=allow_unsandboxed)
    top, judge = work / CHECKOUT, work / JUDGE
    check_out(git_folder, job, top)
    setup = EvaluationSetup(backend=job.backend, device=job.device)
    if job.workload == DERIVED:
        workload = derived_for(top / job.operator, setup, work / OWN_WORKLOAD)
    else:
        lay_out(git_folder, job, judge)
        workload = judge / job.workload
    setup = setup.model_copy(update={"workload": workload})
    session = open_session(top / job.operator, setup)
    unit = "simulated time" if job.backend == "sim" else "time"
    with progress_for(console, session.operator.name, unit) as progress:
        if job.kind == "verify":
            files = applied(session.operator, job.patch, "the merge request's patch")
            whose = f"merge request {job.patch_of}" if job.patch_of else "an earlier run"
            change = Candidate(
                files=files,
                proposer="earlier run",
                rationale=f"The change of {whose}, on the current base.",
                parts=job.changes,
            )
            found = session.verify(change, out, progress)
        else:
            settings = OptimizeSettings(
                budget=job.budget,
                stage=job.stage,
                seed=job.seed,
                wall_minutes=job.wall_minutes,
                resume=True,
                learn=False,  # of what a person merges: `bank import --from-result`
            )
            proposing = ProposerOptions(
                proposer=job.proposer, models=models if job.proposer == "llm" else None
            )
            # The program or the bank may have changed since the run was killed.
            found = session.optimize(settings, proposing, bank, out, progress, set_aside=True)
    # The run is known by its key wherever the bot names it, the workload by its place.
    told = {"run": job.run, "settings": {**found.settings, "workload": job.workload}}
    if job.workload == DERIVED:
        told["derived_workload"] = workload.read_text(encoding="utf-8")
    with language(job.language):
        return write_run(found.model_copy(update=told), session.operator, out)


def refuse_open_files(job: Job, *, allow_unsandboxed: bool) -> None:
    """Raises InputError where what a person outside wrote would run with this machine's files."""
    foreign = job.number or job.patch_of or job.kind == "create"
    if foreign and not (allow_unsandboxed or facts.files_are_closed(job.backend)):
        raise InputError(
            "Nothing of a merge request or a comment is run here: no sandbox closes this machine's"
            " files to it (`ascendopt doctor` says what is missing); the bot's setting"
            " allow_unsandboxed: true runs it all the same."
        )


def result_file(out: Path) -> Path:
    """Where a run leaves its result."""
    return out / RESULT


def left_file(job: Job, out: Path) -> Path:
    """Where a run of the job's kind leaves what it found or made."""
    if job.kind == "measure":
        return out / MEASURED
    if job.kind == "check":
        return out / CHECKED
    return out / MADE if job.kind == "create" else result_file(out)
