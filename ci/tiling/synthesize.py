"""Read tiling templates from host tiling sources.

Once for the original operator; afterwards only what was changed by other means than knobs (a
structural rewrite, a model's edit) is read again, within the blocks of the template at hand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import takewhile
from math import prod
from typing import Final

from ci.model.operator import LaunchText, Operator
from ci.model.trial import Candidate, Trial
from ci.model.workload import Workload
from ci.source.cpp_source import Source, parse
from ci.tiling.core_counts import core_counts
from ci.tiling.counting_calls import counting_functions
from ci.tiling.knobs import find_knobs
from ci.tiling.template import (
    MARKER_END,
    MARKER_START,
    Cut,
    Decides,
    EvolveBlock,
    Knob,
    TilingTemplate,
)
from ci.tiling.tiling_slice import deciding

FIRST: Final = Cut()
"""The first input, where nobody knows the workload."""

REPLACEMENT = "\ufffd"  # what undecodable bytes become: such a file cannot be written back


def cut_of(operator: Operator, workload: Workload) -> Cut:
    """The input with the most elements, of those whose number is the same in every request.

    That ends where inputs are optional or lists.
    """
    required = takewhile(lambda spec: spec.param_type == "required", operator.inputs)
    found = [Cut()]
    for number, _ in enumerate(required):
        given = [case.inputs[number] for case in workload.cases if number < len(case.inputs)]
        alone = [one for one in given if not isinstance(one, tuple)]
        if len(alone) == len(workload.cases):
            found.append(Cut(input=number, elements=tuple(prod(t.shape) for t in alone)))
    return max(found, key=lambda one: sum(one.elements))


def synthesize(
    operator: Operator,
    device: str,
    files: dict[str, str] | None = None,
    *,
    cut: Cut = FIRST,
) -> TilingTemplate:
    """The template of the operator's original tiling, or as changed by `files`."""
    texts = operator.texts(files)
    if operator.launch is not None:
        return launch_template(operator, operator.launch, device, texts[operator.launch.source])
    wanted = frozenset(f.split("::")[-1] for f in operator.tiling_functions)
    registering = [p for p in operator.host_sources if p in operator.tiling_sources]
    found = _found(registering, texts, wanted)
    if not found:  # it is registered in one file and computed in others
        found = _found(operator.host_sources, texts, wanted)
    if not found:  # it is computed by what the operator shares with others, and not its to change
        found = _found(registering, texts, wanted, _whole)
    sources = {path: texts[path] for path in found}
    every = [b for blocks in found.values() for b in blocks]
    return template_of(operator, sources, every, device, cut=cut)


def launch_template(
    operator: Operator, launch: LaunchText, device: str, text: str
) -> TilingTemplate:
    """The template of a launched kernel: the numbers of its launch, in its workload's text."""
    values = launch.values(text) or {}
    counts = (*core_counts(device).steps(), *core_counts(device).promising_numbers())
    knobs: list[Knob] = []
    moved = 0
    for number in launch.numbers:
        value = values.get(number.start, number.value)
        start = number.start + moved
        knobs.append(
            Knob(
                name=number.name,
                kind="constant",
                file=launch.source,
                start=start,
                end=start + len(str(value)),
                form="{value}",
                values=tuple(sorted({value, *counts})) if number.blocks else (),
                written=value,
                decides="block_dim" if number.blocks else "partition",
                why="The program that launches the kernel sets it: change it there, too.",
            )
        )
        moved += len(str(value)) - (number.end - number.start)
    lines = [text.count("\n", 0, knob.start) + 1 for knob in knobs]
    return TilingTemplate(
        operator=operator.name,
        device=device,
        sources={launch.source: text},
        blocks=tuple(
            EvolveBlock(file=launch.source, first_line=line, last_line=line, decides=("partition",))
            for line in sorted(set(lines))
        ),
        knobs=tuple(knobs),
    )


def _found(
    paths: Iterable[str],
    texts: dict[str, str],
    wanted: frozenset[str],
    reader: Callable[[str, Source, frozenset[str]], list[EvolveBlock]] | None = None,
) -> dict[str, list[EvolveBlock]]:
    """The blocks of each of the sources that has any: its deciding statements by default."""
    read = reader or _blocks
    found = {}
    for path in paths:
        text = texts[path]
        if REPLACEMENT in text or MARKER_START in text or MARKER_END in text:
            continue  # lost when written back, or marks of somebody else's that would move ours
        if blocks := read(path, parse(text), wanted):
            found[path] = blocks
    return found


def template_of(
    operator: Operator,
    sources: dict[str, str],
    blocks: list[EvolveBlock],
    device: str,
    base: Candidate | None = None,
    *,
    cut: Cut = FIRST,
) -> TilingTemplate:
    """The template of these texts, with the knobs that are found in the blocks."""
    host = {path: operator.read(path) for path in operator.host_sources} | sources
    counting = counting_functions(map(parse, host.values()))
    found = knobs_within(tuple(sources.items()), tuple(blocks), device, cut.input, counting)
    return TilingTemplate(
        operator=operator.name,
        device=device,
        cut=cut,
        counting=counting,
        sources=sources,
        blocks=tuple(blocks),
        knobs=found,
        base=base,
    )


def follow(
    operator: Operator, template: TilingTemplate, trials: Iterable[Trial]
) -> dict[str, TilingTemplate]:
    """The template at each trial by its candidate's hash, without those that left its blocks.

    A knob step is its parent's template at other values. Only a text that is not what the values
    say was changed otherwise, and is read. A joint step may change what lies outside the blocks:
    its sources have a template of their own, from which tiling steps go on.
    """
    found: dict[str, TilingTemplate] = {}
    original = operator.texts()
    for trial in trials:
        candidate = trial.candidate
        if candidate.hash in found:
            continue
        before = found.get(candidate.parent, template)
        texts = original | candidate.files
        mine = {path: texts[path] for path in before.sources}
        values = {k: v for k, v in candidate.knobs.items() if not isinstance(v, str)}
        at = before.at(values)
        if at.plain() == mine:
            found[candidate.hash] = at
        elif (read := _read(before, mine)) is not None:
            found[candidate.hash] = read
        elif candidate.stage == "joint":
            found[candidate.hash] = synthesize(
                operator, template.device, candidate.files, cut=template.cut
            )
    return found


def _read(template: TilingTemplate, texts: dict[str, str]) -> TilingTemplate | None:
    """The template's blocks around changed texts; None when those changed anything else."""
    blocks: list[EvolveBlock] = []
    for path, text in texts.items():
        spans = template.free_spans(path, text)
        if spans is None:
            return None
        marked = [b for b in template.blocks if b.file == path]
        for block, (start, end) in zip(marked, spans, strict=True):
            lines = {
                "first_line": text.count("\n", 0, start) + 1,
                "last_line": text.count("\n", 0, end),
            }
            blocks.append(block.model_copy(update=lines))
    knobs = knobs_within(
        tuple(texts.items()),
        tuple(blocks),
        template.device,
        template.cut.input,
        template.counting,
    )
    changed = {"sources": texts, "blocks": tuple(blocks), "knobs": knobs, "moved": {}}
    return template.model_copy(update=changed)


@lru_cache(maxsize=256)
def knobs_within(
    sources: tuple[tuple[str, str], ...],
    blocks: tuple[EvolveBlock, ...],
    device: str,
    cut: int,
    counting: frozenset[str],
) -> tuple[Knob, ...]:
    """The knobs within the blocks; remembered: a search asks for the same texts again."""
    found: list[Knob] = []
    for path, text in sources:
        lines = [(b.first_line, b.last_line) for b in blocks if b.file == path]
        found += find_knobs(parse(text), path, lines, device, cut, counting)
    return tuple(_unique(found))


def _blocks(path: str, source: Source, wanted: frozenset[str]) -> list[EvolveBlock]:
    """Deciding statements as blocks of whole lines; neighbours with only blanks between merge."""
    runs: list[tuple[int, int, tuple[Decides, ...]]] = []
    lines = source.shadow.split("\n")
    for one in deciding(source, wanted):
        first, last = source.line(one.start), source.line(max(one.start, one.end - 1))
        decides = one.decides
        if runs:
            start, end, before = runs[-1]
            if first <= end or not any(line.strip() for line in lines[end : first - 1]):
                first, last = start, max(last, end)
                decides = tuple(dict.fromkeys((*before, *decides)))
                runs.pop()
        runs.append((first, last, decides))
    return [EvolveBlock(file=path, first_line=a, last_line=b, decides=d) for a, b, d in runs]


def _whole(path: str, source: Source, wanted: frozenset[str]) -> list[EvolveBlock]:
    """The bodies of the registered tiling functions."""
    bodies = [f.body for f in source.functions if f.name.split("::")[-1] in wanted]
    lines = [(source.line(b.start_byte) + 1, source.line(b.end_byte - 1) - 1) for b in bodies]
    return [
        EvolveBlock(file=path, first_line=a, last_line=b, decides=("partition",))
        for a, b in lines
        if a <= b
    ]


def _unique(knobs: list[Knob]) -> list[Knob]:
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
