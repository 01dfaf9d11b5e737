"""The published figures, as the rows of rules/devices/measurements say."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from ci.model.ensemble import Condition
from ci.model.errors import InputError
from ci.model.frozen import Frozen
from rules.devices import MEASUREMENTS

SOURCES: Final = Path(__file__).parent / "src"
"""One operator a family that has been rebuilt."""

PIPES: Final = {
    "vec_us": "VECTOR",
    "scalar_us": "SCALAR",
    "mte1_us": "MTE1",
    "mte2_us": "MTE2",
    "mte3_us": "MTE3",
    "mac_us": "CUBE",
    "fixpipe_us": "FIX",
}
"""Column of a published pipe time -> the pipe's name here."""


STATE_TARGET: Final = 0.25
"""How far a warm version may be off."""


class Version(Frozen):
    """One published version of a kernel."""

    family: str
    version: str
    device: str
    unit: str
    """'us' of the whole task, 'core us' of its slowest core, 'loop us' of a loop within the kernel,
    or 'ticks' of 50 MHz that a thousand instructions took."""
    conditions: Condition = "cold"
    """Under which it was measured, as far as the publication tells."""
    time: float
    pipes_us: dict[str, float]
    """Busy time of the pipes that were published."""
    description: str
    source: str


class Simulated(Frozen):
    """What the machine says of a version, in the publication's unit."""

    version: Version
    time: float
    pipes_us: dict[str, float]
    """Mean busy time over the cores, by pipe."""
    from_memory: float | None = None
    """Time of a warm version with its inputs in the memory and not in L2: a
    trace of a model
    does not tell where the kernels before have left them."""

    @property
    def between(self) -> bool:
        """Whether the published time is what inputs in L2, in the memory or in both give, within
        `STATE_TARGET`."""
        ends = sorted((self.time, self.from_memory or self.time))
        published = self.version.time
        return published * (1 - STATE_TARGET) <= ends[1] and ends[0] <= published * (
            1 + STATE_TARGET
        )

    @property
    def error(self) -> float:
        """Relative error of the whole time."""
        return self.time / self.version.time - 1


class Pair(Frozen):
    """The same kernel before and after an optimization."""

    family: str
    before: str
    after: str
    optimization: str
    source: str


def read_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a measurement file. Raises InputError when it cannot be read."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))
    except OSError as problem:
        raise InputError(f"The measurements {path} cannot be read: {problem.strerror}.") from None


def load_versions(path: Path = MEASUREMENTS / "versions.csv") -> list[Version]:
    """Every published version. Raises InputError naming a row that cannot be used."""
    found = []
    for number, row in enumerate(read_rows(path), 2):
        try:
            pipes = {PIPES[name]: float(row[name]) for name in PIPES if row[name]}
            own = {name: row[name] for name in Version.model_fields if name in row}
            found.append(Version.model_validate({**own, "pipes_us": pipes}))
        except (KeyError, ValueError, ValidationError) as problem:
            raise InputError(f"{path}, line {number}: {problem}") from problem
    return found


def load_pairs(path: Path = MEASUREMENTS / "pairs.csv") -> list[Pair]:
    """Every published pair. Raises InputError naming a row that cannot be used."""
    found = []
    for number, row in enumerate(read_rows(path), 2):
        try:
            found.append(Pair.model_validate(row))
        except ValidationError as problem:
            raise InputError(f"{path}, line {number}: {problem}") from problem
    return found


def load_remarks(path: Path = MEASUREMENTS / "remarks.csv") -> dict[tuple[str, str], str]:
    """Why a pipe of a family is known to be off, by family and pipe."""
    return {(row["family"], row["pipe"]): row["remark"] for row in read_rows(path)}


def rebuilt_families() -> list[str]:
    """Families of which there is an operator of ours."""
    return sorted(path.name for path in SOURCES.iterdir() if (path / "op_kernel").is_dir())
