"""Evaluates a repository's own cmake, without toolkit, compiler and network.

The real cmake configures the tree in the sandbox. Ahead of the repository's CMakeLists.txt stands
`standins.cmake`: what the toolkit would define. Commands that nobody defines do nothing. Nothing is
generated or built. What comes back are the calls of all CMakeLists.txt with expanded arguments
(cmake's trace) and the targets with their sources, include folders and definitions.

A repository may hold several builds, each with a `project` of its own: the one that an operator
belongs to is evaluated.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from pathlib import Path, PurePosixPath

from ci.model import layout
from ci.model.errors import InputError
from ci.model.folder_walk import is_text
from ci.model.regular_file import file_bytes, file_text
from ci.source.build import presets
from ci.source.build.calls import Call, called_commands
from ci.source.placed import looked_through, placed
from ci.system.cache import BuildCache, digest
from ci.system.sandbox import Limits, run
from ci.system.scratch import scratch

SECONDS = 120.0
"""CPU time for a repository; the largest of those we know takes two seconds."""

_FLOW = frozenset(
    [
        "if",
        "elseif",
        "else",
        "endif",
        "foreach",
        "endforeach",
        "while",
        "endwhile",
        "function",
        "endfunction",
        "macro",
        "endmacro",
        "set",
        "unset",
        "message",
        "return",
        "list",
        "string",
        "math",
        "file",
        "include",
        "get_filename_component",
        "option",
    ]
)
"""Commands whose calls say nothing about a build."""

_PROJECT = re.compile(rb"^[ \t]*project[ \t]*\(", re.MULTILINE | re.IGNORECASE)

_CALM = ("/usr/bin/env", "UV_USE_IO_URING=0")
"""The sandbox ends a program that asks the kernel for a ring; cmake does without."""

_STANDINS = Path(__file__).with_name("standins.cmake")
_MOST_TRACE_BYTES = 256 << 20


@dataclass(frozen=True)
class Target:
    """A target's properties, paths from the repository's top where they lie in it."""

    name: str
    folder: str
    sources: tuple[str, ...] = ()
    include_folders: tuple[str, ...] = ()
    definitions: tuple[str, ...] = ()
    """`NAME` or `NAME=value` of each macro that it gives its sources."""


@dataclass(frozen=True)
class Evaluation:
    """What a repository's build says; `problem` is a sentence where it could not be evaluated."""

    calls: tuple[Call, ...] = ()
    targets: tuple[Target, ...] = ()
    folders: tuple[str, ...] = ()
    """Folders from the top that the build reads by itself, its own first."""
    problem: str = ""


@cache
def cmake_program() -> Path | None:
    """The cmake of the Python package, None where it is not installed."""
    spec = importlib.util.find_spec("cmake")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        program = Path(folder) / "data" / "bin" / "cmake"
        if program.is_file():
            return program.resolve()
    return None


@dataclass(frozen=True)
class Tree:
    """The files of a repository, paths from its top; `version` follows from what a build reads."""

    top: Path
    files: tuple[str, ...]
    version: str

    @property
    def listings(self) -> list[str]:
        """Files that cmake reads."""
        return [p for p in self.files if _is_listing(p)]

    def inside(self, folder: Path) -> str:
        """What the paths of all that lies in a folder begin with; '' for the top."""
        return "" if folder == self.top else folder.relative_to(self.top).as_posix() + "/"

    def text(self, path: str) -> str:
        """The text of a file; '' of a link, and of one that cannot be read."""
        return _bytes(self.top / path).decode("utf-8", "replace")


def _is_listing(path: str) -> bool:
    return path.endswith((".cmake", "CMakeLists.txt", ".cmake.in"))


def tree_of(top: Path) -> Tree:
    """The repository's files; hidden folders, pipes, devices and links that lead out left out."""
    return _tree(top, _state(top))


@lru_cache(maxsize=8)
def _tree(top: Path, _state: str) -> Tree:
    found = [*_files(top)]
    parts: list[str | bytes] = []
    for path in found:
        if _is_listing(path) or path.endswith(presets.FILE):
            parts += [path, _bytes(top / path)]
        elif path.endswith(layout.SOURCES):
            parts.append(path)
    return Tree(top, tuple(found), digest(parts))


def _files(top: Path) -> Iterator[str]:
    """Files of each folder by name, then those of the folders in it."""
    left = [""]
    while left:
        inside = left.pop()
        try:
            with os.scandir(top / inside) as listed:
                texts = (entry for entry in listed if is_text(entry.name))
                entries = sorted(texts, key=lambda entry: entry.name)
        except OSError:
            continue
        below = []
        for entry in entries:
            name = entry.name
            if entry.is_dir(follow_symlinks=False):
                if not name.startswith(".") and name != "node_modules":
                    below.append(f"{inside}{name}/")
            elif entry.is_file(follow_symlinks=False) or (
                entry.is_symlink() and _leads_to_a_file_of(top, Path(entry.path))
            ):
                yield inside + name
        left += reversed(below)


def _leads_to_a_file_of(top: Path, link: Path) -> bool:
    place = Path(os.path.realpath(link))
    return place.is_relative_to(top) and place.is_file()


def _state(top: Path) -> str:
    """What changes when the work tree of a checkout does; unique where that is not known.

    A tree under git is walked once a commit; edits of its build files are seen by their age.
    """
    git = top / ".git"
    if git.is_file():
        named = file_text(git).partition("gitdir:")[2].strip()
        git = (top / named).resolve()
    try:
        ages = [(git / name).stat().st_mtime_ns for name in ("index", "HEAD")]
    except OSError:
        return os.urandom(8).hex()
    first = top / "CMakeLists.txt"
    return str([*ages, first.stat().st_mtime_ns if first.is_file() else 0])


def _bytes(path: Path) -> bytes:
    try:
        return b"" if path.is_symlink() else file_bytes(path)
    except (OSError, InputError):
        return b""


def build_root(tree: Tree, folder: str) -> str:
    """The folder whose CMakeLists.txt begins the build of what is in `folder`, '' for the top.

    A project inside of another that reads it belongs to that; one that nobody reads is a build of
    its own. Both paths are from the top.
    """
    above = _above(folder)
    projects = [one for one in above if one in _projects(tree)]
    starts = [] if projects and _listing_in("") not in _known_listings(tree) else [""]
    chosen, *inner = dict.fromkeys([*starts, *projects])
    for one in inner:
        if one not in evaluated(tree, chosen).folders:
            chosen = one
    return chosen


def _above(folder: str) -> list[str]:
    """The top, and each folder on the way down to `folder`."""
    parts = PurePosixPath(folder).parts
    return ["", *("/".join(parts[: count + 1]) for count in range(len(parts)))]


def _listing_in(folder: str) -> str:
    return f"{folder}/CMakeLists.txt" if folder else "CMakeLists.txt"


@lru_cache(maxsize=8)
def _known_listings(tree: Tree) -> frozenset[str]:
    return frozenset(path for path in tree.files if path.endswith("CMakeLists.txt"))


@lru_cache(maxsize=8)
def _projects(tree: Tree) -> frozenset[str]:
    """Folders whose CMakeLists.txt calls `project`."""
    return frozenset(
        path.rpartition("/")[0]
        for path in _known_listings(tree)
        if _PROJECT.search(_bytes(tree.top / path))
    )


@lru_cache(maxsize=64)
def evaluated(tree: Tree, root: str = "") -> Evaluation:
    """What the build that begins in the folder `root` says; kept on disk by what it was read
    from."""
    if not _known_listings(tree):
        return Evaluation(problem="there is no CMakeLists.txt")
    program = cmake_program()
    if program is None:
        return Evaluation(problem="the Python package cmake is not installed")
    own = b"".join(p.read_bytes() for p in (_STANDINS, Path(__file__)))
    about = program.stat()
    parts = [tree.version, root, *_builds_of_operators(tree)]
    key = digest([own, f"{about.st_size} {about.st_mtime_ns}", *parts])

    def make(folder: Path) -> None:
        found = _evaluate(tree, root, program)
        if found.problem:
            raise _NotRead(found)
        (folder / "build.json").write_text(json.dumps(asdict(found)), encoding="utf-8")

    try:
        kept = json.loads((BuildCache().get("cmake", key, make) / "build.json").read_text("utf-8"))
    except _NotRead as stopped:
        return stopped.found
    calls = (Call(**{**one, "arguments": tuple(one["arguments"])}) for one in kept["calls"])
    lists = ("sources", "include_folders", "definitions")
    targets = (Target(**{**one, **{k: tuple(one[k]) for k in lists}}) for one in kept["targets"])
    return Evaluation(tuple(calls), tuple(targets), tuple(kept["folders"]))


class _NotRead(Exception):
    """Keeps what was not read to its end out of the cache: a busy machine may be the reason."""

    def __init__(self, found: Evaluation) -> None:
        super().__init__(found.problem)
        self.found = found


def _evaluate(tree: Tree, root: str, program: Path) -> Evaluation:
    with scratch("cmake") as folder:
        place = Path(folder).resolve()
        stage, out = place / "stage", place / "out"
        _stage(tree, root, program, stage)
        out.mkdir()
        trace = place / "trace.json"
        said = tree.text(f"{root}/{presets.FILE}".lstrip("/"))
        variables = presets.preset_variables(said, str(stage / root))
        done = run(
            [
                *_CALM, str(program), "-S", str(stage / root), "-B", str(out),
                "-G", "Unix Makefiles",
                "-DCMAKE_MAKE_PROGRAM=/bin/true", "--trace-expand", "--trace-format=json-v1",
                "--trace-source=CMakeLists.txt", f"--trace-source={_TOP}",
                f"--trace-redirect={trace}",
                *(f"-D{name}={value}" for name, value in variables.items()),
            ],
            cwd=place,
            readable=[tree.top, program.parent.parent],
            writable=[place],
            limits=Limits(seconds=SECONDS, processes=16),
        )  # fmt: skip
        names = _Names(stage, out, tree.top)
        calls = tuple(_calls(trace, names, root)) if trace.is_file() else ()
        lines, read = (_lines(out / f"standin_{what}.txt") for what in ("targets", "folders"))
        problem = ""
        if not lines or lines[-1] != "standin end":
            problem = _first_error(done.stderr.decode("utf-8", "replace")) or done.ending()
        folders = tuple("" if (one := names.inside(line)) == "." else one for line in read)
        return Evaluation(calls, tuple(_targets(lines, names)), folders, problem)


def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8", "replace").splitlines() if path.is_file() else []


_BEGIN = "cmake_minimum_required(VERSION 3.16)\nproject(operators NONE)\n"


_DEFINED = re.compile(r"^(?:macro|function)\((\w+)", re.MULTILINE)
_HOLDS = re.compile(
    r"\$<(?:BUILD_INTERFACE|\$<COMPILE_LANGUAGE:(?:\w+,)*(?:ASC|CXX)(?:,\w+)*>):([^<>]*)>"
)
"""A condition of cmake's that holds where a kernel or the program around it is built."""

_TOP = "standin_top.cmake"
"""The CMakeLists.txt of the build's root, included by ours."""


def _stage(tree: Tree, root: str, program: Path, stage: Path) -> None:
    """Lay a folder that looks like the repository, with our text ahead of the CMakeLists.txt in
    `root`."""
    way = _above(root)
    for place in way:
        (stage / place).mkdir()
        for path in (tree.top / place).iterdir():
            name = f"{place}/{path.name}" if place else path.name
            if path.name != ".git" and name not in (*way, _listing_in(root)):
                (stage / name).symlink_to(path)
    texts = {path: tree.text(path) for path in tree.listings}
    # Where a command is defined in what this configuration reads, that definition replaces ours.
    ahead = _STANDINS.read_text(encoding="utf-8")
    known = _builtin(program) | {*_DEFINED.findall(ahead)}
    missing = sorted(called_commands(texts.values()) - known)
    nothing = "".join(f"macro({name})\nendmacro()\n" for name in missing)
    operators, inner = (
        ";".join(
            PurePosixPath(one).relative_to(root).as_posix()
            for one in found
            if one != root and PurePosixPath(one).is_relative_to(root)
        )
        for found in (_builds_of_operators(tree), _quotable(sorted(_projects(tree))))
    )
    (stage / root / _TOP).write_text(texts.get(_listing_in(root), ""), encoding="utf-8")
    (stage / root / "CMakeLists.txt").write_text(
        f'{_BEGIN}set(STANDIN_OPERATORS "{operators}")\nset(STANDIN_PROJECTS "{inner}")\n'
        f"{ahead}{nothing}_include({_TOP})\nstandin_operators()\nstandin_end()\n",
        encoding="utf-8",
    )


@cache
def _builtin(program: Path) -> frozenset[str]:
    with scratch("cmake") as folder:
        place = Path(folder)
        asked = run(
            [*_CALM, str(program), "--help-command-list"],
            cwd=place,
            readable=[program.parent.parent],
            writable=[place],
            limits=Limits(seconds=20),
        )
    words = asked.stdout.decode().split()
    ends = ("else", "elseif", "endif", "endforeach", "endwhile", "endfunction", "endmacro")
    return frozenset({*words, *ends, "endblock"})


def _builds_of_operators(tree: Tree) -> list[str]:
    """Folders with a CMakeLists.txt that are an operator's, or those in it where it has none of its
    own."""
    listings = {path.rpartition("/")[0] for path in tree.files if path.endswith("CMakeLists.txt")}
    whole = layout.operators(tree.files)
    found = []
    for root in sorted(operator_roots(tree)):
        sides = [f"{root}/{layout.HOST}", f"{root}/{layout.KERNEL}"]
        if root not in whole:
            sides = [one for one in sorted(listings) if one.rpartition("/")[0] == root]
        found += [root] if root in listings else [one for one in sides if one in listings]
    return _quotable(found)


@lru_cache(maxsize=8)
def operator_roots(tree: Tree) -> frozenset[str]:
    """The folders of operators, whatever the folders in them are called, from the top."""
    apart = placed(looked_through(tree.top)[1])
    return frozenset(layout.operators(tree.files)) | {one.folder for one in apart if one.kernel}


def _quotable(paths: Iterable[str]) -> list[str]:
    """Return those that cmake reads as they are inside of quotes."""
    return [one for one in paths if not set(';"$\\') & set(one)]


class _Names:
    """Gives paths of the staged tree their names from the repository's top."""

    def __init__(self, stage: Path, out: Path, top: Path) -> None:
        self._roots = [str(stage) + "/", str(top.resolve()) + "/", str(top) + "/"]
        self._out = str(out)

    def named(self, word: str) -> str:
        if word.startswith("-I"):
            return "-I" + self.named(word[2:])
        for root in self._roots:
            if word.startswith(root):
                return os.path.normpath(word.removeprefix(root))
        return "." if word + "/" in self._roots else word

    def inside(self, word: str) -> str:
        """The path from the top, '' for one outside or in the build's folder."""
        name = self.named(word)
        return "" if Path(name).is_absolute() or "$" in name or not name else name


def _calls(trace: Path, names: _Names, root: str) -> Iterable[Call]:
    if trace.stat().st_size > _MOST_TRACE_BYTES:
        return
    top = f"{root}/{_TOP}" if root else _TOP
    with trace.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            try:
                said = json.loads(line)
            except json.JSONDecodeError:
                continue
            if "cmd" not in said or said["cmd"].lower() in _FLOW:
                continue
            file = names.inside(said["file"])
            if not file or file == _listing_in(root):  # ours
                continue
            file = _listing_in(root) if file == top else file
            words = [part for one in said["args"] for part in str(one).split(";") if part]
            yield Call(said["cmd"], tuple(names.named(w) for w in words), file, int(said["line"]))


def _targets(lines: list[str], names: _Names) -> Iterable[Target]:
    known: dict[str, dict[str, list[str]]] = {}
    folders: dict[str, str] = {}
    for line in lines:
        parts = line.split("\t")
        if len(parts) == 4:
            name, kind, folder, value = parts
            known.setdefault(name, {})[kind] = _plain(value)
            folders[name] = folder

    def linked(name: str, seen: set[str]) -> list[str]:
        if name in seen or name not in known:
            return []
        seen.add(name)
        own = list(known[name].get("INTERFACE_INCLUDE_DIRECTORIES", ()))
        for other in known[name].get("LINK_LIBRARIES", ()):
            own += linked(other, seen)
        return own

    for name, kinds in known.items():
        base = folders[name]
        asked = kinds.get("INCLUDE_DIRECTORIES", []) + linked(name, set())
        yield Target(
            name=name,
            folder=names.inside(base),
            sources=_within(kinds.get("SOURCES", ()), base, names),
            include_folders=_within(asked, base, names),
            definitions=_definitions(kinds),
        )


def _definitions(kinds: Mapping[str, list[str]]) -> tuple[str, ...]:
    options = kinds.get("COMPILE_OPTIONS", ())
    given = [*kinds.get("COMPILE_DEFINITIONS", ()), *(one for one in options if one[:2] == "-D")]
    found = dict.fromkeys(one.removeprefix("-D") for one in given)
    # Without a value behind the sign: a variable that whoever builds has to set.
    named = (one for one in found if one.partition("=")[0].isidentifier())
    return tuple(one for one in named if not one.endswith("="))


def _within(words: Iterable[str], base: str, names: _Names) -> tuple[str, ...]:
    whole = (w if Path(w).is_absolute() else os.path.normpath(f"{base}/{w}") for w in words)
    return tuple(dict.fromkeys(name for w in whole if (name := names.inside(w))))


def _plain(value: str) -> list[str]:
    """A list's elements; what holds for building a kernel is taken, other conditions are left
    out."""
    value = _HOLDS.sub(r"\1", value)
    return [word for word in value.split(";") if word and "$<" not in word and ">" not in word]


def _first_error(text: str) -> str:
    found = re.search(r"CMake Error[^\n]*\n\s*([^\n]+)", text)
    return found.group(1).strip() if found else ""
