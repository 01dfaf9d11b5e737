"""Says why a folder holds no operator, and which kernels in it are not taken."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from ci.model import layout
from ci.model.errors import InputError
from ci.model.folder_walk import walk
from ci.model.regular_file import file_text
from ci.model.yaml_model import MOST_BYTES
from ci.source.cpp_text import global_functions
from ci.source.launch_places import FILE, SUFFIXES, launched_in
from ci.source.launched.load import launched_folders
from ci.source.placed import Placed, entries_of, is_unit, looked_through, placed, without_kernel
from ci.source.sides import sources

_SUFFIXES: Final = (*layout.SOURCES, *SUFFIXES)
_MOST_BYTES: Final = 1 << 20
_SHOWN: Final = 3
_DECLARES: Final = ("OpDef", "OPDEF", "OP_ADD")
_OF_AN_OPERATOR: Final = (*_DECLARES, "IMPL_OP", "TilingContext")
_BEGIN: Final = (
    "A kernel that a program launches itself needs a workload, which `ascendopt workload frame`"
    " begins."
)


def no_operator(top: Path) -> str:
    """Sentences for the owner of a folder that holds no operator."""
    why = f"{top} holds no operator: no folder in it has both op_host and op_kernel"
    why += f" with an op definition and a kernel.{no_kernel(without_kernel(top))}"
    kernels = list(kernels_seen(top))
    if not kernels:
        return why
    several = "kernels there have" if len(kernels) > 1 else "kernel there has"
    return (
        f"{why} {len(kernels)} {several} none ({_some(kernels)}). {_BEGIN} An operator is declared"
        " by a class derived from OpDef, with OP_ADD, and tiled by a function on"
        " gert::TilingContext."
    )


def holds_none(folder: Path) -> bool:
    """Whether a folder with op_host and op_kernel holds no operator: only what operators next to it
    share, without a kernel, or a kernel that a program launches. Not so where they cannot be read.
    """
    if not all((folder / side).is_dir() for side in (layout.HOST, layout.KERNEL)):
        return False
    try:
        host, kernel = (sources(folder, side) for side in (layout.HOST, layout.KERNEL))
        launched = programs_kernel(folder, host, kernel)
    except InputError:
        return False
    units = [text for path, text in host.items() if is_unit(path)]
    declares = any(mark in text for text in units for mark in _DECLARES)
    shared = not declares and not any("__global__" in text for text in kernel.values())
    return shared or bool(launched)


def programs_kernel(folder: Path, host: Mapping[str, str], kernel: Mapping[str, str]) -> str:
    """The source of a kernel that a program launches, of the two sides of a folder; '' where its
    host side has anything to do with an operator, or nothing there calls the kernel."""
    if any(mark in text for text in host.values() for mark in _OF_AN_OPERATOR):
        return ""
    beside = (one for one in folder.iterdir() if one.name.endswith(_SUFFIXES) and one.is_file())
    others = [*host.values(), *(file_text(one) for one in sorted(beside) if not one.is_symlink())]
    for path, name in entries_of(kernel):
        uses = re.compile(rf"\b{name}\b")
        calls = re.compile(rf"\b{name}\s*(?:<[^;{{}}]{{0,200}}>\s*)?<<<")
        if calls.search(kernel[path]) or any(uses.search(text) for text in others):
            return path
    return ""


def left_out(top: Path) -> str:
    """Sentences on the kernels of a repository that belong to none of its operators, '' where all
    do."""
    whole, texts = looked_through(top)
    operators = [folder for folder in whole if not holds_none(folder)]
    inside = {folder.relative_to(top).as_posix() + "/" for folder in operators}
    workloads = [(one / FILE).relative_to(top).as_posix() for one in launched_folders(top)]
    kernels = [
        (path, name)
        for path, name in kernels_seen(top)
        if not any(path.startswith(folder) for folder in inside)
    ]
    given = launched_in(
        {*workloads, *(path for path, _ in kernels)},
        lambda paths: {p: file_text(top / p, top, most_bytes=MOST_BYTES) for p in paths},
    )
    taken = {one.kernel for one in placed(texts)} | {kernel for _, kernel in given.values()}
    kernels = [one for one in kernels if one[0] not in taken]
    if not kernels:
        return ""
    several = "kernels belong" if len(kernels) > 1 else "kernel belongs"
    return f"{len(kernels)} {several} to no operator ({_some(kernels)}). {_BEGIN}"


def _some(kernels: Sequence[tuple[str, str]]) -> str:
    shown = ", ".join(f"{name} in {path}" for path, name in kernels[:_SHOWN])
    return shown + (", …" if len(kernels) > _SHOWN else "")


def no_kernel(left: Sequence[Placed]) -> str:
    """A sentence, after a blank, on op definitions without a kernel; '' where there are none."""
    if not left:
        return ""
    shown = ", ".join(f"{one.op_type} in {one.definition}" for one in left[:_SHOWN])
    more = ", …" if len(left) > _SHOWN else ""
    each = "1 op definition has" if len(left) == 1 else f"{len(left)} op definitions have"
    return (
        f" {each} no kernel ({shown}{more}): no source defines a __global__ function of that name,"
        ' and "opFile.value" names none that does.'
    )


def kernels_seen(top: Path) -> Iterator[tuple[str, str]]:
    """Path from `top` and name of each kernel below it, links and hidden folders left out."""
    for folder, below, names in walk(top):
        below[:] = sorted(name for name in below if not name.startswith("."))
        for name in sorted(names):
            path = folder / name
            if not name.endswith(_SUFFIXES) or path.is_symlink() or not path.is_file():
                continue  # a pipe of such a name would be waited for
            if path.stat().st_size <= _MOST_BYTES:
                text = file_text(path)
                if "__global__" in text:
                    found = global_functions(text)
                    yield from ((path.relative_to(top).as_posix(), one.name) for one in found)
