"""Where workloads of launched kernels are in a repository; needs nothing but its texts."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Mapping
from typing import Final

from ci.model import layout
from ci.model.errors import InputError
from ci.model.yaml_model import MOST_BYTES, YamlFile

FILE: Final = "workload.yaml"
SUFFIXES: Final = (".asc", ".cce")
"""Endings of sources that only a program launches, besides those of all C++ sources."""

_KEY: Final = "launch:"


def says_launch(text: str) -> bool:
    """Whether the text of a workload says how a program launches a kernel."""
    return text.startswith(_KEY) or f"\n{_KEY}" in text


def launched_in(
    paths: Collection[str], read: Callable[[list[str]], Mapping[str, str]]
) -> dict[str, tuple[str, ...]]:
    """Workload and kernel by the folder of the workload, among the files of a repository; paths are
    from its top. `read` gives the texts of files by path.

    A workload that cannot be read, or whose kernel is not there, is left out.
    """
    found: dict[str, tuple[str, ...]] = {}
    for path, text in read([p for p in paths if posixpath.basename(p) == FILE]).items():
        folder = posixpath.dirname(path) or layout.TOP
        if says_launch(text) and (kernel := _kernel(text, path)):
            kernel = posixpath.normpath(posixpath.join(folder, kernel))
            if kernel in paths:
                found[folder] = (path, kernel)
    return found


def _kernel(text: str, path: str) -> str:
    try:
        data = YamlFile(text, path, most_bytes=MOST_BYTES, aliases=True).data
    except InputError:
        return ""
    launch = data.get("launch") if isinstance(data, dict) else None
    kernel = launch.get("kernel") if isinstance(launch, dict) else None
    return kernel if isinstance(kernel, str) else ""
