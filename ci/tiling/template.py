"""The tiling template of Stage I: host source with evolution markers and knobs (data only).

`ci/tiling/synthesize.py` builds it from a host tiling source. The markers are comment lines of
their own, so that removing exactly those lines gives the source back: no candidate and no patch
ever holds one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from ci.model.frozen import Frozen
from ci.model.trial import Candidate

MARKER_START = "// EVOLVE-BLOCK-START"
MARKER_END = "// EVOLVE-BLOCK-END"

Decides = Literal["partition", "block_dim", "tiling_key", "buffer_number", "alignment"]
KnobValue = int | float


class Knob(Frozen):
    """One number of the tiling that a parametric step may set."""

    name: str = Field(description="Stable within an operator, such as coreNum.cap or BUFFER_NUM.")
    kind: Literal["core_work", "core_cap", "ub_share", "constant", "divisor", "literal"]
    neutral: KnobValue | None = Field(
        default=None, description="The value for which nothing is added: no cap, all of UB."
    )
    neutral_text: str = Field(default="", description="What stands there for the neutral value.")
    file: str
    start: int = Field(description="Place in the unmarked text that a value replaces: first index.")
    end: int = Field(description="One past the last index; equal to `start` for an insertion.")
    form: str = Field(description="What is written there, with {value} for the value.")
    values: tuple[KnobValue, ...] = Field(min_length=2, description="Allowed values, ascending.")
    current: KnobValue = Field(description="The value that the text stands for as it is.")
    decides: Decides
    why: str

    def text(self, value: KnobValue) -> str:
        """The C++ text that sets the knob to `value`."""
        if value == self.neutral:
            return self.neutral_text
        return self.form.replace("{value}", str(value))


class EvolveBlock(Frozen):
    """A marked run of lines: what a tiling step may change."""

    file: str
    first_line: int = Field(description="1-based line of the start marker in the marked text.")
    last_line: int = Field(description="1-based line of the end marker.")
    decides: tuple[Decides, ...]


class TilingTemplate(Frozen):
    """Host tiling sources with `EVOLVE-BLOCK` markers, and the knobs found in them."""

    operator: str
    sources: dict[str, str] = Field(description="Marked text by path relative to the operator.")
    blocks: tuple[EvolveBlock, ...] = ()
    knobs: tuple[Knob, ...] = ()
    base: Candidate | None = Field(
        default=None,
        description="The program without markers when it is not the operator's as it stands.",
    )

    def plain(self) -> dict[str, str]:
        """The sources without markers, as they stand in the repository."""
        return {path: strip_markers(text) for path, text in self.sources.items()}

    def values(self) -> dict[str, KnobValue]:
        """Every knob's present value."""
        return {k.name: k.current for k in self.knobs}

    def fill(self, values: dict[str, KnobValue]) -> dict[str, str]:
        """Texts of the files that change when the knobs take `values` (missing: as they are)."""
        plain = self.plain()
        changed: dict[str, str] = {}
        for path, text in plain.items():
            new = text
            # from the end on; of two insertions at one place, the one listed first stands first
            mine = sorted(
                (k for k in reversed(self.knobs) if k.file == path), key=lambda k: -k.start
            )
            for knob in mine:
                value = values.get(knob.name, knob.current)
                if value != knob.current:
                    new = new[: knob.start] + knob.text(value) + new[knob.end :]
            if new != text:
                changed[path] = new
        return changed

    def admits(self, files: dict[str, str]) -> bool:
        """Whether `files` change nothing outside the marked blocks of this template."""
        return all(
            path in self.sources and self.free_spans(path, text) is not None
            for path, text in files.items()
        )

    def free_spans(self, path: str, text: str) -> tuple[tuple[int, int], ...] | None:
        """(first index, end) of what `text` has in the place of each marked block, in order.

        None when a stretch outside the markers was changed.
        """
        return _free_spans(_frozen_parts(self.sources[path]), text)

    def marked(self, path: str, text: str) -> str:
        """`text`, which the template admits, with the markers around what may be changed."""
        spans = self.free_spans(path, text)
        if spans is None:
            raise ValueError(f"{path} was changed outside the evolution markers")
        mine = [b for b in self.blocks if b.file == path]
        for (start, end), block in reversed(list(zip(spans, mine, strict=True))):
            head = f"{MARKER_START} {' '.join(block.decides)}\n"
            text = f"{text[:start]}{head}{text[start:end]}{MARKER_END}\n{text[end:]}"
        return text


def strip_markers(text: str) -> str:
    """The text without its marker lines."""
    kept = (
        line
        for line in text.splitlines(keepends=True)
        if not line.lstrip().startswith((MARKER_START, MARKER_END))
    )
    return "".join(kept)


def insert_markers(
    text: str, runs: list[tuple[int, int, tuple[Decides, ...]]], file: str
) -> tuple[str, tuple[EvolveBlock, ...]]:
    """Mark line runs (1-based first and last line, ascending, disjoint) of an unmarked text."""
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    out: list[str] = []
    blocks: list[EvolveBlock] = []
    done = 0
    for first, last, decides in runs:
        out += lines[done : first - 1]
        indent = lines[first - 1][: len(lines[first - 1]) - len(lines[first - 1].lstrip())]
        out.append(f"{indent}{MARKER_START} {' '.join(decides)}\n")
        start = len(out)
        out += lines[first - 1 : last]
        out.append(f"{indent}{MARKER_END}\n")
        blocks.append(EvolveBlock(file=file, first_line=start, last_line=len(out), decides=decides))
        done = last
    out += lines[done:]
    return "".join(out), tuple(blocks)


def _frozen_parts(marked: str) -> list[str]:
    """The stretches outside the markers, in order; one more than there are blocks."""
    parts = [""]
    inside = False
    for line in marked.splitlines(keepends=True):
        bare = line.lstrip()
        if bare.startswith(MARKER_START):
            inside = True
        elif bare.startswith(MARKER_END):
            inside = False
            parts.append("")
        elif not inside:
            parts[-1] += line
    return parts


def _free_spans(parts: list[str], text: str) -> tuple[tuple[int, int], ...] | None:
    """What lies between the frozen parts of a text that has them all, in order, at both ends."""
    if len(parts) == 1:
        return () if parts[0] == text else None
    whole = text if text.endswith("\n") else text + "\n"
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


def make_knob(
    name: str,
    kind: str,
    path: str,
    place: tuple[int, int],
    form: str,
    values: Sequence[KnobValue],
    current: KnobValue,
    decides: Decides,
    why: str,
    neutral: KnobValue | None = None,
) -> Knob:
    """A knob whose current value is one of its values; `place` is (first, end) in bytes."""
    return Knob.model_validate(
        {
            "name": name,
            "kind": kind,
            "file": path,
            "start": place[0],
            "end": place[1],
            "form": form,
            "values": tuple(sorted({*values, current})),
            "current": current,
            "decides": decides,
            "why": why,
            "neutral": neutral,
        }
    )
