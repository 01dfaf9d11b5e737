"""Rows kept in a file as they come, a line of JSON each, so that what died goes on where it was."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from pathlib import Path
from threading import Lock
from typing import Generic, TypeVar

from pydantic import ValidationError

from ci.model.frozen import Frozen
from ci.model.json_lines import json_lines

Row = TypeVar("Row", bound=Frozen)
Key = TypeVar("Key", bound=Hashable)


class RowFile(Generic[Key, Row]):
    """The rows of a file by key, the latest of each; without a file they are kept while this lives.

    A line that is no such row is left out, and what it stood for is made again: a process that
    was killed while it wrote leaves half a line, another version other fields. Safe for threads.
    """

    def __init__(self, path: Path | None, kind: type[Row], key: Callable[[Row], Key]) -> None:
        self._path, self._key, self._lock = path, key, Lock()
        self._torn = False
        self.rows: dict[Key, Row] = {}
        """Rows that were read or added."""
        if path is None or not path.is_file():
            return
        text = path.read_text(encoding="utf-8", errors="replace")
        self._torn = not text.endswith("\n") and text != ""
        for line in json_lines(text):
            try:
                row = kind.model_validate_json(line)
            except ValidationError:
                continue
            self.rows[key(row)] = row

    def add(self, row: Row) -> None:
        """Keep a row; the folder is made where there is none."""
        with self._lock:
            self.rows[self._key(row)] = row
            if self._path is None:
                return
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a", encoding="utf-8") as file:
                file.write("\n" * self._torn + row.model_dump_json() + "\n")
            self._torn = False
