"""Finds operators in a repository and reads what they declare, without compiling anything.

Layouts: cann-ops (`src/<category>/<op>/{op_host,op_kernel}`, also `src/contrib/...`) and ops-math
(`<category>/<op>/{op_host,op_kernel}`).
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, Literal

from ci.model import layout
from ci.model.errors import InputError
from ci.model.operator import Operator, SharedSource
from ci.model.regular_file import file_bytes, file_text
from ci.source.build.facts import build_facts, read_build
from ci.source.build.tree import folders_of_tree
from ci.source.declared import (
    Declared,
    declared,
    entries_of,
    host_of,
    is_unit,
    kernel_of,
    names_our_chip,
    plain,
    registered,
)
from ci.source.definition import find_definitions, tiling_functions
from ci.source.host_units import neighbour_sources, own_sources
from ci.source.readable_files import borrowed
from ci.source.seen_kernels import no_operator
from ci.source.shared_sources import shared_sources


def find_operators(repository: Path) -> list[Operator]:
    """Every operator of a repository that can be read, by category and name.

    Folders that look like an operator but cannot be read are left out; `load_operator` says why.
    Raises InputError when the path is missing or holds no operator at all.
    """
    if not repository.exists():
        raise InputError(f"There is no file or folder {repository}.")
    if not repository.is_dir():
        raise InputError(f"{repository} is a file; give the folder of a repository.")
    found = []
    for place in operator_places(repository):
        try:
            found.append(load_operator(place, repository))
        except InputError:
            continue
    if not found:
        raise InputError(no_operator(repository))
    return sorted(found, key=lambda o: (o.category, o.name))


def _nearest(path: Path) -> str:
    """A sentence with the entry next to `path`, or the operator of its checkout, most like it.

    '' where none is like it.
    """
    there = next(p for p in (path.absolute(), *path.absolute().parents) if p.is_dir())
    places = list(there.iterdir()) if there == path.absolute().parent else []
    if repository := _repository(there):
        places += operator_folders(repository)
    near = difflib.get_close_matches(path.name, [place.name for place in places], n=1)
    if not near:
        return ""
    meant = next(place for place in places if place.name == near[0])
    return f" Did you mean {meant if path.is_absolute() else os.path.relpath(meant)}?"


def load_operator(path: Path, top: Path | None = None) -> Operator:
    """The operator of a folder (one with op_host and op_kernel, or a repository with just one).

    `top`: where its repository begins, for one that neither git nor a build above it tells.

    Of a folder with several, `folder/<kernel's name>` or a source of it names one; the folder
    itself means the one that is called as it is. Raises InputError with a sentence that says what
    is missing and where.
    """
    sides = (layout.HOST, layout.KERNEL)
    if _is_operator(path.parent) and not path.is_file() and path.name not in sides:
        return _read_operator(path.parent, path.name, top)
    if not path.exists():
        raise InputError(f"There is no file or folder {path}.{_nearest(path)}")
    if path.is_file():
        folder = path.parent.parent
        if path.parent.name not in ("op_host", "op_kernel") or path.suffix not in layout.SOURCES:
            raise InputError(
                f"{path} is a file; give the operator's folder, the one with op_host and op_kernel."
            )
        if _is_operator(folder) and len(places_in(folder)) > 1:
            return _read_operator(folder, _named_by(path), top)
        path = folder
    if path.name in ("op_host", "op_kernel"):
        path = path.parent
    has = {name: (path / name).is_dir() for name in ("op_host", "op_kernel")}
    if all(has.values()):
        return _read_operator(path, top=top)
    if any(has.values()):
        missing = "op_kernel" if has["op_host"] else "op_host"
        raise InputError(
            f"{path} has no {missing} folder; an operator needs op_host and op_kernel."
        )
    if not any(path.iterdir()):
        raise InputError(f"The folder {path} is empty; an operator has op_host and op_kernel.")
    roots = list(operator_folders(path))
    if not roots:
        raise InputError(f"{path} has neither op_host nor op_kernel, and no folder in it has both.")
    if len(roots) > 1:
        some = ", ".join(str(r.relative_to(path)) for r in roots[:5])
        more = ", …" if len(roots) > 5 else ""
        raise InputError(
            f"{path} holds {len(roots)} operators; give the folder of one of them ({some}{more})."
        )
    return _read_operator(roots[0], top=top)


def operator_folders(top: Path) -> list[Path]:
    """Folders below `top` that hold both op_host and op_kernel; links are not followed."""
    found: list[Path] = []
    waiting = [top]
    while waiting:
        folder = waiting.pop()
        try:
            children = sorted(c for c in folder.iterdir() if c.is_dir() and not c.is_symlink())
        except OSError:
            continue
        names = {c.name for c in children}
        if {"op_host", "op_kernel"} <= names:
            found.append(folder)
        else:
            waiting += [c for c in children if c.name not in layout.SKIPPED]
    return sorted(found)


def operator_places(top: Path) -> list[Path]:
    """What `load_operator` takes for each operator below `top`: its folder, or one in that for each
    of several that share it."""
    return [place for folder in operator_folders(top) for place in places_in(folder)]


def places_in(folder: Path) -> list[Path]:
    """The same for a folder with op_host and op_kernel."""
    try:
        host = _sources(folder, layout.HOST)
        if len(registered(t for p, t in host.items() if is_unit(p))) < 2:
            return [folder]
        known = declared(host, _shared_text(host, ()))
        entries = entries_of(_sources(folder, layout.KERNEL))
    except InputError:
        return [folder]
    if len(known) < 2:
        return [folder]
    names = {plain(name): name for _, name in entries}
    return [folder / names.get(plain(op_type), op_type) for op_type in known]


def _is_operator(folder: Path) -> bool:
    return (folder / layout.HOST).is_dir() and (folder / layout.KERNEL).is_dir()


def _named_by(source: Path) -> str:
    """The name of the operator that a source declares or is the kernel of; '' where it is not
    just one."""
    text = _text(source)
    entries = [name for _, name in entries_of({source.name: text})]
    names = entries if source.parent.name == layout.KERNEL else registered([text])
    return names[0] if len(names) == 1 else ""


def is_shared(folder: Path) -> bool:
    """Whether a folder with op_host and op_kernel holds only what operators next to it share: it
    declares none, and has no kernel."""
    host, kernel = (_sources(folder, side) for side in (layout.HOST, layout.KERNEL))
    units = [text for path, text in host.items() if is_unit(path)]
    declares = any("OpDef" in text or "OPDEF" in text for text in units)
    return not declares and not any("__global__" in text for text in kernel.values())


def for_chip(operator: Operator) -> bool:
    """Whether the definition names a chip family that we know, or names none at all."""
    return names_our_chip(operator.socs)


def for_others_only(operator: Operator) -> str:
    """What a person reads of an operator that is not `for_chip`."""
    return (
        f"It is declared for {', '.join(operator.socs)} only; nothing was built. `--as 910B` tries"
        " it as if it were for this chip."
    )


def declared_for_others(folder: Path) -> bool:
    """Whether a folder that cannot be read as an operator declares one for other chips only."""
    texts = _sources(folder, layout.HOST)
    found = [one for p, text in texts.items() if is_unit(p) for one in find_definitions(text)]
    return any(not names_our_chip(one.socs) for one in found)


def other_chips(operator: Operator) -> tuple[str, ...]:
    """The chips that the definition names and that are of no family we know."""
    return tuple(soc for soc in operator.socs if not names_our_chip((soc,)))


def _text(path: Path, inside: Path | None = None) -> str:
    data = file_bytes(path, inside)
    if b"\0" in data:
        raise InputError(f"{path} is a binary file, not C++ source.")
    return data.decode("utf-8", errors="replace")


def _sources(root: Path, folder: str) -> dict[str, str]:
    """Text of each source below root/folder, by path relative to root."""
    found = {}
    own = root.resolve()
    top = _repository(own) or own
    for path in sorted((root / folder).rglob("*")):
        inside = path.relative_to(root).parts
        if path.suffix not in layout.SOURCES or any(part.startswith(".") for part in inside):
            continue
        if path.is_file() and not layout.SKIPPED & set(inside):
            real = path.resolve()
            if not real.is_relative_to(own) or borrowed(real, top, own):
                raise InputError(
                    f"{path} is a link that leads out of the operator's folder, or mounted there."
                )
            found[path.relative_to(root).as_posix()] = _text(path, top)
    return found


def _repository(root: Path) -> Path | None:
    return next((p for p in (root, *root.parents) if (p / ".git").exists()), None)


def _wanted(root: Path, known: Mapping[str, Declared], name: str) -> str:
    """The type of the operator that is called `name`, '' for the folder's. Raises InputError."""
    called = {plain(op_type): op_type for op_type in known}
    if not name and len(known) == 1:
        return next(iter(known))
    wanted = called.get(plain(name or root.name), "")
    if wanted:
        return wanted
    if name and len(known) == 1 and plain(name) == plain(root.name):
        return next(iter(known))
    names = ", ".join(place.name for place in places_in(root)) if len(known) > 1 else root.name
    if name:
        raise InputError(f"There is no operator {name} in {root}; it holds {names}.")
    first = names.split(",")[0]
    raise InputError(
        f"{root} holds {len(known)} operators ({names}); name one of them: {root / first}."
    )


def _read_operator(root: Path, name: str = "", top: Path | None = None) -> Operator:
    root = root.resolve()
    host, kernel = _sources(root, "op_host"), _sources(root, "op_kernel")
    if not host:
        raise InputError(f"{root / 'op_host'} holds no C++ source (.cpp or .h).")
    if not kernel:
        raise InputError(f"{root / 'op_kernel'} holds no kernel source (.cpp or .h).")
    repository = _repository(root)
    top = (repository or _top_without_git(root, top)).resolve()
    build = read_build(root, top)
    asking = folders_of_tree(build.tree, {**host, **kernel}, root, build.include_folders)
    by_tree = tuple(asking)
    folders = (*build.include_folders, *by_tree)
    whole = own_sources(root, host, build.own_sources, build.chips)
    known = declared(whole, _shared_text(host, folders))
    if not known:
        raise InputError(
            f"No op definition in {root / 'op_host'}: no source there has a class derived from"
            " OpDef with OP_ADD."
        )
    op_type = _wanted(root, known, name)
    definition_source, definition = known[op_type].source, known[op_type].definition
    named = {p for p in whole if root / p in build.own_sources}
    work = host_of(op_type, known, whole, named, build.chips)
    entry, entry_name, own_kernel = kernel_of(op_type, known, root.name, kernel, build.chips)
    if not entry:
        raise InputError(
            f"No kernel in {root / 'op_kernel'}: no .cpp there defines a global kernel function"
            f" (__global__ __aicore__) for {op_type}."
        )
    beside: dict[str, str] = {}
    for other in known.keys() - {op_type}:
        beside |= (
            host_of(other, known, whole, named, build.chips)
            | kernel_of(other, known, "", kernel, build.chips)[2]
        )
    kernel = own_kernel
    work = _named_by_build(root, work, build.taken_sources, definition_source)
    others = [*build.shared_sources]
    others += neighbour_sources(root, top, work, folders)
    common: dict[str, str] = {}
    if repository is not None:
        texts = {**work, **kernel}
        common = shared_sources(root, repository, texts, folders, others)
        taken = {(repository / place).resolve() for place in common.values()}
        others = [path for path in others if path.resolve() not in taken]
    for name, place in common.items():
        side = kernel if name.startswith(layout.KERNEL + "/") else work
        side[name] = _text((repository or root) / place, top)
    functions = {p: tiling_functions(t) for p, t in work.items() if is_unit(p)}
    tiling_sources = tuple(p for p, names in functions.items() if names)
    if not tiling_sources and not build.shared_sources:
        raise InputError(
            f"No host tiling in {root / 'op_host'}: no source there has a function on"
            " gert::TilingContext."
        )
    compiled = build.options(definition.op_type, definition.socs)
    shared = [SharedSource(name=n, path=p) for n, p in common.items()]
    if repository is not None:
        inside = root.relative_to(repository.resolve())
        both = [p for p in (*work, *kernel) if p in beside]
        shared += [SharedSource(name=p, path=(inside / p).as_posix()) for p in both]
    return Operator(
        name=root.name if len(known) == 1 else entry_name,
        op_type=definition.op_type,
        category=root.parent.name,
        root=root,
        repository=repository,
        layout=_layout(root),
        host_sources=tuple(work),
        kernel_sources=tuple(kernel),
        definition_source=definition_source,
        tiling_sources=tiling_sources,
        tiling_functions=tuple(dict.fromkeys(n for p in tiling_sources for n in functions[p])),
        kernel_entry=entry,
        inputs=definition.inputs,
        outputs=definition.outputs,
        attrs=definition.attrs,
        socs=definition.socs,
        auto_sync=compiled.sync.on is True,
        auto_sync_open=compiled.sync.on is None,
        auto_sync_said_by=compiled.sync.said_by,
        compile_options=compiled.options,
        include_folders=build.include_folders,
        tree_folders=by_tree,
        build_facts=build_facts(build, compiled, asking),
        shared_host_sources=tuple(dict.fromkeys(others)),
        shared_sources=tuple(shared),
        shares_folder=len(known) > 1,
    )


def _named_by_build(
    root: Path, work: dict[str, str], named: frozenset[Path], definition_source: str
) -> dict[str, str]:
    """Without the sources that the build leaves out, where it names definition and tiling."""
    kept = {p: t for p, t in work.items() if not is_unit(p) or root / p in named}
    tiles = any(is_unit(p) and tiling_functions(t) for p, t in kept.items())
    tiled = any(is_unit(p) and tiling_functions(t) for p, t in work.items())
    return kept if definition_source in kept and tiles == tiled else work


def _layout(root: Path) -> Literal["cann-ops", "ops-math"]:
    return "cann-ops" if "src" in (p.name for p in list(root.parents)[:3]) else "ops-math"


_MOST_ABOVE: Final = 6
"""Folders above an operator that may belong to its repository, where nobody says so."""


def _top_without_git(root: Path, given: Path | None) -> Path:
    """The outermost folder above an operator that a build begins in, else the one that was given;
    the operator's own without.

    Nothing else says where its repository ends, and what lies around it is not ours to read.
    """
    listed = [p for p in list(root.parents)[:_MOST_ABOVE] if (p / "CMakeLists.txt").is_file()]
    return listed[-1] if listed else given or root


def _shared_text(host: Mapping[str, str], folders: Iterable[Path]) -> str:
    """Text of the headers of the operator and the shared folders that its sources include."""

    def find(_: str, spelled: str) -> Iterator[tuple[str, str]]:
        own = next((t for p, t in host.items() if p.endswith("/" + spelled)), "")
        if own or not spelled.endswith(".h"):
            yield from [(spelled, own)] if own else []
            return
        path = next((f / spelled for f in folders if (f / spelled).is_file()), None)
        if path is not None:
            yield spelled, file_text(path)

    return "\n".join(layout.closure(host, find, 40).values())
