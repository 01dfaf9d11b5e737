"""Finds operators in a repository and reads what they declare, without compiling anything.

Layouts: cann-ops (`src/<category>/<op>/{op_host,op_kernel}`, also `src/contrib/...`) and ops-math
(`<category>/<op>/{op_host,op_kernel}`). In any other folders an operator is found by what its
sources say (`placed.py`); they go by the names `op_host/…` and `op_kernel/…` all the same.
"""

from __future__ import annotations

import contextlib
import difflib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, Literal

from ci.model import layout
from ci.model.amount import amount
from ci.model.errors import InputError
from ci.model.folder_walk import is_text
from ci.model.operator import AttrSpec, Operator, SharedSource
from ci.model.regular_file import file_text
from ci.source.build.facts import build_facts, read_build
from ci.source.build.host_units import neighbour_sources, own_sources
from ci.source.build.tree import folders_of_tree
from ci.source.declared import (
    Declared,
    declared,
    host_of,
    kernel_of,
    names_our_chip,
    sources_that_define,
    sources_that_tile,
    tiles,
)
from ci.source.definition import find_definitions, tiling_functions
from ci.source.launch_places import SUFFIXES
from ci.source.launched.load import is_launched, launched_folders, launched_operator
from ci.source.launcher_attributes import launcher_attributes
from ci.source.placed import (
    Placed,
    entries_of,
    has_more_folders,
    is_unit,
    operator_folders,
    placed_in,
    plain,
    refuse_too_large,
    registered,
    too_large,
    without_kernel,
)
from ci.source.seen_kernels import holds_none, no_kernel, no_operator, programs_kernel
from ci.source.shared_sources import shared_sources
from ci.source.sides import repository_of, shared_text, sides, sides_apart, sources, text_of
from ci.system.read_once import once

_MOST_ABOVE: Final = 6
"""Folders above an operator that may belong to its repository, where nobody says so."""

_MOST_FOLDERS: Final = 2_000
"""Most folders below one that is given for an operator and is no checkout's: it is answered in
seconds, from a slow disk, too."""


def find_operators(
    repository: Path, on_unread: Callable[[Path, str], object] | None = None
) -> list[Operator]:
    """Every operator of a repository that can be read, by category and name.

    `on_unread` is called with each place that looks like an operator and cannot be read, and why.
    Raises InputError when the path is missing or holds no operator at all; without `on_unread` also
    when none can be read.
    """
    if not repository.exists():
        raise InputError(f"There is no file or folder {repository}.")
    if not repository.is_dir():
        raise InputError(f"{repository} is a file; give the folder of a repository.")
    found, unread = [], {}
    for place in operator_places(repository):
        try:
            found.append(load_operator(place, repository))
        except InputError as problem:
            unread[place] = str(problem)
    if not found and (on_unread is None or not unread):
        why = next((why for place, why in unread.items() if not place.is_file()), "")
        raise InputError(why or no_operator(repository))
    for place, why in unread.items():
        if on_unread is not None:
            on_unread(place, why)
    return sorted(found, key=lambda o: (o.category, o.name))


def _nearest(path: Path) -> str:
    """A sentence with the entry next to `path`, or the operator of its checkout, most like it.

    '' where none is like it.
    """
    there = next(p for p in (path.absolute(), *path.absolute().parents) if p.is_dir())
    places = list(there.iterdir()) if there == path.absolute().parent else []
    if repository := repository_of(there):
        with contextlib.suppress(InputError):  # a home directory may be a checkout
            places += operator_folders(repository)
    near = difflib.get_close_matches(path.name, [place.name for place in places], n=1)
    if not near:
        return ""
    meant = next(place for place in places if place.name == near[0])
    return f" Did you mean {meant if path.is_absolute() else os.path.relpath(meant)}?"


def load_operator(path: Path, top: Path | None = None) -> Operator:
    """The operator of a folder: one with op_host and op_kernel, or the innermost one that holds an
    op definition and its kernel; or a repository with just one.

    `top`: where its repository begins, for one that neither git nor a build above it tells.

    Of a folder with several, `folder/<kernel's name>` or a source of it names one; the folder
    itself means the one that is called as it is. Raises InputError with a sentence that says what
    is missing and where.
    """
    key = ("operator", path.absolute(), top)
    return once(key, lambda: _load_operator(path, top))


def _load_operator(path: Path, top: Path | None) -> Operator:
    if not is_text(str(path.absolute())):
        raise InputError(no_path(path))
    if not _is_operator(path) and is_launched(path):
        return launched_operator(path, top)
    both = (layout.HOST, layout.KERNEL)
    if _is_operator(path.parent) and not path.is_file() and path.name not in both:
        return _read_operator(path.parent, path.name, top)
    if path.is_file():
        if not any(map(_is_operator, path.absolute().parents)):
            refuse_too_large(path)
        return _read_operator(*_of_source(path, top), top)
    if path.name in both and _is_operator(path.parent):
        path = path.parent
    apart = path.is_dir() and not _is_operator(path)
    if apart and not _of_repository(path, top) and has_more_folders(path, _MOST_FOLDERS):
        raise InputError(
            f"{path} is no operator: it holds more than {_MOST_FOLDERS:,} folders. Give the folder"
            " that holds op_host and op_kernel."
        )
    if _is_operator(path) or (apart and placed_in(path)):
        return _read_operator(path, top=top)
    one = Path(os.path.normpath(path.absolute()))
    around: list[Placed] = []
    if _of_repository(one.parent, top):
        with contextlib.suppress(InputError):
            around = placed_in(one.parent)
    if any(plain(other.kernel_name) == plain(one.name) for other in around):
        return _read_operator(one.parent, one.name, top)
    if not path.exists():
        raise InputError(f"There is no file or folder {path}.{_nearest(path)}")
    if path.name in both:
        path = path.parent
    has = {name: (path / name).is_dir() for name in both}
    if any(has.values()):
        missing = "op_kernel" if has["op_host"] else "op_host"
        raise InputError(
            f"{path} has no {missing} folder; an operator needs op_host and op_kernel."
        )
    if not path.is_dir():
        raise InputError(f"{path} is no folder; give the one with op_host and op_kernel.")
    if not any(path.iterdir()):
        raise InputError(f"The folder {path} is empty; an operator has op_host and op_kernel.")
    roots = list(operator_folders(path))
    if not roots:
        raise InputError(
            f"{path} has neither op_host nor op_kernel, and no folder in it has both, or a source"
            f" with an op definition and one with its kernel.{no_kernel(without_kernel(path))}"
        )
    if len(roots) > 1:
        some = ", ".join(str(r.relative_to(path)) for r in roots[:5])
        more = ", …" if len(roots) > 5 else ""
        raise InputError(
            f"{path} holds {amount(len(roots), 'operator')}; give the folder of one of"
            f" them ({some}{more})."
        )
    return _read_operator(roots[0], top=top)


def no_path(path: Path) -> str:
    """A sentence for the owner of a path that no report can hold."""
    place = str(path.absolute())
    return f"{place!a} is a path that is no UTF-8; rename what lies there."


def _of_repository(folder: Path, top: Path | None) -> bool:
    """Whether something says that a folder is a repository's, which may be looked through."""
    return repository_of(folder) is not None or bool(top and folder.is_relative_to(top.absolute()))


def _of_source(path: Path, top: Path | None) -> tuple[Path, str]:
    """The folder of the operator that a source belongs to, and the name of that in it, '' where it
    holds one. Raises InputError, for a definition without a kernel, too."""
    folder, side = path.parent.parent, path.parent.name
    in_side = side in (layout.HOST, layout.KERNEL) and path.suffix in layout.SOURCES
    if in_side and _is_operator(folder):
        return folder, _named_by(path) if len(places_in(folder)) > 1 else ""
    real = path.resolve()
    around = list(real.parents)[:_MOST_ABOVE] if is_unit(path.name) else []
    around = [one for one in around if _of_repository(one, top) and not _is_operator(one)]
    for above in around:
        for one in placed_in(above):
            if real in (above / one.definition, above / one.kernel):
                return above, one.kernel_name
    outer = around[-1] if around else None
    left = [] if outer is None else without_kernel(outer)
    if outer and (mine := [one for one in left if outer / one.definition == real]):
        raise InputError(no_kernel(mine).lstrip())
    said = f"{path} is a file; give the operator's folder, the one with op_host and op_kernel."
    if path.suffix in (*layout.SOURCES, *SUFFIXES) and "__global__" in text_of(path, outer):
        said += (
            " A kernel that a program launches itself has a workload in a folder of its own;"
            f" begin it with: ascendopt workload frame {path} --out FOLDER"
        )
    raise InputError(said)


def operator_places(top: Path) -> list[Path]:
    """What `load_operator` takes for each operator below `top`: its folder, or one in that for each
    of several that share it; then the sources of op definitions without a kernel."""
    folders = [folder for folder in operator_folders(top) if not holds_none(folder)]
    left = dict.fromkeys(top / one.definition for one in without_kernel(top))
    places = [*(place for folder in folders for place in places_in(folder)), *left]
    return [*places, *launched_folders(top), *too_large(top)]


def places_in(folder: Path) -> list[Path]:
    """The same for the folder of an operator or of several."""
    if not _is_operator(folder):
        several = placed_in(folder)
        return [folder / one.kernel_name for one in several] if len(several) > 1 else [folder]
    try:
        host = sources(folder, layout.HOST)
        if len(registered(t for p, t in host.items() if is_unit(p))) < 2:
            return [folder]
        known = declared(host, shared_text(host, ()))
        entries = entries_of(sources(folder, layout.KERNEL))
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
    text = text_of(source)
    entries = [name for _, name in entries_of({source.name: text})]
    names = entries if source.parent.name == layout.KERNEL else registered([text])
    return names[0] if len(names) == 1 else ""


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
    texts = sources(folder, layout.HOST)
    found = [one for p, text in texts.items() if is_unit(p) for one in find_definitions(text)]
    return any(not names_our_chip(one.socs) for one in found)


def other_chips(operator: Operator) -> tuple[str, ...]:
    """The chips that the definition names and that are of no family we know."""
    return tuple(soc for soc in operator.socs if not names_our_chip((soc,)))


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
        f"{root} holds {amount(len(known), 'operator')} ({names}); name one of them:"
        f" {root / first}."
    )


def _read_operator(root: Path, name: str = "", top: Path | None = None) -> Operator:
    root = root.resolve()
    apart = not _is_operator(root)
    host, kernel = sides_apart(root) if apart else sides(root)
    repository = repository_of(root)
    top = (repository or _top_without_git(root, top)).resolve()
    build = read_build(root, top, apart=apart)
    asking = folders_of_tree(build.tree, {**host, **kernel}, root, build.include_folders)
    by_tree = tuple(asking)
    folders = (*build.include_folders, *by_tree)
    whole = own_sources(root, host, build.own_sources, build.chips)
    known = declared(whole, shared_text(host, folders))
    if not known:
        if launched := programs_kernel(root, host, kernel):
            raise InputError(
                f"{root} declares no operator: a program launches its kernel. Begin a workload for"
                f" it with: ascendopt workload frame {root / launched} --out FOLDER"
            )
        raise InputError(
            f"No op definition in {root / 'op_host'}: no source there has a class derived from"
            " OpDef with OP_ADD."
        )
    here = {p.op_type for p in placed_in(root)} & known.keys() if apart else known.keys()
    op_type = _wanted(root, {one: known[one] for one in known if one in here}, name)
    definition_source, definition = known[op_type].source, known[op_type].definition
    if definition.open_name:
        raise InputError(
            f"{root / definition_source} declares {definition.open_name}, whose name only running"
            " it tells; write the name as a string, or go in a loop through a list of strings."
        )
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
    if apart:
        units = [path for path in work if is_unit(path)]
        used = layout.IncludeGraph(work).reachable(units)
        work = {path: text for path, text in work.items() if path in used}
    work = _named_by_build(root, work, build.taken_sources, definition_source)
    others = [*build.shared_sources]
    others += neighbour_sources(root, top, work, folders)
    hosts = [*work.values(), *map(file_text, others)]
    elsewhere = sources_that_define(build.tree, hosts, build.chips)
    if not any(tiles(text, op_type) for text in hosts):
        elsewhere += sources_that_tile(build.tree, op_type, build.chips)
    if elsewhere:
        others += elsewhere
        others += neighbour_sources(root, top, {str(p): file_text(p) for p in elsewhere}, folders)
    theirs = {str(path): text_of(path, top) for path in others}
    asking |= folders_of_tree(build.tree, theirs, root, folders)
    by_tree = tuple(asking)
    common: dict[str, str] = {}
    if repository is not None and not apart:
        texts = {**work, **kernel}
        common = shared_sources(root, repository, texts, folders, others)
        taken = {(repository / place).resolve() for place in common.values()}
        others = [path for path in others if path.resolve() not in taken]
    for name, place in common.items():
        side = kernel if name.startswith(layout.KERNEL + "/") else work
        side[name] = text_of((repository or root) / place, top)
    functions = {p: tiling_functions(t) for p, t in work.items() if is_unit(p)}
    tiling_sources = tuple(p for p, names in functions.items() if names)
    if not (tiling_sources or build.shared_sources or elsewhere):
        raise InputError(
            f"No host tiling in {root / 'op_host'}: no source there has a function on"
            " gert::TilingContext."
        )
    compiled = build.options(definition.op_type, definition.socs, known.keys() - {op_type})
    shared = [SharedSource(name=n, path=p) for n, p in common.items()]
    if repository is not None:
        inside = root.relative_to(repository.resolve())
        both = [p for p in (*work, *kernel) if p in beside and not apart]
        shared += [SharedSource(name=p, path=(inside / p).as_posix()) for p in both]
    names = {p: p for p in (*work, *kernel)}
    if apart:
        inside = root.relative_to(repository.resolve() if repository else root)
        paths = {p: (inside / p).as_posix() for p in names}
        names = {p: f"{layout.HOST if p in work else layout.KERNEL}/{paths[p]}" for p in names}
        shared = [SharedSource(name=names[p], path=paths[p], own=p not in beside) for p in names]
    # As `places_in` calls it.
    called = entry_name if plain(entry_name) == plain(op_type) else op_type
    return Operator(
        name=called if len(here) > 1 else entry_name if root == repository else root.name,
        op_type=definition.op_type,
        category=root.parent.name,
        root=root,
        repository=repository,
        layout=_layout(root),
        host_sources=tuple(names[p] for p in work),
        kernel_sources=tuple(names[p] for p in kernel),
        definition_source=names[definition_source],
        tiling_sources=tuple(names[p] for p in tiling_sources),
        tiling_functions=tuple(dict.fromkeys(n for p in tiling_sources for n in functions[p])),
        kernel_entry=names[entry],
        inputs=definition.inputs,
        outputs=definition.outputs,
        attrs=definition.attrs or _left_out(root, definition.op_type, work),
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
        shares_folder=len(here) > 1,
    )


def _left_out(root: Path, op_type: str, work: Mapping[str, str]) -> tuple[AttrSpec, ...]:
    """The attributes of a definition without any, whose host side asks for some."""
    if any("GetAttrs" in text for text in work.values()):
        with contextlib.suppress(InputError):  # a link out of the folder: they stay unknown
            return launcher_attributes(op_type, sources(root, ".").values())
    return ()


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


def _top_without_git(root: Path, given: Path | None) -> Path:
    """The outermost folder above an operator that a build begins in, else the one that was given;
    the operator's own without.

    Nothing else says where its repository ends, and what lies around it is not ours to read.
    """
    listed = [p for p in list(root.parents)[:_MOST_ABOVE] if (p / "CMakeLists.txt").is_file()]
    return listed[-1] if listed else given or root
