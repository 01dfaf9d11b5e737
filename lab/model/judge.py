"""What `bench judge` is asked, the candidates of its corpus, and how the judge ruled on each."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BeforeValidator, ConfigDict, Field

from ci.model.folder import Folder
from ci.model.frozen import Frozen
from ci.model.settings import DEFAULT_DEVICE

Truth: TypeAlias = Literal["wrong", "honest", "neither"]
Verdict: TypeAlias = Literal["accepted", "no gain", "refused"]

MOST_REFUSED: Final = 0.01
"""Share of the honest candidates that may be refused."""


class JudgeBenchSettings(Frozen):
    """Which candidates are judged, and on what."""

    attacks: Path | None = Field(
        default=None,
        description="Corpus: a YAML file, or a folder of them; examples/attacks when not given.",
    )
    operators: Path | None = Field(
        default=None,
        description="Repository with the operators that the corpus names; looked into before "
        "those of this checkout.",
    )
    only: str = Field(default="", description="Ids to judge, separated by commas; '' for all.")
    sample: int = Field(
        default=0, ge=0, description="Judge only this many, drawn from each class in turn; 0: all."
    )
    seed: int = Field(default=0, ge=0, description="Of the sample, or of the mutants.")
    jobs: int = Field(default=2, ge=1, description="Operators judged side by side.")
    out: Folder | None = Field(
        default=None,
        description="Folder that keeps each ruling as it is given: a run that was stopped goes on.",
    )
    device: str = Field(default=DEFAULT_DEVICE, description="Device model (rules/devices).")
    mutate: int = Field(
        default=0,
        ge=0,
        description="Judge nothing, but make about this many mutants that are shown to be wrong, "
        "from random cases drawn by the seed, and write them to --write.",
    )
    write: Path | None = Field(default=None, description="Corpus that --mutate writes.")


def _word(value: object) -> object:
    """YAML 1.1 reads a bare yes and no as booleans."""
    return {True: "yes", False: "no"}.get(value, value) if isinstance(value, bool) else value


def _listed(value: object) -> object:
    return () if value is None else (value,) if isinstance(value, dict) else value


class SourceEdit(Frozen):
    """One replacement in one file of an operator."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    file: str = Field(min_length=1, description="End of the file's path.")
    old: str | None = Field(
        description="Text that the file has once; null: `new` is the whole file."
    )
    new: str


class Attack(Frozen):
    """A candidate of the corpus: wrong on purpose, or honest work that must not be refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    id: str = Field(min_length=1, pattern=r"^[\w.-]+$")
    kind: str = Field(alias="class", min_length=1, description="Class that it is counted in.")
    operator: str = Field(min_length=1, description="End of the operator's path: category/name.")
    what: str
    stage: Literal["tiling", "kernel"] = "kernel"
    honest: bool = False
    wrong: Annotated[Literal["yes", "no", "unknown"], BeforeValidator(_word)]
    note: str = Field(default="", description="How it is known to be wrong.")
    verdict_at_c493daf: str = Field(default="", description="What an earlier judge said.")
    edits: tuple[SourceEdit, ...] = Field(min_length=1)
    witness: Annotated[tuple[dict[str, object], ...], BeforeValidator(_listed)] = Field(
        default=(),
        description="Case or cases, as in a workload, that the operator passes and the candidate "
        "does not.",
    )

    @property
    def truth(self) -> Truth:
        """What the judge should find; `neither` is right but odd, or not known, and not counted."""
        if self.wrong == "yes":
            return "wrong"
        return "honest" if self.honest else "neither"


class Ruling(Frozen):
    """What the judge said about one candidate."""

    id: str
    kind: str
    operator: str
    what: str
    truth: Truth
    verdict: Verdict = Field(
        description="accepted: it would be reported. no gain: it passed every gate, but is not "
        "faster."
    )
    gate: str = Field(default="", description="The gate that refused it.")
    sentence: str = Field(default="", description="Why, in the gate's words.")
    speedup: float | None = None
    witness: str = Field(
        default="", description="How the witness shows a wrong one that passed to be wrong."
    )
    seconds: float = 0.0
    key: str = Field(default="", description="Digest of the candidate, the operator and the tool.")


class JudgeBench(Frozen):
    """All rulings of a run."""

    rulings: tuple[Ruling, ...]
    unusable: tuple[str, ...] = Field(
        default=(), description="Candidates that could not be judged, with the reason."
    )

    @property
    def kinds(self) -> tuple[str, ...]:
        """The classes, in order."""
        return tuple(sorted({r.kind for r in self.rulings}))

    def of(self, truth: Truth, verdict: Verdict | None = None, kind: str = "") -> list[Ruling]:
        """Rulings on candidates of a truth, with one verdict or any, of one class or all."""
        return [
            r
            for r in self.rulings
            if r.truth == truth and verdict in (None, r.verdict) and kind in ("", r.kind)
        ]

    @property
    def failures(self) -> list[Ruling]:
        """Wrong candidates that were accepted, and honest ones that were refused."""
        return [*self.of("wrong", "accepted"), *self.of("honest", "refused")]

    @property
    def holds(self) -> bool:
        """Whether no wrong one was accepted, hardly an honest one refused, and all were judged."""
        honest = len(self.of("honest"))
        return (
            not self.of("wrong", "accepted")
            and len(self.of("honest", "refused")) <= MOST_REFUSED * honest
            and not self.unusable
        )


def as_ids(text: str) -> tuple[str, ...]:
    """The ids of a list that is separated by commas or spaces."""
    return tuple(dict.fromkeys(text.replace(",", " ").split()))
