"""Load and validate what domain experts edit: the taxonomy and the rewrite motifs."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

RULES = Path(__file__).parent
TAXONOMY = RULES / "taxonomy.yml"
REWRITES = RULES / "rewrites"


class RulesError(Exception):
    """A rules file says something that cannot be used; the message names file and fault."""


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class BottleneckClass(_Strict):
    """One entry of the taxonomy."""

    id: str
    title: str
    words: str
    practice: Literal["memory access", "pipeline", "tiling", "computation"]


class Where(_Strict):
    """What must hold of the meta-variables of a match for it to be rewritten."""

    dead: tuple[str, ...] = Field(
        default=(), description="Tensors that nothing reads after the match."
    )
    differ: tuple[tuple[str, str], ...] = Field(
        default=(), description="Pairs that must not be the same tensor."
    )
    literal: tuple[str, ...] = Field(default=(), description="Must be number literals.")
    number: tuple[str, ...] = Field(
        default=(), description="Must be a scalar value: no tensor, no index into one."
    )
    without: tuple[tuple[str, str], ...] = Field(
        default=(), description="Pairs: the first must not mention the second."
    )
    vector: tuple[str, ...] = Field(
        default=(), description="Call names that must be vector instructions, not copies."
    )
    unified: tuple[str, ...] = Field(
        default=(), description="Tensors in the unified buffer, not in global memory."
    )
    local: tuple[str, ...] = Field(
        default=(), description="Tensors that are whole variables, not parts of one."
    )


class Rewrite(_Strict):
    """One direction of a motif; exactly one of `sequence`, `pattern`, `transform` is given."""

    sequence: tuple[str, ...] = Field(
        default=(),
        description="API calls, in order, in one block, with $META variables; other statements "
        "may stand between them when they touch none of the tensors written.",
    )
    replace: tuple[str | None, ...] = Field(
        default=(),
        description="What each call of the sequence becomes, statements "
        "separated by semicolons; null deletes it.",
    )
    pattern: str = Field(default="", description="One ast-grep pattern over C++.")
    fix: str = Field(
        default="",
        description="What the pattern's match becomes; @ stands for AscendC:: where it is needed.",
    )
    transform: str = Field(
        default="",
        description="A named transform in ci/proposer/motifs/transforms, for flow analysis.",
    )
    parameters: dict[str, int | float | str | tuple[int, ...]] = Field(default_factory=dict)
    where: Where = Where()

    @model_validator(mode="after")
    def _one_kind(self) -> Rewrite:
        if sum((bool(self.sequence), bool(self.pattern), bool(self.transform))) != 1:
            raise ValueError("give exactly one of sequence, pattern and transform")
        if self.sequence and len(self.replace) != len(self.sequence):
            raise ValueError("replace must have one entry for each call of sequence")
        if bool(self.pattern) != bool(self.fix):
            raise ValueError("a pattern needs a fix, and a fix a pattern")
        return self


class Motif(_Strict):
    """One optimization that a practitioner knows, in both directions."""

    id: str
    title: str
    stage: Literal["tiling", "kernel"]
    classes: tuple[str, ...] = Field(min_length=1, description="Taxonomy ids, the main one first.")
    bottleneck: str = Field(description="What the slow form suffers from, one sentence.")
    why: str = Field(description="Why the fast form is faster on this machine.")
    reference: str = Field(description="A public document that says so.")
    order: int = Field(default=50, ge=0, le=100, description="Lower is tried earlier among equals.")
    forward: tuple[Rewrite, ...] = Field(min_length=1, description="Slow to fast; alternatives.")
    rewind: tuple[Rewrite, ...] = Field(default=(), description="Fast to slow; alternatives.")


@lru_cache(maxsize=8)
def load_taxonomy(path: Path = TAXONOMY) -> dict[str, BottleneckClass]:
    """The taxonomy by id. Raises RulesError with file and fault."""
    classes = _read(path).get("classes")
    if not isinstance(classes, list):
        raise RulesError(f"{path.name}: needs a list 'classes'.")
    found: dict[str, BottleneckClass] = {}
    for entry in classes:
        try:
            one = BottleneckClass.model_validate(entry)
        except ValidationError as error:
            raise RulesError(f"{path.name}: {_first(error)}") from error
        if one.id in found:
            raise RulesError(f"{path.name}: class {one.id} stands there twice.")
        found[one.id] = one
    return found


@lru_cache(maxsize=8)
def load_motifs(folder: Path = REWRITES) -> tuple[Motif, ...]:
    """All motifs of a folder, one a file, in order of `order`, then id.

    Raises RulesError when a file does not parse, names an unknown taxonomy class, or is not
    named after its id.
    """
    known = load_taxonomy()
    motifs = []
    for path in sorted(folder.glob("*.yml")):
        try:
            motif = Motif.model_validate(_read(path))
        except ValidationError as error:
            raise RulesError(f"{path.name}: {_first(error)}") from error
        if motif.id != path.stem:
            raise RulesError(f"{path.name}: its id is {motif.id}; name the file after the id.")
        unknown = [c for c in motif.classes if c not in known]
        if unknown:
            raise RulesError(f"{path.name}: taxonomy.yml has no class {unknown[0]}.")
        motifs.append(motif)
    return tuple(sorted(motifs, key=lambda m: (m.order, m.id)))


def _read(path: Path) -> dict[str, object]:
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise RulesError(f"{path.name} cannot be read: {error}") from error
    if not isinstance(data, dict):
        raise RulesError(f"{path.name}: needs a mapping at its top.")
    return data


def _first(error: ValidationError) -> str:
    fault = error.errors()[0]
    place = ".".join(str(p) for p in fault["loc"]) or "the whole"
    return f"{place}: {fault['msg']}"
