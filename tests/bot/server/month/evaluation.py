"""What stands in the month for the runs that would take hours: each leaves what a real one would.

A search makes an operator's tiles larger, where `gain` says that this helps. The sources are those
of the pack that the bot made for the run; what is left goes the way of any result.
"""

from __future__ import annotations

import difflib
import hashlib
import re
from pathlib import Path

from bot.base.git import Git
from bot.repository.job import DERIVED, Job
from bot.server.measuring import MEASURED
from bot.server.run_folder import FAILURE, Failure
from bot.server.run_job import result_file
from ci.model.measured_change import ComparedCase, MeasuredChange
from ci.model.result import Result
from tests.bot.make import SIMULATED, result

WIDE = 8192
SLOW = "// all the time is spent elsewhere"
"""In a kernel: larger tiles no longer help it."""
_TILE = re.compile(r"TILE = (\d+)")


def host(folder: str) -> str:
    return f"op_host/{folder.rpartition('/')[2]}.cpp"


def kernel(folder: str) -> str:
    return f"op_kernel/{folder.rpartition('/')[2]}.cpp"


def gain(folder: str, tiling: str, body: str) -> float:
    """How many times as fast the operator becomes by wide tiles; 1 for not at all."""
    digit = int(hashlib.sha256(folder.encode()).hexdigest()[:4], 16) % 10
    found = _TILE.search(tiling)
    helps = digit < 8 and found is not None and int(found[1]) < WIDE and SLOW not in body
    return 1.1 + digit / 10 if helps else 1.0


def widened(folder: str, tiling: str) -> str:
    """The patch that makes the tiles wide."""
    place = f"{folder}/{host(folder)}"
    lines = difflib.unified_diff(
        tiling.splitlines(keepends=True),
        _TILE.sub(f"TILE = {WIDE}", tiling).splitlines(keepends=True),
        f"a/{place}",
        f"b/{place}",
        n=1,
    )
    return f"diff --git a/{place} b/{place}\n" + "".join(lines)


def ran(job: Job, git: Git, out: Path) -> None:
    """Leave in `out` what a run of `job` leaves; `git` has its commits."""
    out.mkdir(parents=True, exist_ok=True)
    sources = {
        name: (git.show(job.source_commit, f"{job.operator}/{name}") or b"").decode()
        for name in (host(job.operator), kernel(job.operator))
    }
    tiling, body = sources.values()
    if job.kind == "measure":
        _measured(job, out)
    elif "#error" in body:
        left = Failure(sentence="The operator does not build: #error.", lasting=True)
        (out / FAILURE).write_text(left.model_dump_json())
    else:
        diff = job.patch or widened(job.operator, tiling)
        made = _result(job, gain(job.operator, tiling, body), diff, sources)
        result_file(out).write_text(made.model_dump_json())


def _measured(job: Job, out: Path) -> None:
    case = ComparedCase(case="a", before_us=10.0, after_us=9.0, low=1.05, high=1.2)
    found = MeasuredChange(
        run=job.run,
        operator=job.operator,
        base_commit=job.base_commit,
        head_commit=job.source_commit,
        fingerprint=SIMULATED,
        derived=job.workload == DERIVED,
        cases=(case,),
    )
    (out / MEASURED).write_text(found.model_dump_json())


def _result(job: Job, speedup: float, diff: str, sources: dict[str, str]) -> Result:
    name, faster = job.operator.rpartition("/")[2], speedup > 1
    made = result()
    told = {
        "run": job.run,
        "operator": name,
        "op_type": name.title().replace("_", ""),
        "operator_path": job.operator,
        "base_commit": job.source_commit,
        "base_hashes": {k: hashlib.sha256(t.encode()).hexdigest() for k, t in sources.items()},
        "settings": {**made.settings, "workload": job.workload, "budget": job.budget},
        "verdict": "improved" if faster else "not_improved",
        "speedup": speedup,
        "diff": diff if faster else "",
        "derived_workload": "" if job.workload != DERIVED else f"operator: {name}\ncases: []\n",
    }
    return made.model_copy(update=told)
