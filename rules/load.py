"""Load and validate what domain experts edit: the taxonomy and the motifs."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from ci.model.frozen import Frozen
from ci.model.yaml_model import YamlFile, read_file
from rules.api import load_api

RULES = Path(__file__).parent
TAXONOMY = RULES / "taxonomy.yml"
MOTIFS = RULES / "motifs"

_NAMED = re.compile(r"\{([A-Z]+)\}")
_FREE = re.compile(r"(?<![\w.>$:])(?:AscendC::|@)?([A-Z]\w*)(?:<[^()]*>)?\(")
"""A call of a function of AscendC, not of a method."""
_CALL = re.compile(r"\s*([\w|]+)\s*\((.*)\)", re.DOTALL)
_VARIABLE = re.compile(r"\$+[A-Z_][A-Z0-9_]*")


class BottleneckClass(Frozen):
    """One entry of the taxonomy."""

    id: str
    title: str
    words: str
    practice: Literal["memory access", "pipeline", "tiling", "computation"]


class _Taxonomy(Frozen):
    classes: tuple[BottleneckClass, ...]

    @model_validator(mode="after")
    def _each_once(self) -> _Taxonomy:
        names = [one.id for one in self.classes]
        if twice := next((n for n in names if names.count(n) > 1), None):
            raise ValueError(f"class {twice} is named twice")
        return self


class Where(Frozen):
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


class Form(Frozen):
    """One direction of a motif; exactly one of `sequence`, `pattern`, `transform` is given."""

    each: dict[str, tuple[str | tuple[str, ...], ...]] = Field(
        default_factory=dict,
        description="What {NAME} stands for in the other keys, one form for each of the values;"
        " 'ONE TWO' names two that go together and takes lists of two.",
    )
    sequence: tuple[str, ...] = Field(
        default=(),
        description="API calls, in order, in one block, with $META variables; other statements "
        "may come between them if they touch none of the tensors written.",
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
    def _one_kind(self) -> Form:
        if sum((bool(self.sequence), bool(self.pattern), bool(self.transform))) != 1:
            raise ValueError("give exactly one of sequence, pattern and transform")
        if self.sequence and len(self.replace) != len(self.sequence):
            raise ValueError("replace must have one entry for each call of sequence")
        if bool(self.pattern) != bool(self.fix):
            raise ValueError("a pattern needs a fix, and a fix a pattern")
        for names, values in self.each.items():
            if wrong := next((v for v in values if len(_row(v)) != len(names.split())), None):
                raise ValueError(f"each gives {names} the value {wrong}: one for each name")
        given = {name for names in self.each for name in names.split()}
        used = set(_NAMED.findall(self.model_dump_json(exclude={"each"})))
        if given != used:
            raise ValueError(f"each and the texts differ in {', '.join(sorted(given ^ used))}")
        return self

    @model_validator(mode="after")
    def _variables_are_matched(self) -> Form:
        for text in self._spelled():
            form = json.loads(text)
            matched = _variables([form.get("sequence"), form.get("pattern")])
            used = _variables([form.get("replace"), form.get("fix")])
            wanted = [n for names in form.get("where", {}).values() for v in names for n in _row(v)]
            if not self.transform and (unknown := sorted({*used, *wanted} - matched)):
                raise ValueError(
                    f"{', '.join(unknown)} is in replace, fix or where, and not in what is matched"
                )
        return self

    def spelled_out(self) -> tuple[Form, ...]:
        """A form for each choice of what `each` gives, the first of its names varying last."""
        return tuple(Form.model_validate_json(text) for text in self._spelled())

    def _spelled(self) -> Iterator[str]:
        """Yields those forms as JSON."""
        text = self.model_dump_json(exclude={"each"}, exclude_defaults=True)
        rows = [
            [tuple(zip(names.split(), _row(value), strict=True)) for value in values]
            for names, values in self.each.items()
        ]
        for chosen in product(*rows):
            values = {name: json.dumps(value)[1:-1] for row in chosen for name, value in row}
            yield _NAMED.sub(lambda m: values[m[1]], text)  # noqa: B023


def _variables(texts: object) -> set[str]:
    return set(_VARIABLE.findall(json.dumps(texts)))


def _row(value: str | Sequence[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


class Motif(Frozen):
    """One optimization that a practitioner knows, in both directions."""

    id: str
    title: str
    stage: Literal["tiling", "kernel", "joint"] = Field(
        description="What it changes: the host tiling, the kernel, or both at once."
    )
    classes: tuple[str, ...] = Field(min_length=1, description="Taxonomy ids, the main one first.")
    bottleneck: str = Field(description="What the slow form suffers from, one sentence.")
    why: str = Field(description="Why the fast form is faster on this machine.")
    reference: str = Field(description="A public document that says so.")
    saves: Literal["", "VECTOR", "SCALAR", "MTE2", "MTE3"] = Field(
        default="", description="Pipe whose cycles it saves, if it does nothing else."
    )
    order: int = Field(default=50, ge=0, le=100, description="Lower is tried earlier among equals.")
    forward: tuple[Form, ...] = Field(min_length=1, description="Slow to fast; alternatives.")
    rewind: tuple[Form, ...] = Field(default=(), description="Fast to slow; alternatives.")

    def spelled_out(self) -> Motif:
        """The motif with one form for each choice of what its forms' `each` gives."""
        directions = {"forward": self.forward, "rewind": self.rewind}
        return self.model_copy(
            update={
                name: tuple(one for form in forms for one in form.spelled_out())
                for name, forms in directions.items()
            }
        )


@lru_cache(maxsize=8)
def load_taxonomy(path: Path = TAXONOMY) -> dict[str, BottleneckClass]:
    """The taxonomy by id. Raises InputError with file and fault."""
    return {one.id: one for one in read_file(_Taxonomy, path).classes}


@lru_cache(maxsize=8)
def load_motifs(folder: Path = MOTIFS, *, as_written: bool = False) -> tuple[Motif, ...]:
    """All motifs of a folder, one a file, in order of `order`, then id.

    Their forms are spelled out, or `as_written`.
    Raises InputError when a file does not parse, names an unknown taxonomy class or call of the
    API, or is not named after its id.
    """
    known = load_taxonomy()
    motifs = []
    for path in sorted(folder.glob("*.yml")):
        file = YamlFile.open(path)
        motif = file.read(Motif)
        if motif.id != path.stem:
            raise file.wrong(["id"], f"is {motif.id}; name the file after the id")
        for number, one in enumerate(motif.classes):
            if one not in known:
                raise file.wrong(["classes", number], f"taxonomy.yml has no class {one}")
        spelled = motif.spelled_out()
        for direction in ("forward", "rewind"):
            for form in getattr(spelled, direction):
                if fault := _no_call(form):
                    raise file.wrong([direction], fault)
        motifs.append(motif if as_written else spelled)
    return tuple(sorted(motifs, key=lambda m: (m.order, m.id)))


def _no_call(form: Form) -> str:
    """Which call of a form nobody can have written, in words; '' where there is none.

    Such a form would match nothing, or become a kernel that does not build, without a word.
    """
    api = load_api()
    for text in form.sequence:
        call = _CALL.match(text)
        for name in call[1].split("|") if call else ():
            family = api.calls.get(name)
            if name not in api.known:
                return _unknown(name)
            least = len([a for a in family.arguments if a != "count"]) if family else 0
            if call and _arguments(call[2]) < least:
                said = ", ".join(family.arguments) if family else ""
                return f"{name} has fewer arguments in {text} than in api.yml ({said})"
    texts = (*form.replace, form.pattern, form.fix)
    named = (name for text in texts for name in _FREE.findall(text or ""))
    return next((_unknown(name) for name in named if name not in api.known), "")


def _arguments(text: str) -> int:
    """How many arguments the text between a call's brackets has."""
    depth = commas = 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        commas += character == "," and not depth
    return commas + 1 if text.strip() else 0


def _unknown(name: str) -> str:
    near = difflib.get_close_matches(name, load_api().known, n=1)
    meant = f"did you mean {near[0]}?" if near else "declare it first (docs/adding-a-motif.md)"
    return f"api.yml has no call {name}: {meant}"
