"""The headers that a kernel is compiled against: a front door of the machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ci.host.door.tiling_library import TilingLibrary
from ci.model.layout import SOURCES
from ci.system.cache import digest_tree

SIMULATOR = Path(__file__).parents[2] / "simulator"
MACHINE = SIMULATOR / "machine"
DEVICE = SIMULATOR / "device"
"""What both doors start from: the device compiler's and the operator build's words."""


@dataclass(frozen=True)
class FrontDoor:
    """Where a kernel's includes are found, and what is compiled once for all kernels."""

    name: str
    """The name as measurements name it: 'own' or 'asc-devkit 0123456789ab'."""
    digest: str
    """Over every header that a kernel may include through it."""
    folders: tuple[Path, ...]
    """Include folders, in order, behind the operator's own."""
    readable: tuple[Path, ...]
    """What a compilation in the sandbox reads."""
    prefix: str
    """C++ text that is before every kernel."""
    library_structs: frozenset[str]
    """Tiling structs that the headers define; operators' structs nest them."""
    generated: Mapping[str, str] = field(default_factory=dict)
    """Header texts by path that lie next to the prefix: earlier names, and what a tree lacks."""
    tiling: TilingLibrary | None = None
    """The tree's own tiling library for the host side, instead of ours."""
    true_offsets: bool = False
    """Local addresses count from 0, as on the device."""

    lenient: bool = False
    """The headers are no strict C++: they call what is declared later."""

    def arguments(self) -> list[str]:
        """What a compiler that includes the headers is called with."""
        return [f"-I{folder}" for folder in self.folders] + ["-fpermissive"] * self.lenient


def machine_digest() -> str:
    """Digest of what every door includes of ours."""
    return digest_tree(MACHINE, (".h",)) + digest_tree(DEVICE, SOURCES)
