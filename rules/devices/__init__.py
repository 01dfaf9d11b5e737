"""Loads the device files: every constant of a simulated chip, in the units of its file.

A file names its `architecture`, or a `base`: another device, of which it says only what differs.
The files beside this module ship with the program; `$ASCENDOPT_DEVICES` may name a folder of more.
"""

from __future__ import annotations

import hashlib
import os
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from ci.model.errors import InputError
from ci.model.frozen import Frozen
from rules.architectures import Architecture, load_architecture

FOLDER = Path(__file__).parent
FOLDER_VARIABLE = "ASCENDOPT_DEVICES"
MEASUREMENTS = FOLDER / "measurements"
"""Published figures that the constants come from and are judged by, each row with its source."""

_FREE = "vector."  # a device may price an instruction that its base does not, or an element type
_WORDS = ("architecture", "base", "soc")


class Device(Frozen):
    """A simulated chip. `constants` has dotted names, such as clock.mhz."""

    name: str
    soc: str
    """Its full SoC version, as host code asks for it."""
    version: str
    """8 hex digits over constants and architecture: figures of two versions are not compared."""
    architecture: Architecture
    constants: dict[str, float]

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
    folders = [FOLDER, *([Path(own)] if own else [])]
    return {path.stem: path for folder in folders for path in sorted(folder.glob("*.toml"))}


def device_names() -> list[str]:
    """Names of the chips that have a device file."""
    return sorted(device_files())


def load_device(name: str) -> Device:
    """The constants of a chip.

    Raises InputError naming the known chips, or the mistake in a file.
    """
    return _device(name, tuple(device_files().items()))


@lru_cache(maxsize=16)
def _device(name: str, files: tuple[tuple[str, Path], ...]) -> Device:
    constants, words = _read(name, dict(files), ())
    if "architecture" not in words:
        raise InputError(f"The device {name} names neither an architecture nor a base.")
    architecture = load_architecture(words["architecture"])
    content = f"{sorted(constants.items())}{architecture.model_dump_json()}"
    return Device(
        name=name,
        soc=words.get("soc", f"Ascend{name}"),
        version=hashlib.sha256(content.encode()).hexdigest()[:8],
        architecture=architecture,
        constants=constants,
    )


def _read(
    name: str, files: Mapping[str, Path], above: tuple[str, ...]
) -> tuple[dict[str, float], dict[str, str]]:
    """(constants, words) of a device with those of its base; `above` are the files that led here.

    The name of the SoC is never inherited.
    """
    if name in above:
        raise InputError(f"The device {above[0]} is its own base ({' → '.join((*above, name))}).")
    if name not in files:
        asked = f"The base of the device {above[-1]}" if above else "There is no device"
        said = f"{asked} is '{name}', which has no file" if above else f"{asked} '{name}'"
        raise InputError(f"{said}; known are {', '.join(sorted(files))}.")
    path = files[name]
    try:
        rows = _flat(tomllib.loads(path.read_text(encoding="utf-8")), "")
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
        raise InputError(f"The device file {path} cannot be read: {problem}.") from problem
    words = {key: value for key, value in rows.items() if isinstance(value, str)}
    constants = {key: float(value) for key, value in rows.items() if not isinstance(value, str)}
    unknown = [key for key in words if key not in _WORDS]
    if "base" not in words:
        if unknown:
            raise InputError(f"The device file {path} sets '{unknown[0]}' to no number.")
        return constants, words
    based, based_words = _read(words["base"], files, (*above, name))
    unknown += [key for key in constants if key not in based and not key.startswith(_FREE)]
    if unknown:
        raise InputError(
            f"The device file {path} sets '{unknown[0]}', which its base {words['base']} does not "
            "know as a number."
        )
    based_words.pop("soc", None)
    return based | constants, based_words | words


def _flat(rows: Mapping[str, object], prefix: str) -> dict[str, float | str]:
    found: dict[str, float | str] = {}
    for key, value in rows.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict):
            found |= _flat(value, f"{name}.")
        elif isinstance(value, int | float | str):
            found[name] = value
        else:
            raise InputError(f"A device file sets '{name}' to neither a number nor a word.")
    return found
