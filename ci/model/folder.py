"""A folder among settings, as data."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryFile
from typing import Annotated, TypeAlias

from pydantic import AfterValidator


def writable_folder(path: Path) -> Path:
    """`path`, when files can be made in it or where it will be made; else raises ValueError.

    Tried at once, for the work that comes before the first file may take an hour.
    """
    if path.exists() and not path.is_dir():
        raise ValueError("it is a file; give a folder")
    there = next(p for p in (path.absolute(), *path.absolute().parents) if p.is_dir())
    try:
        with TemporaryFile(dir=there):
            return path
    except OSError as problem:
        raise ValueError(f"no file can be written in {there}") from problem


Folder: TypeAlias = Annotated[Path, AfterValidator(writable_folder)]
"""A folder for output: one that there is, or that will be made; a file of that name is refused."""
