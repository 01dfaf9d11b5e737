"""What a sandboxed program sees of the machine's files: one list, which every level enforces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self, TypeAlias

SYSTEM_PATHS = tuple(
    map(
        Path,
        ("/usr", "/lib", "/lib64", "/lib32", "/bin", "/etc/alternatives", "/etc/ld.so.cache"),
    )
)
"""What a dynamically linked program and a compiler need. Holds no secrets on a sane machine."""

DEVICES = tuple(Path("/dev") / name for name in ("null", "zero", "full", "random", "urandom"))
"""All that a program sees of /dev."""

KERNEL_PATHS = (Path("/proc"), Path("/sys"))
"""What programs that talk to a driver read as well."""


@dataclass(frozen=True)
class Part:
    """A folder of which a program can read these entries only, and list names.

    Python finds a module by the names in the folders above it. With bubblewrap the names are those
    of the entries; with Landlock, whose rules hold for all that is below, every name.
    """

    folder: Path
    entries: tuple[Path, ...]


Readable: TypeAlias = Path | Part


@dataclass(frozen=True)
class View:
    """Files and folders by what a program can do with them; what does not exist is passed over."""

    readable: tuple[Path, ...]
    listed: tuple[Path, ...]
    """Folders of which it can list the names."""
    writable: tuple[Path, ...]
    devices: tuple[Path, ...] | None
    """Nodes of a driver; None for a program that needs none."""

    @classmethod
    def of(
        cls,
        readable: Sequence[Readable],
        writable: Sequence[Path],
        devices: Sequence[Path] | None = None,
    ) -> Self:
        """The system's own paths and what is granted to one program."""
        paths = [*SYSTEM_PATHS, *(KERNEL_PATHS if devices is not None else ())]
        listed: list[Path] = []
        for one in readable:
            if isinstance(one, Part):
                paths += one.entries
                listed.append(one.folder)
            else:
                paths.append(one)
        nodes = None if devices is None else tuple(devices)
        return cls(tuple(paths), tuple(listed), tuple(writable), nodes)
