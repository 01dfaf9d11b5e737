"""Banks as JSON lines or Parquet: to ship a bank, to share it, to look at it.

Parquet has the columns that one filters by and the whole tuple as JSON next to them; both formats
read back to equal tuples. A stripped export keeps what a motif teaches and none of the kernel.
"""

from __future__ import annotations

import atexit
import fcntl
import logging
import os
import shutil
import time
from collections.abc import Iterable
from contextlib import suppress
from glob import escape
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Final

import duckdb
from pydantic import ValidationError

from ci.model.errors import InputError, plainly, worded
from ci.model.json_lines import json_lines
from ci.model.regular_file import file_bytes
from experience.bank.bank import Bank
from experience.bank.store import File
from experience.bank.tuple import ExperienceTuple
from rules.load import load_motifs, load_taxonomy

LOG: Final = logging.getLogger("ascendopt.bank")

SHIPPED = Path(__file__).parents[1] / "shipped_tuples.jsonl"
"""The tuples that `make bank` earned on the operators that this project ships."""

PARQUET = ".parquet"
MOST_BYTES = 1 << 30
"""Most bytes of a file with tuples."""

_OWN = {"uses", "wins"}  # they belong to the bank in which they were earned
_COLUMNS = (
    "id", "title", "bottleneck", "motif_id", "op_family", "dtype", "soc", "direction", "status",
)  # fmt: skip


def strip(full: ExperienceTuple) -> ExperienceTuple:
    """The tuple without diff, operator and commit: the motif, the bottleneck and the effect.

    Words that a model or a run wrote may name the kernel: they give way to those of the motif, or
    of the taxonomy where no motif made the tuple.
    """
    motif = next((m for m in load_motifs() if m.id == full.motif_id), None)
    taxonomy = load_taxonomy()
    words = [taxonomy[c].words for c in full.classes[:3] if c in taxonomy]
    prefix = "No gain: " if full.direction == "negative" else ""
    return full.model_copy(
        update={
            "title": prefix + (motif.title if motif else "An optimization"),
            "description": motif.why if motif else "",
            "bottleneck": full.bottleneck if motif else ". ".join(words),
            "diff": "",
            "operator": "",
            "source_commit": "",
            "origin": "stripped",
            "trajectory": "",
            "slow": None,
            "fast": None,
        }
    )


def export_tuples(tuples: Iterable[ExperienceTuple], path: Path) -> int:
    """Write tuples as Parquet when the name ends so, else as JSON lines, ordered by id."""
    ordered = sorted(tuples, key=_id)
    return (export_parquet if path.suffix == PARQUET else export_lines)(ordered, path)


def import_tuples(bank: Bank, path: Path) -> tuple[int, int]:
    """Add the tuples of a file to a bank, all or none: (new, already known)."""
    return (import_parquet if path.suffix == PARQUET else import_lines)(bank, path)


def export_lines(tuples: Iterable[ExperienceTuple], path: Path) -> int:
    """Write tuples as JSON lines without their uses and wins, ordered by id; how many there are."""
    lines = [t.model_dump_json(exclude=_OWN) for t in sorted(tuples, key=_id)]
    try:
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    except OSError as problem:
        raise InputError(f"Cannot write {path}: {problem.strerror}.") from problem
    return len(lines)


def import_lines(bank: Bank, path: Path) -> tuple[int, int]:
    """Add the tuples of a JSON-lines file to a bank: (new, already known).

    The whole file is read before the first is stored: a broken line leaves the bank as it was.
    """
    try:
        text = file_bytes(path, most_bytes=MOST_BYTES).decode("utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError(f"Cannot read tuples from {path}: {plainly(problem)}.") from problem
    return _import(bank, json_lines(text), path, "line")


def export_parquet(tuples: Iterable[ExperienceTuple], path: Path) -> int:
    """Write tuples as Parquet; how many there are."""
    rows = [
        [*(getattr(t, name) for name in _COLUMNS),
         None if t.evidence.slow_us is None else t.evidence.speedup,
         t.model_dump_json(exclude=_OWN)]
        for t in tuples
    ]  # fmt: skip
    texts = " VARCHAR, ".join(_COLUMNS)
    try:
        with duckdb.connect() as db:
            db.execute(f"CREATE TABLE tuples ({texts} VARCHAR, speedup DOUBLE, tuple VARCHAR)")
            if rows:
                db.executemany(f"INSERT INTO tuples VALUES ({', '.join('?' * 11)})", rows)
            db.table("tuples").write_parquet(str(path))
    except (duckdb.Error, OSError) as problem:
        first = str(problem).splitlines()[0]
        raise InputError(f"Cannot write {path}: {first}") from problem
    return len(rows)


def import_parquet(bank: Bank, path: Path) -> tuple[int, int]:
    """Add the tuples of a Parquet file to a bank: (new, already known)."""
    try:
        with duckdb.connect() as db:
            found = db.read_parquet(escape(str(path))).project("tuple").fetchall()
    except (duckdb.Error, OSError) as problem:
        first = str(problem).splitlines()[0]
        raise InputError(f"Cannot read tuples from {path}: {first}") from problem
    return _import(bank, [str(row[0]) for row in found], path, "row")


def _import(bank: Bank, lines: Iterable[str], path: Path, what: str) -> tuple[int, int]:
    tuples: list[ExperienceTuple] = []
    for number, line in enumerate(lines, start=1):
        try:
            tuples.append(ExperienceTuple.model_validate_json(line))
        except ValidationError as problem:
            raise InputError(
                f"{path}, {what} {number} is no experience tuple: {worded(problem)}."
            ) from problem
    new = bank.add_all(tuples)
    return new, len(tuples) - new


def open_default_bank(path: Path) -> Bank:
    """The bank at `path`, made from the shipped tuples when there is no file yet.

    It is there whole or not at all: a process that dies while it is made leaves nothing of it.
    What is there and cannot be read is kept under another name, and a new bank begun. Where that
    cannot be done, the bank is one of this process alone.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _set_aside(path)
        _make(path)
        return Bank(path)
    except OSError as problem:
        alone = Path(mkdtemp(prefix="ascendopt-bank-"))
        atexit.register(shutil.rmtree, alone, ignore_errors=True)
        LOG.warning(
            "The experience bank %s cannot be used (%s); this run begins with the shipped"
            " experience, and what it adds is not kept.",
            path.name,
            problem.strerror or type(problem).__name__,
        )
        _make(alone / "bank.duckdb")
        return Bank(alone / "bank.duckdb")


def _make(path: Path) -> None:
    """A bank with the shipped tuples, where there is none yet."""
    if path.exists() or not SHIPPED.exists():
        return
    with TemporaryDirectory(prefix=f".{path.name}-", dir=path.parent) as folder:
        made = Path(folder) / path.name
        import_lines(Bank(made), SHIPPED)
        with suppress(FileExistsError):  # another process made it meanwhile
            os.link(made, path)


def _set_aside(path: Path) -> None:
    """Rename a bank that cannot be read, with what lies next to it. Raises OSError."""
    if not path.exists() or not _fault(path):
        return
    with (path.parent / f".{path.name}.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another process may have done it meanwhile
        fault = _fault(path) if path.exists() else ""
        if not fault:
            return
        kept = path.with_name(f"{path.name}.unreadable-{time.time_ns()}")
        path.rename(kept)
        for more in (".wal", ".index"):
            beside = path.with_name(path.name + more)
            if beside.exists():
                beside.rename(kept.with_name(kept.name + more))
    LOG.warning(
        "The experience bank %s cannot be read (%s). It is kept as %s, and a new one is"
        " begun with the shipped experience.",
        path.name,
        fault,
        kept.name,
    )


def _fault(path: Path) -> str:
    """What keeps `path` from being a bank; '' for nothing. Raises OSError where nobody may look."""
    if path.is_dir():
        return "it is a folder"
    with path.open("rb"):
        pass
    return File(path).fault()


def _id(t: ExperienceTuple) -> str:
    return t.id
