"""Loads the architecture files: what all chips with one kind of AI core share.

A device file names its architecture; the simulator, the host side and the readers of operators take
what they know of it from here.
"""

from __future__ import annotations

import tomllib
from functools import cache, lru_cache
from pathlib import Path

from pydantic import Field, ValidationError

from ci.model.errors import InputError
from ci.model.frozen import Frozen

FOLDER = Path(__file__).parent


class LocalMemory(Frozen):
    """A memory of one core."""

    id: str = Field(description="Its name in the machine's sources, such as L0A.")
    words: str = Field(description="Its name in messages.")
    offset: int = Field(ge=0, description="Local offset of its first byte.")
    bytes: int = Field(gt=0)
    fact: str = Field(description="The fact of a tiling request that gives its size.")


class Macros(Frozen):
    """What the operator compiler defines, as NAME or NAME=VALUE."""

    both: tuple[str, ...]
    vector: tuple[str, ...] = Field(description="More for vector cores.")
    cube: tuple[str, ...] = Field(description="More for cube cores.")


class Architecture(Frozen):
    """An AI core: its memories, and the words by which the toolkit and operators know it."""

    name: str
    npu_arch: int
    aic_version: str
    soc_family: str
    definition_word: str
    chip_pattern: str
    source_folder: str
    compiler_arch: str
    vectors_per_cube: int
    block_bytes: int
    repeat_bytes: int
    bank_groups: int
    line_bytes: int
    window_bytes: int
    reserved_bytes: int
    macros: Macros
    memories: tuple[LocalMemory, ...]

    def memory_bytes(self, memory: str) -> int:
        """Size of a memory by its id. Raises KeyError."""
        return {one.id: one.bytes for one in self.memories}[memory]

    @property
    def bank_period(self) -> int:
        """Bytes of UB after which its bank groups repeat."""
        return self.bank_groups * self.block_bytes

    @property
    def facts(self) -> dict[str, str]:
        """What host code may ask of the architecture (`ci/host/cpp/README.md`)."""
        return {
            **{memory.fact: str(memory.bytes) for memory in self.memories},
            "memory.reserved": str(self.reserved_bytes),
            "vector.repeat_bytes": str(self.repeat_bytes),
            "soc.short": self.soc_family,
            "soc.definition": self.definition_word,
            "soc.arch": str(self.npu_arch),
            "soc.aic_version": self.aic_version,
        }


@cache
def architectures() -> tuple[Architecture, ...]:
    """Every architecture that has a file, by name.

    Operators are read for all of them: what a repository keeps for others is left aside.
    """
    return tuple(load_architecture(path.stem) for path in sorted(FOLDER.glob("*.toml")))


@lru_cache(maxsize=16)
def load_architecture(name: str) -> Architecture:
    """The architecture called `name`. Raises InputError naming the known ones or the mistake."""
    path = FOLDER / f"{name}.toml"
    if not path.is_file():
        known = ", ".join(sorted(one.stem for one in FOLDER.glob("*.toml")))
        raise InputError(f"There is no architecture '{name}'; known are {known}.")
    try:
        return Architecture.model_validate({"name": name, **tomllib.loads(path.read_text("utf-8"))})
    except (tomllib.TOMLDecodeError, ValidationError) as problem:
        raise InputError(f"The architecture file {path} cannot be used: {problem}") from problem
