"""The C++ compiler of this machine, and what it makes of our own sources."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from ci.model.errors import EnvironmentProblem, plainly

NEEDED = "_Float16 one(float x) { return static_cast<_Float16>(x); }"
"""What a compiler must know: g++ 12 does on x86-64, g++ 13 on aarch64."""

WARNINGS = ("-Wall", "-Wextra", "-Wshadow")
"""Our own C++ is free of these; operators' is theirs, and compiled without."""

DETAIL_LINES = 12
"""Lines of the compiler's text that are kept, from the first error on."""


@cache
def compiler() -> str:
    """Path of the first compiler that knows half precision: g++, then g++-N, the newest first.

    A distribution's g++ may be too old while a newer one is installed next to it, as on Ubuntu
    22.04. Raises EnvironmentProblem when there is none.
    """
    found = _compilers()
    for path in found:
        if _knows(path, NEEDED):
            return path
    newest = "g++-13" if platform.machine() == "aarch64" else "g++-12"
    if found:
        raise EnvironmentProblem(
            f"{found[0]} ({_said(found[0], '-dumpfullversion')}) does not know _Float16, which the "
            f"simulator needs; on Debian or Ubuntu: apt-get install -y {newest}"
        )
    raise EnvironmentProblem(
        "The simulator and its sandbox need the C++ compiler g++, which is not installed; "
        "on Debian or Ubuntu: apt-get install -y g++"
    )


@cache
def compiler_version() -> str:
    """Full version of the compiler and the machine it builds for.

    Raises EnvironmentProblem when there is none.
    """
    return f"{compiler()} {_said(compiler(), '-dumpfullversion', '-dumpmachine')}"


def _compilers() -> list[str]:
    numbered: dict[int, str] = {}
    for folder in os.get_exec_path():
        for path in Path(folder).glob("g++-[0-9]*"):
            number = path.name.rpartition("-")[2]
            if number.isdigit() and os.access(path, os.X_OK):
                numbered.setdefault(int(number), str(path))
    plain = shutil.which("g++")
    return [*([plain] if plain else []), *(numbered[n] for n in sorted(numbered, reverse=True))]


def _said(path: str, *asked: str) -> str:
    try:
        done = subprocess.run([path, *asked], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as problem:
        raise EnvironmentProblem(
            f"The compiler {path} does not start: {plainly(problem)}"
        ) from problem
    return " ".join(done.stdout.split())


def _knows(path: str, text: str) -> bool:
    asked = [path, "-std=c++17", "-fsyntax-only", "-x", "c++", "-"]
    try:
        done = subprocess.run(asked, input=text, capture_output=True, text=True, check=False)
    except OSError:
        return False
    return done.returncode == 0


# The linker names what is missing before it says that there was an error.
COMPLAINT = re.compile(r"\berror\b|undefined reference|multiple definition")


def compile_trusted(arguments: Sequence[str], cwd: Path) -> str:
    """Compile our own sources; answers the compiler's warnings.

    Raises EnvironmentProblem with the compiler's words.
    """
    done = subprocess.run(
        [compiler(), *arguments], cwd=cwd, capture_output=True, text=True, errors="replace"
    )
    if done.returncode:
        lines = done.stderr.splitlines()
        first = next((i for i, line in enumerate(lines) if COMPLAINT.search(line)), 0)
        shown = "\n".join(lines[first : first + DETAIL_LINES])
        raise EnvironmentProblem(
            f"The simulator and its sandbox cannot be built on this machine:\n{shown}"
        )
    return done.stderr
