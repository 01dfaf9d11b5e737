"""Which files an include may mean, of those in folders that a build includes from.

A build of hundreds of folders is asked for each include of each source, so names are strings here:
a path object costs ten times the question.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path


def files_named(spelled: str, folders: Iterable[Path]) -> Iterator[Path]:
    """The file in each of the folders that an include, as it is spelled, means there."""
    if spelled.startswith("/"):
        folders, spelled = (Path("/"),), spelled.lstrip("/")
    for folder in folders:
        place = f"{folder}/{spelled}"
        if os.path.isfile(place):  # noqa: PTH113
            yield Path(place)


def file_named(spelled: str, folders: Iterable[Path]) -> Path | None:
    """The first of these, None where no folder has one."""
    return next(files_named(spelled, folders), None)
