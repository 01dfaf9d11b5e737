"""The judge of a job: workload, golden function, and all files that these can read or import.

It comes from the default branch and is laid out in a folder of its own, which holds nothing of the
commit under test.
"""

from __future__ import annotations

import posixpath
import shutil
from pathlib import Path
from typing import Final

from bot.base.git import Git
from bot.repository.job import Job
from bot.repository.mirror import Commit
from ci.model import layout
from ci.model.errors import InputError
from ci.model.yaml_model import YamlFile

# As `ci` reads them: generated workloads have thousands of cases.
_MOST_BYTES: Final = 4_000_000


def judge_files(judge: Commit, workload: str) -> dict[str, str]:
    """Blob hash by path of what the workload file may use, links among them; {} when there is none.

    These are the folders of the workload and of its golden function, with all below them but C++
    sources, and what links in them lead to. Raises InputError for a golden outside the repository.
    """
    file = judge.resolved(workload)
    if file is None or file not in judge.files:
        return {}
    found = {path: judge.links[path][0] for path in judge.through(workload)}
    seen: set[str] = set()
    waiting = [file, *_golden(judge, file, found)]
    while waiting:
        place = waiting.pop()
        if place in seen:
            continue
        seen.add(place)
        if place in judge.files:
            found[place] = judge.files[place]
            if place != file and not place.endswith(".py"):
                continue
            place = posixpath.dirname(place)  # what lies next to it may be imported
        below = f"{place}/" if place else ""
        for path, blob in judge.files.items():
            if path.startswith(below) and not path.endswith(layout.SOURCES):
                found[path] = blob
        for path, (blob, _) in judge.links.items():
            if path.startswith(below):
                found[path] = blob
                target = judge.resolved(path)
                waiting += [] if target is None else [target]
    return found


def _golden(judge: Commit, workload: str, found: dict[str, str]) -> list[str]:
    """The file of the golden function that a workload names; links on the way go to `found`."""
    try:
        data = YamlFile(
            judge.read(workload) or b"", workload, most_bytes=_MOST_BYTES, aliases=True
        ).data
    except InputError:
        return []  # the run says so
    named = data.get("golden") if isinstance(data, dict) else None
    path = str(named or "").rpartition(":")[0]
    if not path:
        return []
    whole = posixpath.join(posixpath.dirname(workload), path)
    found |= {link: judge.links[link][0] for link in judge.through(whole)}
    target = judge.resolved(whole)
    if target is None:
        raise InputError(f"{workload}: golden '{named}' leads out of the repository.")
    return [target]


def lay_out(git_folder: Path, job: Job, into: Path) -> None:
    """Write what judges a job into `into`; raises InputError when it is not there."""
    git = Git(git_folder)
    judge = Commit(git, job.judge_commit)
    files = judge_files(judge, job.workload)
    if not files:
        raise InputError(f"{job.workload} is not on the default branch.")
    if into.exists():
        shutil.rmtree(into)
    contents = git.blobs(list(dict.fromkeys(files.values())))
    for path, blob in files.items():
        file = into / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if path not in judge.links:
            file.write_bytes(contents[blob])
        elif judge.resolved(path) is not None:
            file.symlink_to(judge.links[path][1])
