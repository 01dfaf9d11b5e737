"""Loads the device files: every constant of a simulated chip, in the units of its file.

A file names its `architecture`, or a `base`: another device, of which it says only what differs.
`range.NAME = [low, high]` says by which factors the constant NAME (or all that a pattern with `*`
names) may be off, as far as its sources go; `warm.NAME` is its value where a kernel's code is in
the caches.

The files next to this module ship with the program; `$ASCENDOPT_DEVICES` may name a folder of more.
"""

from __future__ import annotations

import hashlib
import os
import tomllib
from collections.abc import Iterator, Mapping
from fnmatch import filter as matching
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

from ci.model.errors import InputError, plainly
from ci.model.frozen import Frozen
from rules.architectures import Architecture, load_architecture

FOLDER = Path(__file__).parent
FOLDER_VARIABLE = "ASCENDOPT_DEVICES"
MEASUREMENTS = FOLDER / "measurements"
"""Published figures that the constants come from and are judged by, each row with its source."""

_FREE = "vector."  # a device may price an instruction that its base does not, or an element type
_WORDS = ("architecture", "base", "soc")

RANGE = "range."
WARM = "warm."

_KINDS: dict[str, Any] = {"word": str, "range": list, "number": int | float}

Row: TypeAlias = dict[str, Any]


class Device(Frozen):
    """A simulated chip. `constants` has dotted names, such as clock.mhz."""

    name: str
    soc: str
    """Its full SoC version, as host code asks for it."""
    version: str
    """8 hex digits over constants and architecture: figures of two versions are not compared."""
    architecture: Architecture
    constants: dict[str, float]
    ranges: dict[str, tuple[float, float]] = {}
    """The ranges by name or pattern of constants: factors between which their true values may
    lie."""
    warm: dict[str, float] = {}
    """Constants of a launch whose code is in the caches."""

    def named(self, pattern: str) -> list[str]:
        """The constants that a name or a pattern with `*` means."""
        return [pattern] if pattern in self.constants else matching(self.constants, pattern)

    def number(self, name: str) -> float:
        """A constant by its dotted name. Raises InputError naming what the file lacks."""
        if name not in self.constants:
            raise InputError(f"The device {self.name} lacks the constant '{name}' (rules/devices).")
        return self.constants[name]

    @property
    def clock_mhz(self) -> float:
        """Core clock: cycles a microsecond."""
        return self.number("clock.mhz")

    @property
    def cube_cores(self) -> int:
        """Cube cores of the chip."""
        return int(self.number("device.cube_cores"))

    @property
    def vector_cores(self) -> int:
        """Vector cores of the chip."""
        return int(self.number("device.vector_cores"))


def device_files() -> dict[str, Path]:
    """The files of all devices by name, the user's own before the shipped ones."""
    own = os.environ.get(FOLDER_VARIABLE, "")
    return {**_shipped(), **(_files(Path(own)) if own else {})}


@lru_cache(maxsize=1)
def _shipped() -> dict[str, Path]:
    return _files(FOLDER)


def _files(folder: Path) -> dict[str, Path]:
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}


def device_names() -> list[str]:
    """Names of the chips that have a device file."""
    return sorted(device_files())


def load_device(name: str) -> Device:
    """The constants of a chip.

    Raises InputError naming the known chips, or the mistake in a file.
    """
    return _device(name, tuple(device_files().items()))


def nearest_device(name: str) -> Device:
    """The chip with this name or SoC version; an unknown one is taken for the smallest chip."""
    known = [load_device(one) for one in device_names()]
    named = (one for one in known if name in (one.name, one.soc))
    return next(named, min(known, key=lambda one: one.vector_cores))


def lineage(name: str) -> dict[str, Path]:
    """The files that a device is made of, by device: its own, then those of its bases.

    Raises InputError naming the known chips, or the mistake in a file.
    """
    files = device_files()
    return {one: files[one] for one in _rows(name, files)}


@lru_cache(maxsize=16)
def _device(name: str, files: tuple[tuple[str, Path], ...]) -> Device:
    rows = _rows(name, dict(files))
    *derived, root = rows
    if "architecture" not in rows[root]:
        raise InputError(f"The device {root} names neither an architecture nor a base.")
    constants = _numbers(rows[root])
    for one in reversed(derived):
        own = _numbers(rows[one])
        unknown = [key for key in own if key not in constants and not key.startswith(_FREE)]
        if unknown:
            raise InputError(f"The device {one} sets '{unknown[0]}', which its base does not know.")
        constants |= own
    architecture = load_architecture(str(rows[root]["architecture"]))
    content = f"{sorted(constants.items())}{architecture.model_dump_json()}"
    told = [rows[one] for one in (root, *reversed(derived))]
    device = Device(
        name=name,
        soc=str(rows[name].get("soc", f"Ascend{name}")),
        version=hashlib.sha256(content.encode()).hexdigest()[:8],
        architecture=architecture,
        constants=constants,
        ranges={n: _range(n, v) for row in told for n, v in _of(row, RANGE).items()},
        warm={n: float(v) for row in told for n, v in _of(row, WARM).items()},
    )
    for pattern in (*device.ranges, *device.warm):
        if not device.named(pattern):
            raise InputError(f"The device {name} moves '{pattern}', and has no such constant.")
    return device


def _of(row: Row, prefix: str) -> Row:
    """The settings whose names start with the prefix, which is cut off."""
    return {name.removeprefix(prefix): v for name, v in row.items() if name.startswith(prefix)}


def _range(name: str, value: list[Any]) -> tuple[float, float]:
    numbers = len(value) == 2 and all(isinstance(one, int | float) for one in value)
    if numbers and 0 <= value[0] <= 1 <= value[1]:
        return float(value[0]), float(value[1])
    raise InputError(
        f"The range of '{name}' is {value!r}; it takes two factors, one of at most 1 and one of at"
        " least 1."
    )


def _rows(name: str, files: Mapping[str, Path]) -> dict[str, Row]:
    """What a device's file and those of its bases say, by device, the nearest first."""
    known = ", ".join(sorted(files))
    if name not in files:
        raise InputError(f"There is no device '{name}'; known are {known}.")
    found = {name: _file(files[name])}
    while "base" in found[name]:
        base = str(found[name]["base"])
        if base in found:
            raise InputError(f"The device {base} is its own base.")
        if base not in files:
            raise InputError(f"The device {name} has no known base '{base}'; known are {known}.")
        found[base] = _file(files[base])
        name = base
    return found


def _file(path: Path) -> Row:
    try:
        rows = dict(_flat(tomllib.loads(path.read_text(encoding="utf-8")), ""))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
        raise InputError(f"The device file {path} cannot be read: {plainly(problem)}.") from problem
    for name, value in rows.items():
        kind = "word" if name in _WORDS else "range" if name.startswith(RANGE) else "number"
        if not isinstance(value, _KINDS[kind]):
            raise InputError(
                f"The device file {path} sets '{name}' to {value!r}, which is no {kind}."
            )
    return rows


def _flat(rows: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for key, value in rows.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def _numbers(row: Row) -> dict[str, float]:
    return {
        name: float(value)
        for name, value in row.items()
        if isinstance(value, int | float) and not name.startswith(WARM)
    }
