"""The outcome of deriving a workload for an operator: its cases, or why there are none."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from ci.model.folder import Folder
from ci.model.frozen import Frozen
from ci.model.settings import DEFAULT_DEVICE, AscHeaders, AsChip

ROWS = "derived.jsonl"
"""Name of the file with one row a line; a later row of an operator replaces an earlier one."""


class DeriveSettings(Frozen):
    """How workloads are derived, and where they go."""

    out: Folder | None = Field(
        default=None,
        description="Folder that takes OPERATOR/workload.yaml of each operator and derived.jsonl;"
        " when not given, workload.yaml is written next to op_host.",
    )
    workloads: Path | None = Field(
        default=None,
        description="Folder with <operator>/workload.yaml whose golden functions, tolerances and"
        " cases are built on.",
    )
    goldens: bool = Field(
        default=True,
        description="Judge by scripts of the repository that compute right answers (gen_data.py),"
        " where they agree with the operator.",
    )
    cases: int = Field(
        default=6,
        ge=1,
        le=64,
        description="Most cases of a workload, plus one for each dtype that these do not cover.",
    )
    again: bool = Field(default=False, description="Replace existing workload files.")
    device: str = Field(default=DEFAULT_DEVICE, description="Device model (rules/devices).")
    asc_headers: AscHeaders = ""
    as_: AsChip = None


class DerivedCase(Frozen):
    """A case that the operator passes."""

    name: str
    source: str = Field(description="What its first shapes come from: example, test, generic …")
    dtypes: tuple[str, ...] = Field(description="Of its inputs, each once.")
    tiling_key: int
    elements: int = Field(description="Of all inputs together.")


class DerivedRow(Frozen):
    """One operator's derivation."""

    name: str
    category: str = ""
    path: str = Field(description="The operator's folder as it was given.")
    cases: tuple[DerivedCase, ...] = ()
    reference: Literal["golden", "unmodified operator"] = "unmodified operator"
    notes: tuple[str, ...] = Field(
        default=(), description="What a reader of the workload should know, a sentence each."
    )
    dropped: tuple[str, ...] = Field(
        default=(), description="Cases that were tried and left out, each with the reason."
    )
    refused: str = Field(default="", description="Why there is no workload; '' when there is.")
    for_chip: bool = Field(
        default=True, description="The definition names the 910B, or names no chip."
    )
    stopped: str = Field(
        default="", description="Class of the reason why there is no workload, to be counted."
    )
    interrupted: bool = Field(
        default=False, description="The user stopped it: these are the cases until then."
    )
    version: str = Field(default="", description="Version of the simulator that was asked.")
    seconds: float = 0.0

    @property
    def variety(self) -> int:
        """How many combinations of dtypes and tiling key its cases have."""
        return len({(case.dtypes, case.tiling_key) for case in self.cases})


class Coverage(Frozen):
    """How many operators of one repository got a workload."""

    name: str
    operators: int = Field(description="Declared for the 910B, or for no chip.")
    ran: int | None = Field(
        description="Those whose kernel runs: on a derived case, or in the census of that folder;"
        " None where none was taken there.",
    )
    derived: int = Field(description="Those that pass a derived workload.")
    golden: int = Field(description="Those of them that are judged against a golden function.")
    cases: float = Field(description="Median of the cases of a workload.")
    variety: float = Field(description="Median of its combinations of dtypes and tiling key.")
    refused: tuple[tuple[str, tuple[str, ...]], ...] = Field(
        description="Why the others have none, and which they are, most first."
    )

    @property
    def share(self) -> float | None:
        """Derived workloads of the operators that run; None where nobody counted these."""
        return None if self.ran is None else self.derived / max(1, self.ran)
