"""Which overloads of instructions real headers call, and which of them the machine lacks.

The C API of an asc-devkit tree wraps every instruction in plain functions, one an overload, with
concrete types. They are compiled against the machine: what the object file then leaves undefined
are the overloads that the machine declares; where no overload fits, the compiler says with which
types it was called.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from pydantic import Field

from ci.host.door import FrontDoor
from ci.host.source_tree import lay
from ci.model.errors import InputError
from ci.model.frozen import Frozen
from ci.system.compiler import compiler

C_API: Final = "c_api/asc_simd.h"
_NO_OVERLOAD = re.compile(r"error: no matching function for call to ‘(\w+)\((.*)\)’")
_WRONG_COUNT = re.compile(r"error: too (?:many|few) arguments to function ‘\w+ (\w+)\(")
_UNDECLARED = re.compile(r"error: ‘(\w+)’ was not declared in this scope")
_SYMBOL = re.compile(r"^ +U (\w+)\((.*)\)$")


class Signatures(Frozen):
    """Overloads of instructions, such as `vadd(half*, half*, …)`."""

    present: tuple[str, ...]
    lacking: tuple[str, ...] = Field(description="Called by the headers, not in the machine.")


def signatures(
    door: FrontDoor, flags: Sequence[str], instructions: Iterable[str]
) -> Signatures | None:
    """The overloads of these instructions that the C API calls; None when there is no C API.

    `flags` are those that kernels for cube cores are compiled with.
    """
    if not any((folder / "include" / C_API).is_file() for folder in door.readable):
        return None
    wanted = frozenset(instructions)
    lacking: dict[str, str] = {}
    said = _compile(door, flags, ())[0]
    for line in said.splitlines():
        for pattern in (_NO_OVERLOAD, _WRONG_COUNT, _UNDECLARED):
            found = pattern.search(line)
            if found:
                types = found[2] if pattern is _NO_OVERLOAD else "…"
                lacking[f"{found[1]}({types.replace('&', '')})"] = found[1]
    said, symbols = _compile(door, flags, sorted(set(lacking.values())))
    lacking = {call: name for call, name in lacking.items() if not name.isupper()}
    if not symbols:
        raise InputError(f"The C API does not compile: {said.strip()[:500]}")
    present = {
        f"{match[1]}({match[2].replace('_Float16', 'half')})"
        for match in map(_SYMBOL.match, symbols.splitlines())
        if match and match[1] in wanted and match[2] != "..."
    }
    return Signatures(present=tuple(sorted(present)), lacking=tuple(sorted(lacking)))


def _compile(door: FrontDoor, given: Sequence[str], missing: Iterable[str]) -> tuple[str, str]:
    """What the compiler says of the C API, and the symbols that its object leaves undefined.

    A function that takes anything replaces each of `missing`, since real overloads go before
    it; nothing at all replaces a constant.
    """
    stand_ins = "\n".join(
        f"#define {name} {{}}" if name.isupper() else f"int64_t {name}(...);" for name in missing
    )
    text = f'{door.prefix}\n{stand_ins}\n#include "{C_API}"\n'
    with tempfile.TemporaryDirectory(prefix="ascendopt-coverage-") as name:
        lay(Path(name), {**door.generated, "prefix.cpp": text})
        plain = [f for f in given if not f.startswith("-O") and "sanitize" not in f]
        flags = ["-O0", "-fkeep-inline-functions", "-fmax-errors=0", "-w"]
        paths = [*door.arguments(), "-I."]
        done = _run([compiler(), *plain, *paths, *flags, "-c", "prefix.cpp"], name)
        if done.returncode:
            return done.stderr, ""
        return done.stderr, _run(["nm", "-uC", "prefix.o"], name).stdout


def _run(command: list[str], folder: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, errors="replace",
        env={"LC_ALL": "C.UTF-8", "PATH": "/usr/local/bin:/usr/bin:/bin"},
    )  # fmt: skip
