"""Answers of a generator: the files that it left for a task, as the folder of an operator.

Nothing of an answer is run here: the strings of MultiKernelBench's layout are read as literals.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Final

from ci.model import layout
from ci.model.errors import InputError
from ci.model.regular_file import file_text
from ci.system.cache import digest

PARTS: Final = ("host_tiling_src", "host_operator_src", "kernel_src")
"""The strings of MultiKernelBench's layout that make the operator."""

_BLOCK: Final = re.compile(r"```(?:python)?\n(.*?)```", re.DOTALL)
_HEADER: Final = re.compile(r'#include "(\w+)\.h"')
_SUFFIXES: Final = (".h", ".hpp", ".cpp", ".cc", ".inc")
MOST_BYTES: Final = 4 << 20


def answer_files(folder: Path, category: str, task: str) -> dict[str, str] | None:
    """Return the texts of an answer by their path in the operator's folder; None without one.

    Raises InputError for an answer that cannot be read.
    """
    for place in (folder / category, folder):
        for file in (place / f"{task}.txt", place / f"{task}.py"):
            if file.is_file():
                return _of_strings(file, task)
        if (place / task).is_dir():
            return _of_folder(place / task)
    return None


def digest_of(files: Mapping[str, str]) -> str:
    """Return a digest of an answer's texts."""
    return digest([part for path in sorted(files) for part in (path, files[path])])[:16]


def _of_strings(file: Path, task: str) -> dict[str, str]:
    """An answer in one file: a Python text, alone or in a block of Markdown, that sets strings."""
    text = file_text(file, most_bytes=MOST_BYTES)
    blocks = _BLOCK.findall(text)
    try:
        tree = ast.parse(blocks[-1] if blocks else text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as problem:
        raise InputError(f"{file.name} is no Python text: {problem}.") from None
    found: dict[str, str] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            if isinstance(node.value.value, str):
                found |= dict.fromkeys(names, node.value.value)
    missing = [part for part in PARTS[1:] if not found.get(part, "").strip()]
    if missing:
        raise InputError(f"{file.name} sets no text {missing[0]}.")
    host, name = found["host_operator_src"], f"{task}_custom"
    files = {f"{layout.HOST}/{name}.cpp": host, f"{layout.KERNEL}/{name}.cpp": found["kernel_src"]}
    if tiling := found.get("host_tiling_src", ""):
        header = next(iter(_HEADER.findall(host)), f"{name}_tiling")
        files[f"{layout.HOST}/{header}.h"] = tiling
    return files


def _of_folder(folder: Path) -> dict[str, str]:
    """An answer as a folder: the C++ sources of its host and kernel sides."""
    top, files, size = folder.resolve(), {}, 0
    for path in sorted(folder.rglob("*")):
        place = PurePosixPath(path.relative_to(folder).as_posix())
        sides = [n for n, part in enumerate(place.parts) if part in (layout.HOST, layout.KERNEL)]
        if not sides or path.suffix not in _SUFFIXES or not path.is_file():
            continue
        text = file_text(path, top, most_bytes=MOST_BYTES)
        size += len(text)
        if size > MOST_BYTES:
            raise InputError(f"{folder.name} holds more than {MOST_BYTES} bytes of sources.")
        files["/".join(place.parts[sides[0] :])] = text
    if not files:
        raise InputError(f"{folder.name} holds no sources in op_host and op_kernel.")
    return files
