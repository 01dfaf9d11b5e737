"""Loads the device files: every constant of a simulated chip, in the units of its file."""

from __future__ import annotations

import hashlib
import tomllib
from functools import lru_cache
from pathlib import Path

from ci.model.errors import InputError
from ci.model.frozen import Frozen

FOLDER = Path(__file__).parent
DEFAULT_DEVICE = "910B4"
MEASUREMENTS = FOLDER / "measurements"
"""Published figures that the constants come from and are judged by, each row with its source."""


class Device(Frozen):
    """A simulated chip. `constants` has dotted names, such as clock.mhz."""

    name: str
    version: str
    """8 hex digits over the file: figures of two versions are not compared."""
    constants: dict[str, float]

    def number(self, name: str) -> float:
        """A constant by its dotted name. Raises InputError naming what the file lacks."""
        if name not in self.constants:
            raise InputError(f"The device file rules/devices/{self.name}.toml lacks '{name}'.")
        return self.constants[name]

    @property
    def clock_mhz(self) -> float:
        """Core clock: cycles a microsecond."""
        return self.number("clock.mhz")


def device_names() -> list[str]:
    """Names of the chips that have a device file."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


@lru_cache(maxsize=16)
def load_device(name: str) -> Device:
    """The constants of a chip. Raises InputError naming the known chips."""
    known = device_names()
    if name not in known:
        raise InputError(f"There is no device '{name}'; known are {', '.join(known)}.")
    text = (FOLDER / f"{name}.toml").read_text(encoding="utf-8")
    version = hashlib.sha256(text.encode()).hexdigest()[:8]
    return Device(name=name, version=version, constants=_flat(tomllib.loads(text), ""))


def _flat(rows: dict[str, object], prefix: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for key, value in rows.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict):
            found |= _flat(value, f"{name}.")
        elif isinstance(value, int | float):
            found[name] = float(value)
    return found
