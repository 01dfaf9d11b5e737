"""The section `build` of a repository's `.ascendopt.yml`.

It is read from the tree that is built, as the build files are, of which it is a part: a branch that
may change its CMakeLists.txt may change this.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from pydantic import BaseModel

from ci.model.build_setting import CONFIG_FILE, BuildSetting
from ci.model.regular_file import file_bytes
from ci.model.yaml_model import read_model


class _Section(BaseModel):
    """The one key of the file that is about builds; the bot reads the others."""

    build: tuple[BuildSetting, ...] = ()


def build_setting(top: Path, folder: str) -> BuildSetting:
    """What holds for the operator in `folder`, a path from `top`: of several entries the later ones
    add folders, definitions and options, and decide about automatic synchronisation.

    Raises InputError with file, line and key of a mistake.
    """
    path = top / CONFIG_FILE
    text = file_bytes(path, top) if path.is_file() and not path.is_symlink() else b""
    fitting = [one for one in _settings(text) if one.holds_for(folder)]
    said = [one.auto_sync for one in fitting if one.auto_sync is not None]
    return BuildSetting(
        include=tuple(part for one in fitting for part in one.include if _inside(part, top)),
        definitions=tuple(part for one in fitting for part in one.definitions),
        options=tuple(part for one in fitting for part in one.options),
        auto_sync=said[-1] if said else None,
    )


def _inside(folder: str, top: Path) -> bool:
    """Whether a folder of the repository is none that a link lends it."""
    return (top / folder).resolve().is_relative_to(top)


@lru_cache(maxsize=8)
def _settings(text: bytes) -> tuple[BuildSetting, ...]:
    return read_model(_Section, text, CONFIG_FILE).build if text else ()
