"""The build facts of an operator: one structure, read from the repository's own build.

First what the repository's cmake says when it is evaluated; where it cannot be evaluated, what the
texts of the operator's own CMakeLists.txt say. The tree answers for includes that neither explains.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path, PurePosixPath

from ci.model.build_setting import CONFIG_FILE, BuildSetting
from ci.model.folder_walk import files_below
from ci.model.layout import HOST, KERNEL, UNITS
from ci.model.operator import BuildFact
from ci.model.regular_file import file_text
from ci.source.build.calls import Call, calls_in_text
from ci.source.build.chips import ChipFolders, chip_folders, chip_words
from ci.source.build.evaluation import (
    Evaluation,
    Target,
    Tree,
    build_root,
    evaluated,
    operator_roots,
    tree_of,
)
from ci.source.build.host_units import calls_runtime, works_for_host
from ci.source.build.scripts import compilations
from ci.source.build.settings import build_setting
from ci.source.build.sync import Entry, Sync, entry_of, for_operator, synchronisation
from ci.source.definition import tiling_functions
from rules.architectures import architectures

_MOST_SHARED_SOURCES = 80


@dataclass(frozen=True)
class BuildFacts:
    """What the build says of one operator; paths are absolute, exist and lie in the repository."""

    tree: Tree
    calls: tuple[Call, ...]
    include_folders: tuple[Path, ...]
    shared_sources: tuple[Path, ...]
    own_sources: frozenset[Path]
    """The sources of its op_host that the build lists and that do the host's work."""
    taken_sources: frozenset[Path]
    """All of its op_host that some target takes."""
    chips: ChipFolders
    folder: Path
    begins: str = ""
    """The folder, from the top, where the build begins that the operator belongs to."""
    problem: str = ""
    """Why cmake could not evaluate the build; then its text was read."""
    setting: BuildSetting = BuildSetting()
    """What a person says of it."""
    definitions: Mapping[str, str] = field(default_factory=dict)
    """Macros, as options, that the build gives a kernel that a program launches, and who does."""
    said_by: Mapping[Path, str] = field(default_factory=dict)
    """Who asks for an include folder, of those that are not the operator's own."""

    def options(
        self, op_type: str, declared: Iterable[str] = (), others: Collection[str] = ()
    ) -> Options:
        """What holds for the kernel on the chip that we know; `declared` are the chips that the
        definition names, `others` the types of other operators in the folder."""
        ours = self.tree.inside(self.folder)
        unit = next(one.definition_word for one in architectures())
        chips = chip_words(self.tree) | {chip.lower() for chip in declared}
        calls = for_operator(self.calls, ours, op_type, unit, chips, others)
        entry = entry_of(self.tree, op_type, unit)
        texts = _in_texts(self.folder, self.tree.top, self.begins)
        texts = for_operator(texts, ours, op_type, unit, chips, others)
        sync = synchronisation(calls, entry, texts, evaluated=not self.problem)
        if self.setting.auto_sync is not None:
            sync = Sync(self.setting.auto_sync, CONFIG_FILE)
        own = (*(f"-D{one}" for one in self.setting.definitions), *self.setting.options)
        said_by = {**_kernel_options(calls, entry), **self.definitions}
        said_by |= dict.fromkeys(own, CONFIG_FILE)
        return Options(sync, said_by)


@dataclass(frozen=True)
class Options:
    """How a kernel is compiled."""

    sync: Sync
    said_by: Mapping[str, str]
    """The options, and who gives each."""

    @property
    def options(self) -> tuple[str, ...]:
        """What the kernel's compiler is given."""
        return tuple(self.said_by)


def _kernel_options(calls: Iterable[Call], entry: Entry | None) -> dict[str, str]:
    """The options, and who gives each."""
    found: dict[str, str] = {}
    for call in calls:
        for word in call.after("OPTIONS"):
            if word.startswith("-"):
                found.setdefault(word, call.place)
    if entry:
        found = dict.fromkeys(entry.options, entry.place) | found
    return {o: place for o, place in found.items() if not o.startswith(("-I", "-W"))}


def build_facts(
    build: BuildFacts, compiled: Options, by_tree: Mapping[Path, str]
) -> tuple[BuildFact, ...]:
    """What holds for the operator in words, with who says so; `by_tree` are folders that only the
    repository's tree explains, and an include that asks for each."""
    top = build.tree.top
    included = frozenset(build.include_folders)
    folders = {p: by for p, by in build.said_by.items() if p in included}
    folders |= {p: f"the repository's tree, for {spelled}" for p, spelled in by_tree.items()}
    word = {True: "on", False: "off", None: "open"}[compiled.sync.on]
    return (
        *(
            BuildFact(fact=f"include {path.relative_to(top).as_posix()}", said_by=by)
            for path, by in folders.items()
        ),
        *(BuildFact(fact=f"option {one}", said_by=by) for one, by in compiled.said_by.items()),
        BuildFact(fact=f"auto_sync {word}", said_by=compiled.sync.said_by),
    )


def read_build(
    root: Path, top: Path, *, apart: bool = False, launched: Path | None = None
) -> BuildFacts:
    """The build facts of the operator at `root` in the repository at `top`.

    `apart`: its sources lie anywhere below `root`, not in op_host and op_kernel. `launched`: the
    source of a kernel that a program launches, which then is one of its build's own.

    Raises InputError when what a person says of them in `.ascendopt.yml` is no setting.
    """
    root, top = root.resolve(), top.resolve()
    tree = tree_of(top)
    ours = tree.inside(root)
    begins = build_root(tree, ours)
    said = evaluated(tree, begins)
    problem = said.problem
    own = [call for call in said.calls if call.file.startswith(ours)]
    side = "" if apart else f"{HOST}/"
    if problem or (apart and not own):
        own = list(_in_texts(root, top, begins)) or list(_by_scripts(tree, ours, launched))
    calls = (*(c for c in said.calls if not c.file.startswith(ours)), *own)
    setting = build_setting(top, ours.rstrip("/"))
    said_by = {top / one: CONFIG_FILE for one in setting.include}
    said_by |= {p: place for p, place in _asked(own, top).items() if p not in said_by}
    folders = [*said_by, root / HOST, root / KERNEL]
    by_targets = _of_targets(said, tree, begins, ours + side)
    folders += by_targets
    mine, shared = _host_sources(own, root, top)
    chips = chip_folders(tree, ours).of_operator(
        (p for p in tree.files if p.startswith(ours + side) and p.endswith(UNITS)),
        (p.relative_to(top).as_posix() for p in mine),
    )
    taken = _taken_by_targets(said, tree, ours + side, chips)
    mine += filter(_for_tiling, taken)
    needed = _dependencies(own, root, top, chips)
    by_need = {one / side: "DEPENDENCIES of its build" for one in needed for side in (HOST, KERNEL)}
    folders += by_need
    shared += [unit for one in needed for unit in _units(one, chips)]
    return BuildFacts(
        tree=tree,
        calls=calls,
        include_folders=tuple(dict.fromkeys(f.resolve() for f in folders if f.is_dir())),
        shared_sources=tuple(shared),
        own_sources=frozenset(mine),
        taken_sources=frozenset(mine) | taken,
        chips=chips,
        problem=problem,
        folder=root,
        begins=begins,
        setting=setting,
        definitions=_definitions(said, tree, launched) if launched is not None else {},
        said_by={
            folder.resolve(): place
            for folder, place in (by_need | by_targets | said_by).items()
            if not folder.is_relative_to(root)
        },
    )


def target_of(top: Path, source: Path) -> Target | None:
    """The first target of the build that takes a source of the repository at `top`; None where
    none does, or the build cannot be evaluated."""
    tree = tree_of(top.resolve())
    begins = build_root(tree, tree.inside(source.parent.resolve()))
    return _taking(evaluated(tree, begins), tree, source)


def _taking(said: Evaluation, tree: Tree, source: Path) -> Target | None:
    place = source.resolve().relative_to(tree.top).as_posix()
    return next((one for one in said.targets if place in one.sources), None)


def _definitions(said: Evaluation, tree: Tree, source: Path) -> dict[str, str]:
    """What its target gives a source, and which that is."""
    target = _taking(said, tree, source)
    return {f"-D{one}": f"target {target.name}" for one in target.definitions} if target else {}


def _in_texts(root: Path, top: Path, begins: str) -> Iterable[Call]:
    sides = (root / HOST, root / KERNEL)
    for folder in (root, *(sides if all(s.is_dir() for s in sides) else _folders_in(root))):
        path = folder / "CMakeLists.txt"
        if path.is_file():
            variables = {
                "CMAKE_CURRENT_SOURCE_DIR": folder.relative_to(top).as_posix(),
                "CMAKE_SOURCE_DIR": begins or ".",
                "PROJECT_SOURCE_DIR": begins or ".",
            }
            text = file_text(path)
            yield from calls_in_text(text, path.relative_to(top).as_posix(), variables)


def _by_scripts(tree: Tree, ours: str, launched: Path | None) -> Iterator[Call]:
    """What scripts give the compiler for the sources of the operator, whose paths begin with
    `ours`, or for the kernel that a program launches."""
    source = "" if launched is None else launched.resolve().relative_to(tree.top).as_posix()
    for one in compilations(tree, (source or ours).rpartition("/")[0]):
        if one.source == source or (not source and one.source.startswith(ours)):
            yield Call("compile", ("ALL", "OPTIONS", *one.options), one.script, 0)


def _folders_in(root: Path) -> list[Path]:
    """The folders in an operator's that are not hidden."""
    return sorted(p for p in root.iterdir() if p.is_dir() and not p.name.startswith("."))


def _place(word: str, call: Call, top: Path) -> Path | None:
    """What a word of a call means as a path, None for one outside of the repository."""
    if "$" in word or not word:
        return None
    beside = (top / call.file).parent / word
    path = (beside if beside.exists() else top / word).resolve()
    return path if path.is_relative_to(top) else None


def _asked(calls: Iterable[Call], top: Path) -> dict[Path, str]:
    """Include folders that the operator's own build asks for, and where."""
    found: dict[Path, str] = {}
    for call in calls:
        words = [word[2:] for word in call.arguments if word.startswith("-I")]
        if call.command.lower() == "target_include_directories":
            words += call.arguments[1:]
        for word in words:
            if (path := _place(word, call, top)) is not None:
                found.setdefault(path, call.place)
    return found


def _of_targets(said: Evaluation, tree: Tree, begins: str, ours: str) -> dict[Path, str]:
    """Include folders of the targets that take the operator's host sources (paths that begin with
    `ours`), and which does, without those that only other operators asked for: a target that many
    share collects what each wants."""
    found: dict[str, str] = {}
    for target in said.targets:
        mine = [source for source in target.sources if source.startswith(ours)]
        if any(_for_tiling(tree.top / source) for source in mine):
            for one in target.include_folders:
                found.setdefault(one, f"target {target.name}")
    others = _asked_by_operators(tree, begins)
    return {tree.top / one: target for one, target in found.items() if one not in others}


def _taken_by_targets(
    said: Evaluation, tree: Tree, ours: str, chips: ChipFolders
) -> frozenset[Path]:
    """Host sources of the operator, whose paths begin with `ours`, that targets take, be it by what
    the repository's own functions look for in its folder."""
    return frozenset(
        tree.top / source
        for target in said.targets
        for source in target.sources
        if source.startswith(ours) and not chips.another_s(source.removeprefix(ours))
    )


@lru_cache(maxsize=8)
def _asked_by_operators(tree: Tree, begins: str) -> frozenset[str]:
    """Include folders, from the top, that builds of single operators ask for."""
    roots = operator_roots(tree)
    found: set[str] = set()
    for call in evaluated(tree, begins).calls:
        if call.command.lower() != "target_include_directories":
            continue
        if any(above.as_posix() in roots for above in PurePosixPath(call.file).parents):
            places = (_place(word, call, tree.top) for word in call.arguments[1:])
            found |= {p.relative_to(tree.top).as_posix() for p in places if p is not None}
    return frozenset(found)


def _for_tiling(path: Path) -> bool:
    if not path.is_file() or path.suffix not in UNITS:
        return False
    text = file_text(path)
    return works_for_host(text) and not calls_runtime(text)


def _dependencies(calls: Iterable[Call], root: Path, top: Path, chips: ChipFolders) -> list[Path]:
    """Folders that the operator's build names as what it depends on: what a family shares.

    One that is an operator itself counts where it tiles for this one, which has no tiling then;
    else it is met by what is included from it.
    """
    named = dict.fromkeys(name for call in calls for name in call.after("DEPENDENCIES"))
    found = [p for name in named if (p := _folder_named(name, root, top)) is not None]
    units = [
        path
        for path in files_below(root / HOST, ".cpp")
        if not chips.another_s(path.relative_to(root / HOST).as_posix())
    ]
    texts = [file_text(path) for path in units]
    # A definition names the function, too.
    tiles = any("TilingContext" in text and tiling_functions(text) for text in texts)
    return [f for f in found if not (tiles and list((f / HOST).glob("*_def.cpp")))]


def _folder_named(name: str, root: Path, top: Path) -> Path | None:
    """The folder with host sources that a dependency means: next to the operator, else from the
    top."""
    for place in (root.parent / name, top / name):
        if (place / HOST).is_dir() and place.resolve().is_relative_to(top):
            return place
    return None


def _units(folder: Path, chips: ChipFolders) -> list[Path]:
    """Host sources of a folder that several operators need: those of its own, and for our chip."""
    ours = [folder / HOST / one for one in sorted(chips.ours)]
    found = [p for place in (folder / HOST, *ours) for p in sorted(place.glob("*.cpp"))]
    return [path for path in found if not path.stem.endswith("_def")]


def _host_sources(calls: Iterable[Call], root: Path, top: Path) -> tuple[list[Path], list[Path]]:
    """Host sources that the operator's build lists: its own, and those outside its folder."""
    found: dict[Path, None] = {}
    for call in calls:
        if call.command.lower() != "target_sources":
            continue
        for word in call.arguments[1:]:
            path = _place(word, call, top)
            if path is not None and path.is_file() and path.suffix in (".cpp", ".cc"):
                found[path] = None
    host = [
        path for path in found if KERNEL not in path.parts and not calls_runtime(file_text(path))
    ]
    own = [p for p in host if p.is_relative_to(root)]
    return own, [p for p in host if p not in own][:_MOST_SHARED_SOURCES]
