"""Front door 1: our own AscendC headers, which lower every call to the machine's instructions."""

from __future__ import annotations

import re
from functools import cache

from ci.host.door.base import DEVICE, MACHINE, SIMULATOR, FrontDoor, machine_digest
from ci.host.door.forwarding import forwarding
from ci.model.layout import SOURCES
from ci.system.cache import digest, digest_tree

HEADERS = SIMULATOR / "ascendc"
_KERNEL_TILING = HEADERS / "kernel_tiling" / "kernel_tiling.h"


@cache
def own_headers() -> FrontDoor:
    """The door that needs nothing but this package."""
    text = _KERNEL_TILING.read_text()
    structs = re.findall(r"^struct (?:alignas\(\d+\) )?(\w+)", text, re.MULTILINE)
    earlier = forwarding("kernel")
    return FrontDoor(
        name="own",
        digest=digest([digest_tree(HEADERS, SOURCES), machine_digest(), str(earlier)]),
        folders=(HEADERS, MACHINE),
        readable=(HEADERS, MACHINE, DEVICE),
        prefix=f'#include "{HEADERS}/kernel_operator.h"\n',
        library_structs=frozenset(structs),
        generated=earlier,
    )
