"""Builds the tiling library of a user's header tree against our host headers, once a tree."""

from __future__ import annotations

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ci.host.door.kernel_tiling import HEADER
from ci.host.door.tiling_library import TilingLibrary
from ci.host.host_command import library_arguments, prelude_arguments, prelude_texts
from ci.host.source_tree import lay
from ci.model.errors import EnvironmentProblem
from ci.system.cache import BuildCache, digest
from ci.system.compiler import compile_trusted, compiler_version


def library_prelude(library: TilingLibrary, cache: BuildCache, host_headers: str) -> Path:
    """Folder of the precompiled header for host code that calls the library, and its structs.

    `host_headers` is the digest of ours. Raises EnvironmentProblem when it does not compile.
    """
    arguments = prelude_arguments(library)

    def make(folder: Path) -> None:
        lay(folder, {**prelude_texts(), HEADER: library.structs})
        compile_trusted(arguments, folder)

    return cache.get("host_prelude", _key(library, arguments, host_headers), make)


def library_archive(library: TilingLibrary, cache: BuildCache, host_headers: str) -> Path:
    """The library's archive; about a minute of processor time when it is not there yet.

    A source that does not compile is left out: an operator that needs it says so when it is linked.
    Raises EnvironmentProblem when none compiles.
    """
    arguments = library_arguments(library)

    def make(folder: Path) -> None:
        lay(folder, {**prelude_texts(), HEADER: library.structs})
        problems: list[EnvironmentProblem] = []

        def one(numbered: tuple[int, Path]) -> None:
            number, source = numbered
            try:
                compile_trusted([*arguments, "-c", str(source), "-o", f"unit{number}.o"], folder)
            except EnvironmentProblem as problem:
                problems.append(problem)

        with ThreadPoolExecutor(max_workers=min(4, os.cpu_count() or 1)) as pool:
            list(pool.map(one, enumerate(library.sources)))
        objects = sorted(path.name for path in folder.glob("*.o"))
        if not objects:
            raise problems[0]
        subprocess.run(["ar", "rcs", "library.a", *objects], cwd=folder, check=True)
        for name in objects:
            (folder / name).unlink()

    return cache.get("object", _key(library, arguments, host_headers), make) / "library.a"


def _key(library: TilingLibrary, arguments: list[str], host_headers: str) -> str:
    return digest([compiler_version(), *arguments, host_headers, library.digest])
