"""Build the tiling template of Stage I from the operator's real host tiling source."""

from __future__ import annotations

from functools import lru_cache

from ci.model.operator import Operator
from ci.source.cpp_source import Source, parse
from ci.tiling.knobs import find_knobs
from ci.tiling.template import (
    MARKER_END,
    MARKER_START,
    Decides,
    EvolveBlock,
    Knob,
    TilingTemplate,
    insert_markers,
)
from ci.tiling.tiling_slice import deciding

REPLACEMENT = "\ufffd"  # what undecodable bytes become: such a file cannot be written back


def synthesize(operator: Operator, files: dict[str, str] | None = None) -> TilingTemplate:
    """The template of the operator's tiling as it stands, or as changed by `files`."""
    texts = operator.texts(files)
    sources: dict[str, str] = {}
    blocks: list[EvolveBlock] = []
    knobs: list[Knob] = []
    wanted = frozenset(f.split("::")[-1] for f in operator.tiling_functions)
    for path in (p for p in operator.host_sources if p in operator.tiling_sources):
        marked, mine, found = _read(path, texts[path], wanted)
        if mine:
            sources[path] = marked
            blocks += mine
            knobs += found
    return TilingTemplate(
        operator=operator.name,
        sources=sources,
        blocks=tuple(blocks),
        knobs=tuple(unique_knobs(knobs)),
    )


@lru_cache(maxsize=256)
def _read(
    path: str, text: str, wanted: frozenset[str]
) -> tuple[str, tuple[EvolveBlock, ...], tuple[Knob, ...]]:
    """Marked text, blocks and knobs of one file. A search reads each of its tilings many times."""
    if REPLACEMENT in text or MARKER_START in text or MARKER_END in text:
        return text, (), ()  # lost when written back, or marks that would move ours
    source = parse(text)
    runs = _runs(source, wanted)
    marked, blocks = insert_markers(text, runs, path)
    return marked, blocks, tuple(find_knobs(source, path, [(a, b) for a, b, _ in runs]))


def _runs(source: Source, wanted: frozenset[str]) -> list[tuple[int, int, tuple[Decides, ...]]]:
    """Deciding statements as runs of whole lines; neighbours with only blanks between merge."""
    runs: list[tuple[int, int, tuple[Decides, ...]]] = []
    lines = source.shadow.split("\n")
    for one in deciding(source, wanted):
        first, last = source.line(one.start), source.line(max(one.start, one.end - 1))
        if runs:
            before = runs[-1]
            between = lines[before[1] : first - 1]
            if first <= before[1] or not any(line.strip() for line in between):
                runs[-1] = (
                    before[0],
                    max(last, before[1]),
                    tuple(dict.fromkeys((*before[2], *one.decides))),
                )
                continue
        runs.append((first, last, one.decides))
    return runs


def unique_knobs(knobs: list[Knob]) -> list[Knob]:
    """One knob a place; those of one name (in several files or branches) get a number each."""
    seen: dict[str, int] = {}
    places: set[tuple[str, int, int]] = set()
    named = []
    for knob in knobs:
        place = (knob.file, knob.start, knob.end)
        if knob.end > knob.start and place in places:
            continue
        places.add(place)
        count = seen.get(knob.name, 0)
        seen[knob.name] = count + 1
        named.append(knob.model_copy(update={"name": f"{knob.name}.{count}"}) if count else knob)
    return named
