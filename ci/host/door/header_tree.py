"""Recognises a tree of real AscendC headers: an installed toolkit or an asc-devkit checkout."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ci.model.errors import InputError
from ci.system.cache import digest, digest_tree

HEADER_ENDINGS = (".h", ".hpp")
ENTRY = "kernel_operator.h"
INSTALLED = "installed"
"""The word that stands for the toolkit in `$ASCEND_HOME_PATH`."""

# Folders of a tree's root that hold the API, relative to it; the first with the entry counts.
_ROOTS = (
    "",
    "*-linux/asc",
    "asc",
    "*-linux/tikcpp/tikcfw",
    "compiler/tikcpp/tikcfw",
    "tikcpp/tikcfw",
    "*-linux/ascendc",
)
# Include folders below an API root, in the order of the toolkit's own build.
_BELOW = (
    "", "include", "include/basic_api", "interface", "impl", "impl/basic_api", "include/utils",
    "include/adv_api", "impl/adv_api", "impl/utils",
)  # fmt: skip


@dataclass(frozen=True)
class HeaderTree:
    """A tree of AscendC headers that the user owns."""

    root: Path
    """What was given."""
    api: Path
    """The folder that `kernel_operator.h` and its implementation lie below."""
    folders: tuple[Path, ...]
    """Include folders, in order."""
    digest: str

    @property
    def name(self) -> str:
        """The tree's folder name and digest, as measurements name it."""
        return f"{self.root.name} {self.digest[:12]}"

    def headers(self, pattern: str) -> Iterator[Path]:
        """Its headers whose file name matches, in a fixed order."""
        yield from sorted(p for p in self.api.rglob(pattern) if p.is_file())


def chosen_headers(option: str) -> Path | None:
    """The header tree to use, or None for our own headers.

    The option counts first, then `$ASCENDOPT_ASC_HEADERS`. The word `installed` in either stands
    for the toolkit in `$ASCEND_HOME_PATH`, which alone changes nothing: sourcing a toolkit's
    environment must not change what measurements mean. Raises InputError when `installed` is asked
    for and there is none.
    """
    given = option or os.environ.get("ASCENDOPT_ASC_HEADERS", "")
    if not given:
        return None
    if given != INSTALLED:
        return Path(given)
    home = os.environ.get("ASCEND_HOME_PATH", "")
    if not home:
        raise InputError(
            "The headers of the installed toolkit are asked for, but ASCEND_HOME_PATH is not set; "
            "source the toolkit's set_env.sh, or name the folder with --asc-headers DIR."
        )
    return Path(home)


def find_header_tree(root: Path) -> HeaderTree:
    """The tree at `root`. Raises InputError when it holds no AscendC headers of the device path."""
    if not root.is_dir():
        raise InputError(f"The AscendC headers {root} are not a folder.")
    resolved = root.resolve()
    for pattern in _ROOTS:
        found = sorted(resolved.glob(pattern)) if pattern else [resolved]
        for api in found:
            folders = tuple(api / f if f else api for f in _BELOW if (api / f).is_dir())
            if any((folder / ENTRY).is_file() for folder in folders) and (api / "impl").is_dir():
                return HeaderTree(resolved, api, folders, _digest(api))
    raise InputError(
        f"{root} holds no AscendC headers: neither an asc-devkit checkout (include/{ENTRY} and "
        f"impl/) nor an installed toolkit (…/tikcpp/tikcfw/{ENTRY} or …/asc/include/{ENTRY})."
    )


def _digest(api: Path) -> str:
    """Digest of what may be included, wherever it lies below the root."""
    places = [api / part for part in ("include", "impl", "interface", "lib")]
    parts = [digest_tree(place, HEADER_ENDINGS) for place in places if place.is_dir()]
    tops = sorted(p for p in api.glob("*.h") if p.is_file())
    return digest([*parts, *(part for p in tops for part in (p.name, p.read_bytes()))])
