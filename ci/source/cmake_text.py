"""Reads of an operator's CMakeLists.txt what the build needs: options, folders, shared sources."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from ci.model.layout import HOST, KERNEL
from ci.source.definition import tiling_functions
from rules.architectures import architectures

# Targets whose sources tile or declare an operator; `opapi` sources call the runtime instead.
_HOST_TARGETS = r"optiling|opsproto|op_host_aclnn\w*"
_MAX_SHARED_SOURCES = 80
_DEPENDENCIES = re.compile(r"\bDEPENDENCIES\s+((?:[\w.]+\s*)+)\)")


@dataclass(frozen=True)
class BuildText:
    """What CMakeLists.txt says, paths absolute and existing, inside the repository."""

    auto_sync: bool = True
    compile_options: tuple[str, ...] = ()
    include_folders: tuple[Path, ...] = ()
    shared_sources: tuple[Path, ...] = ()
    own_sources: frozenset[Path] = frozenset()


def read_build(root: Path, top: Path) -> BuildText:
    """The build facts of the operator at `root` in the repository at `top`."""
    path = root / "CMakeLists.txt"
    text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    text = re.sub(r"#[^\n]*", "", text)
    variables = _variables(root, top)
    for name, pattern in re.findall(r"file\(\s*GLOB\w*\s+(\w+)\s+([^)]*)\)", text):
        variables[name] = " ".join(p.strip('"') for p in pattern.split())
    options: list[str] = []
    for body in re.findall(r"add_ops_compile_options\(([^)]*)\)", text):
        options += re.sub(r"^.*?\bOPTIONS\b", "", body, flags=re.DOTALL).split()
    folders = [_resolve(o[2:], variables, root) for o in options if o.startswith("-I")]
    for body in re.findall(
        rf"target_include_directories\(\s*(?:{_HOST_TARGETS})\s+(?:PRIVATE|PUBLIC)?([^)]*)\)", text
    ):
        folders += [_resolve(word, variables, root) for word in body.split()]
    folders += [root / "op_host", root / "op_kernel"]
    folders += [top / "src/common/inc", top / "src/common/inc/foreach/op_kernel"]
    folders += [top / "common/inc", top / "common/inc/op_host", top / "common/stub/inc"]
    if (top / "common" / "inc").is_dir():  # the ops-math layout includes from category and top
        folders += [root.parent, top]
    needed = _dependencies(root)
    folders += [folder / side for folder in needed for side in (HOST, KERNEL)]
    inside = [f for f in folders if f is not None and f.is_dir() and _within(f, top, root)]
    own, shared = _host_sources(text, variables, root, top)
    shared += [unit for folder in needed for unit in _units(folder)]
    auto_sync = [o.split("=", 1)[1] for o in options if o.startswith("--cce-auto-sync=")]
    return BuildText(
        auto_sync=not auto_sync or auto_sync[-1] != "off",
        compile_options=tuple(o for o in options if not o.startswith(("-I", "-W"))),
        include_folders=tuple(dict.fromkeys(f.resolve() for f in inside)),
        shared_sources=tuple(shared),
        own_sources=frozenset(own),
    )


def _dependencies(root: Path) -> list[Path]:
    """Folders beside the operator's that its build names: what a family shares in ops-nn.

    One that is an operator itself counts where it tiles for this one, which has no tiling then;
    else it is met by what is included from it.
    """
    named: list[str] = []
    for path in (root / HOST / "CMakeLists.txt", root / "CMakeLists.txt"):
        text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
        for names in _DEPENDENCIES.findall(re.sub(r"#[^\n]*", "", text)):
            named += names.split()
    beside = [root.parent / name for name in dict.fromkeys(named)]
    units = [p for p in (root / HOST).rglob("*.cpp") if not _of_another_chip(p, root / HOST)]
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in units]
    # A definition names the function, too.
    tiles = any("TilingContext" in text and tiling_functions(text) for text in texts)
    return [
        f
        for f in beside
        if (f / HOST).is_dir() and not (tiles and list((f / HOST).glob("*_def.cpp")))
    ]


def _of_another_chip(path: Path, host: Path) -> bool:
    first = path.relative_to(host).parts[0]
    ours = [one.source_folder for one in architectures()]
    return re.fullmatch(r"arch\d+", first) is not None and first not in ours


def _units(folder: Path) -> list[Path]:
    """Host sources of a folder that several operators need: those of its own, and for our chip."""
    ours = [folder / HOST / one.source_folder for one in architectures()]
    found = [p for place in (folder / HOST, *ours) for p in sorted(place.glob("*.cpp"))]
    return [path for path in found if not path.stem.endswith("_def")]


def _variables(root: Path, top: Path) -> dict[str, str]:
    common = top / "src" / "common"
    return {
        "CMAKE_CURRENT_SOURCE_DIR": str(root),
        "CMAKE_SOURCE_DIR": str(top),
        "OP_COMMON_DIR": str(common if common.is_dir() else top / "common"),
        "OPS_ADV_DIR": str(top),
    }


def _resolve(word: str, variables: dict[str, str], root: Path) -> Path | None:
    text = word.strip('"')
    for name, value in variables.items():
        text = text.replace("${" + name + "}", value)
    return None if "$" in text or not text else (root / text).resolve()


def _within(path: Path, top: Path, root: Path) -> bool:
    resolved = path.resolve()
    return resolved.is_relative_to(top.resolve()) or resolved.is_relative_to(root.resolve())


def _host_sources(
    text: str, variables: dict[str, str], root: Path, top: Path
) -> tuple[list[Path], list[Path]]:
    """Host sources that the build lists: the operator's own, and those outside its folder."""
    found: list[Path] = []
    for body in re.findall(
        rf"target_sources\(\s*(?:{_HOST_TARGETS})\s+(?:PRIVATE|PUBLIC)?([^)]*)\)", text
    ):
        for word in body.split():
            name = word.strip("${}")
            for part in variables[name].split() if name in variables else [word]:
                found += _matching(part, variables, root)
    real = [
        p.resolve()
        for p in dict.fromkeys(found)
        if p.is_file() and p.suffix in (".cpp", ".cc") and _within(p, top, root)
    ]
    own = [p for p in real if p.is_relative_to(root.resolve())]
    return own, [p for p in real if p not in own][:_MAX_SHARED_SOURCES]


def _matching(word: str, variables: dict[str, str], root: Path) -> list[Path]:
    path = _resolve(word, variables, root)
    if path is None:
        return []
    if "*" in path.name:
        return sorted(path.parent.rglob(path.name)) if path.parent.is_dir() else []
    return [path]
