"""Front door 2: the real AscendC headers of the user, on their device path."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from ci.host.door.base import DEVICE, MACHINE, FrontDoor, machine_digest
from ci.host.door.forwarding import forwarding
from ci.host.door.header_tree import ENTRY, find_header_tree
from ci.host.door.kernel_tiling import HEADER, kernel_tiling
from ci.host.door.tiling_library import tiling_library
from ci.system.cache import digest

OURS = DEVICE / "real"
"""The few headers of ours on this door: what the device compiler has built in."""


@lru_cache(maxsize=4)
def real_headers(root: Path) -> FrontDoor:
    """The door of the header tree at `root`. Raises InputError when it is none."""
    tree = find_header_tree(root)
    text, structs = kernel_tiling(tree)
    tiling = tiling_library(tree, text)
    generated = {**forwarding("kernel_real"), **({HEADER: text} if text else {})}
    return FrontDoor(
        name=tree.name,
        digest=digest(
            [tree.digest, machine_digest(), str(generated), tiling.digest if tiling else ""]
        ),
        folders=tree.folders,
        readable=(tree.api, MACHINE, DEVICE),
        prefix=(
            f'#include "{OURS}/prelude.h"\n'
            f'#include "{OURS}/access.h"\n'
            f"#include <{ENTRY}>\n"
            f'#include "{OURS}/overloads.h"\n'
            f'#include "{DEVICE}/operator_build.h"\n'
        ),
        library_structs=structs,
        generated=generated,
        tiling=tiling,
        true_offsets=True,
        lenient=True,
    )
