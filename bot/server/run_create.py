"""Make the operator of a `/create` job where there is no token, and leave it as data.

The golden function is a stranger's: it is imported in the sandbox only, by what `ci.session` opens.
"""

from __future__ import annotations

import shutil
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Final

from rich.console import Console

from bot.repository.job import Job
from bot.server.created_operator import Made
from bot.server.progress import print_line
from bot.server.run_job import left_file, refuse_open_files
from ci.model.created import CreateSettings
from ci.model.errors import InputError
from ci.session.create import create_operator, judged

_TASK: Final = "task"
_FOLDER: Final = "made"


def run_create(
    job: Job, work: Path, out: Path, console: Console, *, allow_unsandboxed: bool = False
) -> Made:
    """Make the operator of `job` in `work` and leave it in `out`.

    Raises InputError with what stops it.
    """
    refuse_open_files(job, allow_unsandboxed=allow_unsandboxed)
    task, name = work / _TASK, job.operator.rpartition("/")[2]
    folder = work / _FOLDER / name
    for place in (task, folder):
        shutil.rmtree(place, ignore_errors=True)
    task.mkdir(parents=True)
    golden, workload = task / "golden.py", task / "workload.yaml"
    golden.write_text(job.golden, encoding="utf-8")
    workload.write_text(job.shapes, encoding="utf-8")
    settings = CreateSettings(workload=workload, out=folder, name=name, device=job.device)

    def say(words: str) -> None:
        print_line(console, words)

    with _at_most(job.wall_minutes), _without_places(task, folder):
        created = create_operator(f"{golden}:{job.function}", settings, say)
        say("Measuring it over the machine's uncertainty.")
        found = judged(folder, job.device)
    paths = sorted(p for p in folder.rglob("*") if p.is_file())
    made = Made(
        run=job.run,
        operator=job.operator,
        commit=job.source_commit,
        created=created.model_copy(update={"folder": job.operator}),
        judged=found,
        files={p.relative_to(folder).as_posix(): p.read_text(encoding="utf-8") for p in paths},
    )
    out.mkdir(parents=True, exist_ok=True)
    left_file(job, out).write_text(made.model_dump_json(), encoding="utf-8")
    return made


@contextmanager
def _without_places(*places: Path) -> Iterator[None]:
    """Errors that name files as the person who wrote them knows them."""
    try:
        yield
    except InputError as problem:
        words = str(problem)
        for place in places:
            words = words.replace(f"{place.resolve()}/", "").replace(f"{place}/", "")
        raise InputError(words) from problem


@contextmanager
def _at_most(minutes: float) -> Iterator[None]:
    """Raises InputError when what is done inside takes longer; the main thread alone can tell."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def over(number: int, frame: FrameType | None) -> None:
        raise InputError(f"It took longer than {minutes:g} minutes, which is the limit here.")

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, 60 * minutes)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
