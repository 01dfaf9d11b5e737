"""Role 1: from host tiling and attributes S to the base program with evolution markers.

The model's program goes through the checks of the rules' own template: only the tiling functions
and the lines before them may differ from the operator, every marker is in what may differ,
and a base that is not the original operator must pass a trial before anything builds on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast, get_args

from ci.model.operator import Operator
from ci.model.trial import Candidate
from ci.model.workload import Workload
from ci.proposer.base import TilingSynthesizer
from ci.proposer.llm.answer import BadAnswer
from ci.proposer.llm.dialogue import check_new, reason
from ci.proposer.llm.edits import apply_edits, read_edits
from ci.proposer.llm.prompts import attributes
from ci.proposer.llm.run import ModelRun
from ci.proposer.sources import changed_only
from ci.tiling.regions import tiling_regions
from ci.tiling.synthesize import REPLACEMENT, cut_of, template_of
from ci.tiling.template import (
    MARKER_END,
    MARKER_START,
    Decides,
    EvolveBlock,
    TilingTemplate,
    strip_markers,
)


@dataclass(frozen=True)
class Synthesis:
    """What the model is asked about: the sources, and the regions that it may work in."""

    run: ModelRun
    operator: Operator
    regions: TilingTemplate
    """Marks whole tiling functions and the constants they use; the rest must stay."""
    device: str

    def template(self, text: str) -> TilingTemplate:
        """The template of an answer. Raises BadAnswer."""
        plain = self.regions.plain()
        marked = apply_edits(plain, read_edits(text), markers=True)
        sources, blocks = {}, list[EvolveBlock]()
        for path, new in marked.items():
            mine = _marked_blocks(new, path)
            if not mine:
                raise BadAnswer(f"{path} holds no EVOLVE-BLOCK markers.")
            bare = strip_markers(new)
            spans = self.regions.free_spans(path, bare)
            if spans is None:
                raise BadAnswer(
                    f"{path} was changed outside the tiling functions; includes, registration, "
                    "definitions and other functions must stay as they are."
                )
            _check_inside(bare, mine, spans)
            sources[path] = bare
            blocks += mine
        files = changed_only(self.operator, sources)
        base = None
        if files:
            why = f"Base program of the search: {reason(text)}"
            base = self.run.candidate("synthesis", "tiling", files, Candidate().hash, rationale=why)
            check_new(base, self.operator, ())
        return template_of(self.operator, sources, blocks, self.device, base, cut=self.regions.cut)


@dataclass(frozen=True)
class ModelSynthesizer:
    """Has a model mark the base program; rules do when its answers cannot be used."""

    run: ModelRun
    by_rules: TilingSynthesizer

    def __call__(self, operator: Operator, workload: Workload, device: str) -> TilingTemplate:
        """The base program with markers and knobs. Raises ModelUnavailable."""
        regions, functions = tiling_regions(operator, device, cut_of(operator, workload))
        if not regions.sources:  # no tiling that could be one
            return self.by_rules(operator, workload, device)
        try:
            return self.run.ask(
                "synthesis",
                device,
                Synthesis(self.run, operator, regions, device).template,
                attributes=attributes(operator, workload),
                sources=regions.plain(),
                functions=functions,
            )
        except BadAnswer:
            return self.by_rules(operator, workload, device)


def _marked_blocks(marked: str, path: str) -> list[EvolveBlock]:
    """The marked blocks, counted in the text without markers. Raises BadAnswer."""
    if REPLACEMENT in marked:
        raise BadAnswer(f"{path} holds characters that cannot be written back.")
    blocks: list[EvolveBlock] = []
    start: tuple[int, tuple[Decides, ...]] | None = None
    line = 0
    for row in marked.splitlines():
        bare = row.lstrip()
        if bare.startswith(MARKER_START):
            if start is not None:
                raise BadAnswer(f"In {path} an EVOLVE-BLOCK begins inside another one.")
            words = bare[len(MARKER_START) :].split()
            decides = tuple(w for w in get_args(Decides) if w in words)
            start = (line + 1, cast(tuple[Decides, ...], decides) or ("partition",))
        elif bare.startswith(MARKER_END):
            if start is None or line < start[0]:
                raise BadAnswer(f"In {path} an EVOLVE-BLOCK ends that did not begin, or is empty.")
            blocks.append(
                EvolveBlock(file=path, first_line=start[0], last_line=line, decides=start[1])
            )
            start = None
        else:
            line += 1
    if start is not None:
        raise BadAnswer(f"In {path} an EVOLVE-BLOCK is not closed.")
    return blocks


def _check_inside(bare: str, blocks: list[EvolveBlock], spans: tuple[tuple[int, int], ...]) -> None:
    """Raise BadAnswer when a block reaches beyond the tiling functions."""
    starts = [0]
    for row in bare.splitlines(keepends=True):
        starts.append(starts[-1] + len(row))
    for block in blocks:
        begin, end = starts[block.first_line - 1], starts[block.last_line]
        if not any(a <= begin and end <= b for a, b in spans):
            raise BadAnswer(
                f"In {block.file} the block at line {block.first_line} reaches beyond the tiling "
                "functions; only what lies in them, or directly before them, can be evolved."
            )
