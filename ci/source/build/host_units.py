"""Which sources make up the host side of an operator, in its folder and outside of it.

A repository links all its operators into one library; here each stands alone, with what it needs of
the others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from ci.model import layout
from ci.model.regular_file import file_text
from ci.source.build.chips import ChipFolders
from ci.source.include_lookup import files_named

# Host files that call the runtime (aclnn interface) rather than tile or declare the operator. One
# that executes an operator by another way (fallback) names the context of that.
_RUNTIME_INCLUDE = re.compile(
    r'#\s*include\s*["<](?:opdev/(?!op_log)|aclnn_kernels/|aclnn/aclnn|aclnn/acl_meta|acl/(?!acl_(?:rt|base)\.h)|aclnnop/'
    r"|graph/operator_reg)|\bOpExecuteContext\b"
)
_HOST_WORK = re.compile(
    r"\b(?:TilingContext|OpDef|(?:DEVICE_)?IMPL_OP\w*|TILING_DATA\w*|REGISTER_\w*TILING\w*|FOREACH_OPDEF"
    r"|InferShapeContext|OP_ADD)\b"
)
# A source that implements a tiling header: it need not name the context itself.
_OWN_TILING = re.compile(r'#\s*include\s*"\w*tiling\w*\.h"')
_LOOKS_UP = re.compile(r"\bdl(?:m?open|v?sym)\s*\(")
_MIRRORED = {"inc": "src", "include": "src"}
"""Folders of headers, and where next to them what implements these lies."""
_MOST = 240
"""Files outside of it that an operator's host may be made of; real ones take up to a hundred."""


def calls_runtime(text: str) -> bool:
    """Whether a host source calls the runtime rather than tiles or declares an operator."""
    return _RUNTIME_INCLUDE.search(text) is not None


def works_for_host(text: str) -> bool:
    """Whether a host source tiles or declares an operator."""
    return _HOST_WORK.search(text) is not None


def own_sources(
    root: Path, host: Mapping[str, str], named: frozenset[Path], chips: ChipFolders
) -> dict[str, str]:
    """Return those of the texts below op_host that tile or declare the operator, for chips that we
    know.

    `named` are sources that its build lists. A source without a sign of such work belongs to them
    when it implements a header that they include.
    """
    runtime = {Path(p).name for p, t in host.items() if _RUNTIME_INCLUDE.search(t)}
    own = {
        p: t
        for p, t in host.items()
        if not _RUNTIME_INCLUDE.search(t)
        and (_HOST_WORK.search(t) or p.endswith(layout.HEADERS) or not _includes(t, runtime))
    }
    work = {
        p: t
        for p, t in own.items()
        if p.endswith(layout.HEADERS)
        or _HOST_WORK.search(t)
        or _OWN_TILING.search(t)
        or root / p in named
    }
    while True:
        included = {Path(name).name for text in work.values() for name in layout.included(text)}
        more = {
            p: t
            for p, t in own.items()
            if p not in work and Path(p).stem + ".h" in included and _implements(p, t)
        }
        if not more:
            return _for_this_chip({p: t for p, t in own.items() if p in work}, chips)
        work |= more


def _includes(text: str, names: set[str]) -> bool:
    """Whether a source includes a header of one of the names."""
    return any(Path(name).name in names for name in layout.included(text))


def _implements(path: str, text: str) -> bool:
    """Whether a source includes a header of its own name."""
    return any(Path(name).stem == Path(path).stem for name in layout.included(text))


def _for_this_chip(host: Mapping[str, str], chips: ChipFolders) -> dict[str, str]:
    """Without what other chip generations have in a folder of op_host where ours has one."""
    first = {path: "/".join(Path(path).parts[1:2]) for path in host}
    if chips.ours.isdisjoint(first.values()):
        return dict(host)
    return {path: text for path, text in host.items() if not chips.another_s(f"{first[path]}/_")}


def neighbour_sources(
    root: Path, top: Path, host: Mapping[str, str], folders: tuple[Path, ...]
) -> list[Path]:
    """Sources outside the operator's folder, below `top`, that implement a header which this one
    includes from there, directly or by what it takes from there.

    Includes start at the including file or at one of `folders`.
    """
    found: dict[Path, None] = {}

    def find(place: Path, name: str) -> Iterator[tuple[Path, str]]:
        # What an operator takes for its own is no neighbour's.
        plain = place.is_relative_to(root) and layout.side(name) != layout.HOST
        if plain and any(path.endswith("/" + name) for path in host):
            return
        for met in files_named(name, (place.parent, *folders)):
            path = met.resolve()
            if path.is_relative_to(top) and not path.is_relative_to(root):
                if path.suffix not in layout.HEADERS:
                    return
                units = _implementing(path, folders)
                if layout.HOST in path.parts or units:
                    yield path, _text(path)
                for unit in units:
                    found[unit] = None
                    yield unit, _text(unit)
                return

    layout.closure({root / p: t for p, t in host.items()}, find, _MOST)
    return [*found]


def _opens_library(unit: Path, text: str, folders: tuple[Path, ...]) -> bool:
    """Whether a source looks its functions up in a library of the toolkit's, for hosts that are
    built apart from it. Ours are linked with what stands for the toolkit."""
    around = (unit.parent, *folders)
    places = (path for name in layout.included(text) for path in files_named(name, around))
    texts = (text, *map(_text, places))
    return any(_LOOKS_UP.search(one) for one in texts)


def _implementing(header: Path, folders: tuple[Path, ...]) -> list[Path]:
    """Sources of a host that implement a header: next to it, or in the folder that mirrors its."""
    places = [header.parent] if layout.HOST in header.parts else []
    parts = header.parent.parts
    for at, part in enumerate(parts):
        if part in _MIRRORED:
            places.append(Path(*parts[:at], _MIRRORED[part], *parts[at + 1 :]))
    units = []
    for place in places:
        for path in sorted(p for p in place.glob("*.c*") if p.suffix in layout.UNITS):
            text = _text(path)
            names = {Path(name).name for name in layout.included(text)}
            beside = place == header.parent or path.stem == header.stem
            if not (beside and header.name in names) or _RUNTIME_INCLUDE.search(text):
                continue
            if not _opens_library(path, text, folders):
                units.append(path)
    return units


def _text(path: Path) -> str:
    return file_text(path)
