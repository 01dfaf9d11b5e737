"""The tiling template of Stage I: host sources with evolution markers, and knobs with values.

`ci/tiling/synthesize.py` reads it from a host tiling source. From then on knobs are data: a step
sets values, and the text is rendered from them where it is built or shown. The markers are comment
lines that only a proposer sees: no candidate and no patch ever holds one. (The Jinja templates of
reports and prompts are another thing.)
"""

from __future__ import annotations

import difflib
from itertools import accumulate
from typing import Literal

from pydantic import Field

from ci.model.frozen import Frozen
from ci.model.trial import Candidate
from ci.source.source_diff import lines_of

MARKER_START = "// EVOLVE-BLOCK-START"
MARKER_END = "// EVOLVE-BLOCK-END"

Decides = Literal["partition", "block_dim", "tiling_key", "buffer_number", "alignment"]
Kind = Literal[
    "core_work",
    "core_root",
    "core_rows",
    "core_cap",
    "ub_share",
    "ub_work",
    "constant",
    "block_constant",
    "divisor",
    "literal",
]
KnobValue = int | float

LARGEST_DIVISOR = 64
"""A larger number that UB is divided by is no choice of how many parts there are."""


class Knob(Frozen):
    """One number of the tiling that a parametric step may set."""

    name: str = Field(description="Stable within an operator, such as coreNum.cap or BUFFER_NUM.")
    kind: Kind
    neutral: KnobValue | None = Field(
        default=None, description="The value for which nothing is added: no cap, all of UB."
    )
    neutral_text: str = Field(default="", description="Text in its place for the neutral value.")
    file: str
    start: int = Field(description="Place in the text that was read: first index.")
    end: int = Field(description="One past the last index; equal to `start` for an insertion.")
    form: str = Field(description="What is written there, with {value} for the value.")
    values: tuple[KnobValue, ...] = Field(
        default=(), description="Allowed values, ascending; () when they lie around the present."
    )
    written: KnobValue = Field(description="The value that the text stands for as it was read.")
    decides: Decides
    why: str

    def text(self, value: KnobValue) -> str:
        """The C++ text that sets the knob to `value`."""
        if value == self.neutral:
            return self.neutral_text
        return self.form.replace("{value}", str(value))

    def choices(self, now: KnobValue) -> tuple[KnobValue, ...]:
        """The allowed values when the present one is `now`, which is among them; ascending."""
        allowed: set[KnobValue] = {now, *self.values}
        if self.kind == "divisor" and now <= LARGEST_DIVISOR:
            allowed |= {v for v in (now - 2, now - 1, now + 1, 2 * now, 4 * now) if v >= 2}
        elif self.kind == "constant" and not self.values:
            powers = (now * 2**p for p in range(1, 4)), (now // 2**p for p in range(1, 4))
            allowed |= {v for some in powers for v in some if v >= 1}
        return tuple(sorted(allowed))


class Cut(Frozen):
    """The input that a tiling cuts, as far as the workload tells."""

    input: int = Field(default=0, description="Its number.")
    elements: tuple[int, ...] = Field(
        default=(), description="Its elements in each case; () where nobody knows them."
    )


class EvolveBlock(Frozen):
    """A run of lines that a tiling step may change."""

    file: str
    first_line: int = Field(description="1-based line in the text that was read.")
    last_line: int = Field(description="The last line that belongs to it.")
    decides: tuple[Decides, ...]


class TilingTemplate(Frozen):
    """Host tiling sources as they were read, what of them may change, and the knobs' values."""

    operator: str
    device: str = Field(default="", description="Device whose core counts the knobs offer.")
    cut: Cut = Field(default=Cut(), description="The input whose elements limits go by.")
    counting: frozenset[str] = Field(
        default=frozenset(),
        description="Functions of the host side that answer a number and change nothing.",
    )
    sources: dict[str, str] = Field(description="Text by path relative to the operator.")
    blocks: tuple[EvolveBlock, ...] = ()
    knobs: tuple[Knob, ...] = ()
    moved: dict[str, KnobValue] = Field(
        default_factory=dict, description="Values of the knobs that no longer stand as written."
    )
    base: Candidate | None = Field(
        default=None, description="The program, when it is not the operator's own."
    )

    @property
    def values(self) -> dict[str, KnobValue]:
        """Every knob's present value."""
        return {k.name: self.moved.get(k.name, k.written) for k in self.knobs}

    def choices(self, knob: Knob) -> tuple[KnobValue, ...]:
        """The values that a knob may take from here, ascending, the present one among them."""
        return knob.choices(self.moved.get(knob.name, knob.written))

    def at(self, values: dict[str, KnobValue]) -> TilingTemplate:
        """The same template with some knobs at other values."""
        wanted = self.values | values
        moved = {k.name: wanted[k.name] for k in self.knobs if wanted[k.name] != k.written}
        return self.model_copy(update={"moved": moved})

    def plain(self) -> dict[str, str]:
        """The sources without markers, with every knob at its present value."""
        return {path: self._rendered(path) for path in self.sources}

    def changes(self, values: dict[str, KnobValue]) -> dict[str, str]:
        """Texts of the files that change when knobs take `values`."""
        now = self.plain()
        return {p: t for p, t in self.at(values).plain().items() if t != now[p]}

    def skeleton(self) -> dict[str, str]:
        """The sources without what knobs write: equal for templates that differ in values only."""
        return {
            path: self._filled(path, {k.name: f"<{k.name}>" for k in self.knobs})
            for path in self.sources
        }

    def _rendered(self, path: str) -> str:
        texts = {k.name: k.text(self.moved[k.name]) for k in self.knobs if k.name in self.moved}
        return self._filled(path, texts)

    def _filled(self, path: str, texts: dict[str, str]) -> str:
        """A source as it was read, with `texts` in the places of knobs."""
        text, parts, done = self.sources[path], list[str](), 0
        for knob in sorted(self.knobs, key=lambda k: k.start):  # stable: as listed at one place
            if knob.file == path and knob.name in texts:
                parts += [text[done : knob.start], texts[knob.name]]
                done = knob.end
        return "".join((*parts, text[done:]))

    def admits(self, files: dict[str, str]) -> bool:
        """Whether `files` change nothing outside the blocks of this template."""
        return all(
            path in self.sources and self.free_spans(path, text) is not None
            for path, text in files.items()
        )

    def free_spans(self, path: str, text: str) -> tuple[tuple[int, int], ...] | None:
        """(first index, end) of what `text` has in the place of each block, in order.

        By the lines that did not change; where that finds a change outside the blocks, which can
        be a moved brace, by the texts between them. None when a stretch outside was changed.
        """
        blocks = [(b.first_line - 1, b.last_line) for b in self.blocks if b.file == path]
        found = _mapped(blocks, _ended(self.sources[path]), _ended(text))
        return found if found is not None else _free_spans(self._frozen_parts(path), text)

    def _frozen_parts(self, path: str) -> list[str]:
        """The stretches outside the blocks, in order; one more than there are blocks."""
        lines = lines_of(_ended(self.sources[path]))
        parts, done = [], 0
        for block in self.blocks:
            if block.file == path:
                parts.append("".join(lines[done : block.first_line - 1]))
                done = block.last_line
        return [*parts, "".join(lines[done:])]

    def marked(self, path: str, text: str) -> str:
        """`text`, which the template admits, with the markers around what may be changed."""
        spans = self.free_spans(path, text)
        if spans is None:
            raise ValueError(f"{path} was changed outside the evolution markers")
        mine = [b for b in self.blocks if b.file == path]
        text = _ended(text)
        for (start, end), block in reversed(list(zip(spans, mine, strict=True))):
            head = f"{MARKER_START} {' '.join(block.decides)}\n"
            text = f"{text[:start]}{head}{text[start:end]}{MARKER_END}\n{text[end:]}"
        return text


def _ended(text: str) -> str:
    """The text with a line end at its end."""
    return text if text.endswith("\n") else text + "\n"


def strip_markers(text: str) -> str:
    """The text without its marker lines."""
    kept = (
        line for line in lines_of(text) if not line.lstrip().startswith((MARKER_START, MARKER_END))
    )
    return "".join(kept)


def _mapped(
    blocks: list[tuple[int, int]], before: str, after: str
) -> tuple[tuple[int, int], ...] | None:
    """Where `after` has the blocks, given as lines of `before`; None for a change outside them."""
    old, new = lines_of(before), lines_of(after)
    starts = list(accumulate((len(line) for line in new), initial=0))
    codes = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    grown = [0] * len(blocks)
    for tag, a, b, c, d in codes:
        if tag == "equal":
            continue
        owner = next((i for i, (s, e) in enumerate(blocks) if s <= a and b <= e), None)
        if owner is None:
            return None
        grown[owner] += (d - c) - (b - a)
    shifts = accumulate(grown, initial=0)
    return tuple(
        (starts[first + shift], starts[end + shift + more])
        for (first, end), shift, more in zip(blocks, shifts, grown, strict=False)
    )


def _free_spans(parts: list[str], text: str) -> tuple[tuple[int, int], ...] | None:
    """What lies between the frozen parts of a text that has them all, in order, at both ends."""
    whole = _ended(text)
    if len(parts) == 1:
        return () if parts[0] == whole else None
    first, *middle, last = parts
    if not whole.startswith(first) or not whole.endswith(last):
        return None
    place, limit = len(first), len(whole) - len(last)
    spans = []
    for part in middle:
        found = whole.find(part, place, limit)
        if found < 0:
            return None
        spans.append((place, found))
        place = found + len(part)
    return (*spans, (place, limit)) if place <= limit else None
