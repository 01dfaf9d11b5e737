"""How a host program is compiled: from an operator's sources, our headers and the runtime.

`cpp/README.md` says what is where.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ci.host.door.forwarding import LEVELS, forwarding
from ci.host.door.tiling_library import FLAG, TilingLibrary
from ci.host.source_tree import include_arguments, place_below
from ci.model import layout
from ci.model.layout import UNITS
from ci.model.operator import Operator
from ci.system.compiler import WARNINGS

HOST = Path(__file__).parent / "cpp"

HOST_FLAGS = (
    "-std=c++17", "-O0", "-g1", "-fpermissive", "-w",
    # Fields that a tiling function forgets to set are zero every time, not what the stack held.
    "-ftrivial-auto-var-init=zero",
    "-DOPS_UTILS_LOG_SUB_MOD_NAME=\"OP_TILING\"", "-DOPS_UTILS_LOG_PACKAGE_TYPE=\"\"",
)  # fmt: skip
"""Compiler flags of host sources and of the prelude: a precompiled header needs the same ones.

Permissive, because operators are built by other compilers: what those let pass (a member qualified
inside its class, a default argument given twice, a pointer converted silently) is no fault here."""

RUNTIME_FLAGS = ("-std=c++17", "-O1", "-g1", *WARNINGS)

OWN_LIBRARY = ("library_tiling.cpp", "matmul_tiling.cpp")
"""Sources of the runtime that a tiling library of the user's stands for."""

LOGGING = ("CheckLogLevel", "DlogRecord")

_BASE_LIBRARY = "detail/ops_base.h"

FORWARDING = "forwarding"
"""Folder next to the prelude: our headers' other paths."""


def prelude_texts() -> dict[str, str]:
    """Texts by path of the folder of `host_prelude.h`, which every host source includes first."""
    others = {f"{FORWARDING}/{path}": text for path, text in forwarding("host").items()}
    return {"host_prelude.h": f'#include "{HOST}/host_prelude.h"\n', **others}


def prelude_arguments(library: TilingLibrary | None = None) -> list[str]:
    """Compiler arguments that precompile `host_prelude.h` where `prelude_texts` lie, the cwd.

    With a tiling library of the user's, its `structs` lie there too.
    """
    return [
        *HOST_FLAGS,
        *((FLAG, "-I.") if library else ()),
        f"-I{HOST}",
        f"-I{FORWARDING}",
        *(library.include_arguments() if library else ()),
        "-x",
        "c++-header",
        "host_prelude.h",
    ]


def runtime_sources() -> list[Path]:
    """Sources of the runtime, each compiled with `RUNTIME_FLAGS` and `-I<host folder>`."""
    return sorted((HOST / "runtime").glob("*.cpp"))


def library_arguments(library: TilingLibrary) -> list[str]:
    """Compiler arguments for one source of a user's tiling library.

    The cwd holds its structs and `prelude_texts`.
    """
    return [
        *HOST_FLAGS,
        FLAG,
        # Our description of the platform stands for the tree's.
        "-DPLATFORM_ASCENDC_H",
        "-include",
        "tiling/platform/platform_ascendc.h",
        "-I.",
        f"-I{HOST}",
        *(f"-I{FORWARDING}/{level}" for level in ("", *LEVELS)),
        *library.include_arguments(),
    ]


def _instead_of_ours(operator: Operator, texts: Mapping[str, str]) -> list[Path]:
    """Folders of the repository with a header that the operator's sources include by a path that
    leads to our base library as well: no toolkit's, but one that repositories carry themselves."""
    asked = {
        spelled
        for name, text in texts.items()
        if layout.side(name) == layout.HOST
        for spelled in layout.included(text)
        if "/" in spelled and _BASE_LIBRARY in forwarding("host").get(spelled, "")
    }
    return [f for f in operator.tree_folders if any((f / path).is_file() for path in asked)]


def host_arguments(
    operator: Operator,
    texts: Mapping[str, str],
    prelude: Path,
    runtime: Sequence[Path],
    library: TilingLibrary | None = None,
    laid: Path | None = None,
) -> list[str]:
    """Compiler arguments, without output option, to build the program where `texts` are laid.

    `prelude` is the folder with the precompiled `host_prelude.h`, `runtime` the object files (with
    the archive of `library`, if there is one, last). Shared sources lie below `laid`.
    """
    ours = (n for n in operator.written_texts if n.startswith(f"{layout.HOST}/"))
    sides = (*operator.host_sources, *ours)
    units = [name for name in sides if name in texts and name.endswith(UNITS)]
    shared = operator.shared_paths
    sources = [
        str((laid or Path()) / place_below(operator, name)) if name in shared else name
        for name in units
    ]
    folders = dict.fromkeys(str(Path(name).parent) for name in texts if name not in shared)
    return [
        *HOST_FLAGS,
        *((FLAG, f"-I{prelude}") if library else ()),
        # What a repository may hold a copy of although the toolkit implements it.
        f"-I{HOST / 'ahead'}",
        *(f"-I{folder}" for folder in ("op_host", *folders)),
        "-I.",
        *include_arguments(operator, laid, _instead_of_ours(operator, texts)),
        f"-I{HOST}",
        *(f"-I{prelude / FORWARDING / level}" for level in ("", *LEVELS)),
        *(library.include_arguments() if library else ()),
        "-include",
        str(prelude / "host_prelude.h"),
        *sources,
        *map(str, operator.shared_host_sources),
        *map(str, runtime),
        # Headers of real operators define functions that are not inline.
        "-Wl,--allow-multiple-definition",
        # A tree's library looks up our logging by name.
        *(f"-Wl,--export-dynamic-symbol={name}" for name in LOGGING if library),
    ]
