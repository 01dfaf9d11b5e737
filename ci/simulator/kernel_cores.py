"""Which cores a kernel runs on: vector cores, cube cores, or both together.

A kernel says it with KERNEL_TASK_TYPE or KERNEL_TASK_TYPE_DEFAULT; our headers turn that into
symbols of the built library. Without it the operator compiler looks at which instructions were
used, and so does this.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass

from rules.architectures import Architecture

MARK = "ascendopt_task_"
"""Symbols of our headers: MARK + 'keyed_' or 'default_' + the kernel type, or MARK + 'matmul'."""


@dataclass(frozen=True)
class Cores:
    """Cores of a block: at most one cube core, at most two vector cores."""

    cubes: int
    vectors: int

    @property
    def mixed(self) -> bool:
        """True when a block has both kinds, so that the kernel is built for both."""
        return self.cubes > 0 and self.vectors > 0


VECTOR = Cores(0, 1)
CUBE = Cores(1, 0)

KERNEL_TYPES = {
    "KERNEL_TYPE_AIV_ONLY": VECTOR,
    "KERNEL_TYPE_AIC_ONLY": CUBE,
    "KERNEL_TYPE_MIX_AIV_1_0": VECTOR,
    "KERNEL_TYPE_MIX_AIC_1_0": CUBE,
    "KERNEL_TYPE_MIX_AIC_1_1": Cores(1, 1),
    "KERNEL_TYPE_MIX_AIC_1_2": Cores(1, 2),
    "KERNEL_TYPE_MIX_VECTOR_CORE": VECTOR,
    "KERNEL_TYPE_AICORE": Cores(1, 2),
}
"""What the names of the API mean on a chip whose AI core has one cube and two vector cores."""

_CUBE_INSTRUCTION = re.compile(
    r"_Z\d+(mad|load_cbuf|img2colv2|copy_matrix_cc|load_gm_to_c|dav_matmul(?!_))"
)
_VECTOR_INSTRUCTION = re.compile(r"_Z\d+(v[a-z]|copy_gm_to_ubuf|copy_ubuf_to|scatter_|vector_dup)")
_WAITS_FOR_CORES = re.compile(r"_Z\d+wait_flag_dev")
_MATMUL = re.compile(r"^[^/\n]*\bREGIST_MATMUL_OBJ\s*\(", re.MULTILINE)
_CUBE_ONLY = re.compile(r"^\s*#\s*define\s+ASCENDC_CUBE_ONLY\b", re.MULTILINE)


def computes(used: Collection[str]) -> bool:
    """Whether a library that uses these symbols has a vector instruction, or a copy of one."""
    return any(_VECTOR_INSTRUCTION.match(name) for name in used)


def declared_cores(defined: Collection[str]) -> Cores | None:
    """The cores of the kernel type that a library's symbols declare; None where they do not."""
    marks = _marks(defined)
    for kind in ("keyed_", "default_"):
        for mark in marks:
            if mark.startswith(kind) and mark.removeprefix(kind) in KERNEL_TYPES:
                return KERNEL_TYPES[mark.removeprefix(kind)]
    return None


def _marks(defined: Collection[str]) -> list[str]:
    return [name.removeprefix(MARK) for name in defined if name.startswith(MARK)]


def cores_of(
    architecture: Architecture,
    defined: Collection[str],
    used: Collection[str],
    texts: Collection[str],
    used_by_cube: Callable[[], Collection[str]] = tuple,
) -> Cores:
    """The cores of a kernel by the library that was built of it for a vector core.

    `defined` and `used` are its symbols, `texts` its sources, `used_by_cube` what it uses where it
    is built for a cube core: a template of which each kind of core takes its own part shows no
    more. A block of a kernel that multiplies through the Matmul API has all vector cores of an AI
    core.
    """
    mixed = Cores(1, architecture.vectors_per_cube)
    declared, marks = declared_cores(defined), _marks(defined)
    if declared is not None:
        return declared
    if "cube_only" in marks:
        return CUBE
    if "matmul" in marks:
        return mixed
    if any(_MATMUL.search(text) for text in texts):  # through real headers, which leave no mark
        return CUBE if any(_CUBE_ONLY.search(text) for text in texts) else mixed
    words = "|".join(("ASCEND_IS_AIC", "g_coreType", *architecture.macros.cube))
    split = any(re.search(rf"\b(?:{words})\b", text) for text in texts)
    busy = computes(used)
    if not any(_CUBE_INSTRUCTION.match(name) for name in used):
        apart = split or not busy or any(map(_WAITS_FOR_CORES.match, used))
        if not apart or not any(map(_CUBE_INSTRUCTION.match, used_by_cube())):
            return VECTOR
        return mixed if busy else CUBE
    if split or busy:
        return mixed
    return CUBE
