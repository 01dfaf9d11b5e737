"""Front door 1: our own AscendC headers, which lower every call to the machine's instructions."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from ci.host.door.base import DEVICE, MACHINE, SIMULATOR, FrontDoor, machine_digest
from ci.host.door.forwarding import LEVELS, forwarding
from ci.model.layout import SOURCES
from ci.system.cache import digest, digest_tree

HEADERS = SIMULATOR / "ascendc"
_HOST = Path(__file__).parents[1] / "cpp"
_INNER = ("ahead/", "detail/", "runtime/", "host_prelude.h")
_KERNEL_TILING = HEADERS / "kernel_tiling" / "kernel_tiling.h"


def _hosts_headers() -> dict[str, str]:
    """Headers of the host side that ours have no part of, as empty ones: sources that host and
    kernel share include them, and kernels use none of what they declare."""
    own = {path.relative_to(_HOST).as_posix() for path in _HOST.rglob("*.h")}
    listed = {*forwarding("host"), *(path for path in own if not path.startswith(_INNER))}
    inner = {path.partition("/")[2] for path in listed if path.split("/")[0] in LEVELS}
    paths = sorted(listed | inner)
    return {path: "#pragma once\n" for path in paths if not (HEADERS / path).is_file()}


@cache
def own_headers() -> FrontDoor:
    """The door that needs nothing but this package."""
    text = _KERNEL_TILING.read_text()
    structs = re.findall(r"^struct (?:alignas\(\d+\) )?(\w+)", text, re.MULTILINE)
    earlier = {**_hosts_headers(), **forwarding("kernel")}
    return FrontDoor(
        name="own",
        digest=digest([digest_tree(HEADERS, SOURCES), machine_digest(), str(earlier)]),
        folders=(HEADERS, MACHINE),
        readable=(HEADERS, MACHINE, DEVICE),
        prefix=f'#include "{HEADERS}/kernel_operator.h"\n',
        library_structs=frozenset(structs),
        generated=earlier,
    )
