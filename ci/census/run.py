"""A whole census: every operator once, results appended as they come, resumed where it stopped."""

from __future__ import annotations

import fnmatch
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from ci.backend.pool import workers
from ci.backend.pool.dispatch import Dispatcher, Quarantined
from ci.census.worker import lost, question
from ci.host.door import open_door
from ci.model.census import ROWS, CensusRow, CensusSettings
from ci.model.errors import InputError
from ci.model.folder_walk import legible
from ci.model.settings import TWO_WORKERS
from ci.simulator.toolchain import Toolchain
from ci.source.discovery import no_path, operator_places
from ci.source.placed import sources_without_name
from ci.source.seen_kernels import no_operator
from ci.source.workload_file import find_workload
from ci.system.row_file import RowFile
from rules.devices import load_device


def take_census(
    repository: Path,
    settings: CensusSettings,
    out: Path,
    on_row: Callable[[CensusRow, int, int], None],
) -> list[CensusRow]:
    """Try the operators of `repository`; answers the rows of all that the glob selects.

    Rows are appended to `out`/census.jsonl as they come; those in it count, as `again` says.
    `on_row` is called with each new row, how many are done and how many there are. Raises
    InputError when the repository holds no operator or the glob selects none.
    """
    for folder in (repository, settings.workloads):
        if folder is not None and not folder.is_dir():
            there = f"{folder} is a file" if folder.is_file() else f"There is no folder {folder}"
            raise InputError(f"{there}; give the folder of a repository or of workloads.")
    top = repository.resolve()
    folders = select(operator_places(top), settings.operators, top, repository)
    nameless = [_nameless(place, top) for place in sources_without_name(top)]
    out.mkdir(parents=True, exist_ok=True)
    kept = rows_of(out / ROWS)
    known = kept.rows
    waiting = [
        f for f in folders if _due(known.get(f.relative_to(top).as_posix()), f, settings, top)
    ]
    if waiting and not settings.pool.startswith("ray"):
        architecture = load_device(settings.device).architecture
        Toolchain(architecture, door=open_door(settings.asc_headers)).prepare()
    lock = threading.Lock()

    def one(pool: Dispatcher, folder: Path) -> None:
        try:
            said = pool.ask(question(folder, top, settings))
            row = CensusRow.model_validate(said)
        except Quarantined as gone:
            row = lost(folder, top, str(gone))
        with lock:
            kept.add(row)
            done = sum(f.relative_to(top).as_posix() in known for f in folders)
            on_row(row, done, len(folders))

    for row in nameless:
        kept.add(row)
    if not waiting:
        return [*(known[f.relative_to(top).as_posix()] for f in folders), *nameless]
    with workers(settings.pool or TWO_WORKERS) as pool:
        threads = ThreadPoolExecutor(pool.size)
        try:
            for _ in threads.map(partial(one, pool), waiting):
                pass
        finally:
            threads.shutdown(wait=False, cancel_futures=True)
    rows = (known.get(f.relative_to(top).as_posix()) for f in folders)
    return [*(row for row in rows if row is not None), *nameless]


def _nameless(place: Path, top: Path) -> CensusRow:
    """The row of what cannot be read for its name."""
    return lost(legible(place), top, no_path(place))


def select(folders: Iterable[Path], glob: str, top: Path, repository: Path) -> list[Path]:
    """The folders whose name, category/name or path from `top` on matches `glob`.

    Raises InputError if none does; `repository` is `top` as the user wrote it.
    """
    found = list(folders)
    if not found:
        raise InputError(no_operator(repository))
    paths = {f: f.relative_to(top).as_posix() for f in found}
    chosen = [
        f
        for f, path in paths.items()
        if any(fnmatch.fnmatch(n, glob) for n in (f.name, f"{f.parent.name}/{f.name}", path))
    ]
    if not chosen:
        raise InputError(
            f"No operator of {repository} matches '{glob}'; there are {len(found)}, "
            f"such as {', '.join(list(paths.values())[:3])}."
        )
    return chosen


def rows_of(file: Path) -> RowFile[str, CensusRow]:
    """The rows of a census file by the operator's path."""
    return RowFile(file, CensusRow, lambda row: row.path)


def _due(row: CensusRow | None, folder: Path, settings: CensusSettings, top: Path) -> bool:
    if row is None or settings.again == "all":
        return True
    if settings.again == "missing":
        return False
    has_workload = find_workload(folder, settings.workloads, top) is not None
    judged = row.judged == "verified" or not has_workload
    return bool(row.failures) or not judged
