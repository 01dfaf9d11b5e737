"""A profiler's CSV as rows whose columns are asked for by name."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Iterable
from math import isfinite
from pathlib import Path

UNKNOWN = {"", "NA", "N/A", "NAN", "-", "NULL"}
"""What the tools write where a column does not apply."""


TABLES = (
    "OpBasicInfo", "PipeUtilization", "ArithmeticUtilization", "Memory", "MemoryL0", "MemoryUB",
    "L2Cache", "ResourceConflictRatio",
)  # fmt: skip
"""What `msprof op` leaves of a launch."""


class Row:
    """One line of a table."""

    def __init__(self, values: dict[str, str]) -> None:
        self._values = {_plain(name): value.strip() for name, value in values.items()}

    def text(self, *names: str) -> str:
        """The value of the first of these columns that says something; '' when none does."""
        for name in names:
            value = self._values.get(_plain(name), "")
            if value.upper() not in UNKNOWN:
                return value
        return ""

    def number(self, *names: str) -> float | None:
        """The number in the first of these columns that has one; None when none has."""
        for name in names:
            value = _number(self._values.get(_plain(name), ""))
            if value is not None:
                return value
        return None

    def numbers(self) -> dict[str, float]:
        """All columns that hold a number, by their names in lower case without the unit."""
        found = {name: _number(value) for name, value in self._values.items()}
        return {name: value for name, value in found.items() if value is not None}


def read_rows(text: str) -> list[Row]:
    """The rows of a table. A row that is cut short (the tool was killed) has fewer columns."""
    lines = [line for line in csv.reader(text.splitlines()) if any(part.strip() for part in line)]
    if not lines:
        return []
    header, *body = lines
    return [Row(dict(zip(header, line, strict=False))) for line in body]


def files_of(folder: Path, name: str) -> list[Path]:
    """The files of a table below a folder, in the order of their paths.

    `name` is its stem: the tools append a time stamp where several operators were profiled, as in
    `OpBasicInfo_20240603022812284.csv`.
    """
    found = [*folder.rglob(f"{name}.csv"), *folder.rglob(f"{name}_[0-9]*.csv")]
    return sorted(found, key=lambda path: [_natural(part) for part in path.parts])


def keep_tables(source: Path, target: Path) -> None:
    """Copy the tables of the first launch below `source` into the folder `target`, as they are."""
    target.mkdir(parents=True, exist_ok=True)
    for name in TABLES:
        for path in files_of(source, name)[:1]:
            shutil.copyfile(path, target / f"{name}.csv")


def rows_of(paths: Iterable[Path]) -> list[Row]:
    """The rows of several files."""
    return [row for path in paths for row in read_rows(path.read_text(errors="replace"))]


def _natural(part: str) -> tuple[int, int, str]:
    """Folders that count launches (0, 1, …, 10) sort as numbers."""
    return (0, int(part), "") if part.isdigit() else (1, 0, part)


def _plain(name: str) -> str:
    """`aiv_vec_time(us)` and `aiv_vec_time` are one column, `Device Id` and `Device ID` too."""
    return name.split("(us)")[0].strip().lower()


def _number(value: str) -> float | None:
    try:
        found = float(value)
    except ValueError:
        return None
    return found if isfinite(found) else None
