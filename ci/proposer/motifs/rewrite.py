"""Apply motifs to sources: find the sites of a rewrite, and make the changed texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TypeVar

from ast_grep_py import SgNode, SgRoot

from ci.model.errors import InputError
from ci.model.trial import Site
from ci.proposer.motifs.match import Match, apply_matches, disjoint, place_at
from ci.proposer.motifs.sequence import clean, fill, find_sequences, holds, namespace
from ci.proposer.motifs.transforms import JOINT_TRANSFORMS, TRANSFORMS
from ci.source.cpp_source import Edit, Source, parse
from rules.load import Form, Motif

T = TypeVar("T")

_META_NAMES = "ABCDEFGIKLMNRSTVXYZ"


@dataclass(frozen=True)
class Application:
    """One way to apply a motif to a file: the changed text, and where it was changed."""

    motif: Motif
    path: str
    text: str
    lines: tuple[int, ...]
    sites: tuple[Site, ...]
    """What identifies it among all that is tried in a run."""
    notes: tuple[str, ...]
    variant: int
    """Which of the motif's alternative rewrites; the parameters differ."""
    also: dict[str, str] = field(default_factory=dict)
    """Changed texts of further files: of both halves, or of kernels that look alike."""


def find_matches(rewrite: Form, source: Source) -> list[Match]:
    """All places of a source where a rewrite applies, in source order."""
    if rewrite.sequence:
        found = find_sequences(source, rewrite)
    elif rewrite.transform:
        transform = TRANSFORMS.get(rewrite.transform)
        if transform is None:
            known = ", ".join(sorted(TRANSFORMS))
            raise InputError(f"There is no transform named {rewrite.transform}; there are {known}.")
        found = list(transform(source, rewrite.parameters))
    else:
        found = _find_pattern(rewrite, source)
    return sorted(found, key=lambda s: s.start)


@lru_cache(maxsize=4096)
def _matches(rewrite: str, text: str) -> tuple[Match, ...]:
    """Matches of a rewrite in `text`, cached because a search repeats texts."""
    return tuple(find_matches(Form.model_validate_json(rewrite), parse(text)))


def halved(parts: Sequence[T]) -> Iterator[tuple[T, ...]]:
    """All at once, then the halves, their halves, …, and at last each alone."""
    groups = [tuple(parts)] if parts else []
    while groups:
        yield from groups
        cut = [(g, (len(g) + 1) // 2) for g in groups if len(g) > 1]
        groups = [half for g, middle in cut for half in (g[:middle], g[middle:])]


def whole_and_each(matches: Sequence[Match]) -> Iterator[tuple[Match, ...]]:
    """All matches at once, then each alone."""
    if len(matches) > 1:
        yield tuple(matches)
    yield from ((match,) for match in matches)


def applications(
    motif: Motif,
    rewrites: Sequence[Form],
    texts: dict[str, str],
    groups: Callable[[Sequence[Match]], Iterable[tuple[Match, ...]]] = whole_and_each,
) -> Iterator[Application]:
    """Every way to apply the rewrites to a file, at the `groups` of its sites.

    Made one by one as they are asked for: each costs a parse of the changed file.
    """
    for variant, rewrite in enumerate(rewrites):
        key = rewrite.model_dump_json()
        for path, text in texts.items():
            matches = _matches(key, text)
            if not matches:
                continue
            source = parse(text)
            for group in groups(matches):
                one = _applied(motif, variant, path, source, group)
                if one is not None:
                    yield one


def in_several_files(
    motif: Motif, rewrites: Sequence[Form], texts: dict[str, str]
) -> Iterator[Application]:
    """Each rewrite at all of its places in several files at once: in all, then in halves of them.

    Kernels of several dtypes are files that look alike: a rewrite of one alone leaves the cases of
    the others as slow as they are.
    """
    for variant, rewrite in enumerate(rewrites):
        key = rewrite.model_dump_json()
        alone = [
            one
            for path, text in texts.items()
            if (matches := _matches(key, text))
            and (one := _applied(motif, variant, path, parse(text), matches)) is not None
        ]
        for group in halved(alone):
            if len(group) > 1:
                first, *others = group
                yield replace(
                    first,
                    sites=tuple(site for one in group for site in one.sites),
                    notes=tuple(dict.fromkeys(note for one in group for note in one.notes)),
                    also={one.path: one.text for one in others},
                )


def _applied(
    motif: Motif, variant: int, path: str, source: Source, group: Sequence[Match]
) -> Application | None:
    """A rewrite at some places of one file; None where nothing changes."""
    changed = apply_matches(source, group)
    if changed is None:
        return None
    lines = tuple(source.line(m.start) for m in group)
    notes = tuple(dict.fromkeys(m.note for m in group if m.note))
    sites = _sites(motif.id, variant, path, source, group)
    return Application(motif, path, changed, lines, sites, notes, variant)


def of_all_forms(
    motif: Motif, rewrites: Sequence[Form], texts: dict[str, str]
) -> Iterator[Application]:
    """The motif's sequences of calls all at once, in each file where several of them match.

    Each alone may save too little to be built on: a fill for a lower and one for an upper bound.
    """
    for path, text in texts.items():
        found = {
            match: variant
            for variant, rewrite in enumerate(rewrites)
            if rewrite.sequence
            for match in _matches(rewrite.model_dump_json(), text)
        }
        taken = disjoint(found)
        if len({found[match] for match in taken}) < 2:
            continue
        source = parse(text)
        changed = apply_matches(source, taken)
        if changed is not None:
            lines = tuple(source.line(m.start) for m in taken)
            notes = tuple(dict.fromkeys(m.note for m in taken if m.note))
            sites = tuple(
                site for m in taken for site in _sites(motif.id, found[m], path, source, [m])
            )
            yield Application(motif, path, changed, lines, sites, notes, found[taken[0]])


def joint_applications(
    motif: Motif, host: dict[str, str], kernel: dict[str, str]
) -> Iterator[Application]:
    """Every way to apply a motif that changes host and kernel texts in one step."""
    halves = [{path: parse(text) for path, text in half.items()} for half in (host, kernel)]
    for variant, rewrite in enumerate(motif.forward):
        transform = JOINT_TRANSFORMS.get(rewrite.transform)
        if transform is None:
            known = ", ".join(sorted(JOINT_TRANSFORMS))
            raise InputError(
                f"There is no transform of both halves named {rewrite.transform}; "
                f"there are {known}."
            )
        for matches in transform(halves[0], halves[1], rewrite.parameters):
            sources = halves[0] | halves[1]
            texts = {path: apply_matches(sources[path], [match]) for path, match in matches.items()}
            if any(text is None for text in texts.values()):
                continue
            changed = {path: text for path, text in texts.items() if text is not None}
            path, match = next(iter(matches.items()))
            source, note = sources[path], tuple(n for n in (match.note,) if n)
            sites = _sites(motif.id, variant, path, source, [match])
            lines, text = (source.line(match.start),), changed.pop(path)
            yield Application(motif, path, text, lines, sites, note, variant, changed)


def _sites(
    motif: str, form: int, path: str, source: Source, matches: Sequence[Match]
) -> tuple[Site, ...]:
    """What names the matches that are applied."""
    places = (place_at(source, start) for match in disjoint(matches) for start in match.starts)
    return tuple(Site(motif=motif, form=form, file=path, **place._asdict()) for place in places)


def _find_pattern(rewrite: Form, source: Source) -> list[Match]:
    sites = []
    for node in SgRoot(source.shadow, "cpp").root().find_all(pattern=rewrite.pattern):
        span = node.range()
        start, end = source.begin(span.start.index), span.end.index
        bound = _bound(source, node, rewrite.pattern)
        if not holds(source, rewrite.where, start, end, bound):
            continue
        new = fill(rewrite.fix.replace("@", namespace(source)), bound)
        note = clean(bound.get("$X", "") or bound.get("$D", ""))
        sites.append(Match(start, (Edit(start, end, new),), note=note))
    return sites


def _bound(source: Source, node: SgNode, pattern: str) -> dict[str, str]:
    """The texts of the meta-variables in the source."""
    bound = {}
    for letter in _META_NAMES:
        if f"${letter}" not in pattern:
            continue
        match = node.get_match(letter)
        if match is not None:
            span = match.range()
            bound[f"${letter}"] = source.text[source.begin(span.start.index) : span.end.index]
    return bound
