"""A folder among settings, as data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

from pydantic import AfterValidator


def _no_file(path: Path) -> Path:
    if path.exists() and not path.is_dir():
        raise ValueError("it is a file; give a folder")
    return path


Folder: TypeAlias = Annotated[Path, AfterValidator(_no_file)]
"""A folder that there is or that will be made; a file of that name is refused."""
