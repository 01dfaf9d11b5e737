"""What `bench sanitizers` is asked, and which planted faults of synchronisation were found."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, Literal, TypeAlias, get_args

from pydantic import Field

from ci.model.frozen import Frozen
from ci.model.settings import DEFAULT_DEVICE

Kind: TypeAlias = Literal[
    "statement dropped",
    "pair dropped",
    "wrong direction",
    "wrong event",
    "wrong signalling pipe",
    "wrong queue position",
    "handed over early",
    "freed early",
    "buffer too short",
]

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

Verdict = Literal["found", "put back", "not found", "not reached", "not built"]


class SanitizerBenchSettings(Frozen):
    """What is measured on."""

    device: str = Field(default=DEFAULT_DEVICE, description="Device model (rules/devices).")
    limit: int = Field(
        default=0,
        ge=0,
        description="At most this many mutants an operator, drawn from its faults; 0: all.",
    )
    workloads: Path | None = Field(
        default=None,
        description="Folder with a workload an operator (examples/workloads) for operators that "
        "bring none.",
    )
    record: Path | None = Field(
        default=None,
        description="File of JSON lines that keeps what was measured: a mutant that it has from "
        "the same version of the machine is not measured again.",
    )


class Mutant(Frozen):
    """A kernel with one fault, and what the machine said."""

    operator: str
    file: str
    line: int
    fault: Kind
    words: str = Field(description="The statement as it stood.")
    auto_sync: bool
    verdict: Verdict
    outcome: str = ""
    message: str = ""
    program: str = Field(default="", description="Hash of the changed texts.")
    version: str = Field(default="", description="Of the machine that it ran on.")


class Explanation(Frozen):
    """Why a fault is not found: what makes it harmless, or what the machine does not see."""

    operator: str
    fault: str = Field(default="", description="Regular expression of its kind; '' for any.")
    file: str = Field(default="", description="Ending of the file's name; '' for any.")
    words: str = Field(description="Regular expression that the statement matches in full.")
    why: str
    miss: bool = Field(
        default=False, description="It could change a result on hardware: a hole, not a redundancy."
    )

    def explains(self, mutant: Mutant) -> bool:
        """Whether it was written about this mutant."""
        return (
            re.fullmatch(self.operator, mutant.operator) is not None
            and (not self.fault or re.fullmatch(self.fault, mutant.fault) is not None)
            and mutant.file.endswith(self.file)
            and re.fullmatch(self.words, mutant.words) is not None
        )


class SanitizerBench(Frozen):
    """All mutants of all operators."""

    mutants: tuple[Mutant, ...]
    unusable: tuple[str, ...] = Field(
        default=(), description="Operators that fail unchanged, with the reason."
    )

    def count(self, verdict: Verdict, fault: Kind | None = None) -> int:
        """How many mutants, of one fault or all, ended so."""
        return sum(m.verdict == verdict and fault in (None, m.fault) for m in self.mutants)

    @property
    def built(self) -> int:
        """Mutants that compile."""
        return len(self.mutants) - self.count("not built")

    def share(self, fault: Kind | None = None) -> float:
        """Found, of those that automatic synchronisation does not put back; 1 when none is."""
        found = self.count("found", fault)
        lost = found + self.count("not found", fault)
        return found / lost if lost else 1.0
