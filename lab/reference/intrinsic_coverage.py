"""Which instructions the real AscendC headers call, and which of them the machine lacks.

    python -m lab.reference.intrinsic_coverage --asc-headers DIR [--json]

The headers are preprocessed on the device path of both kinds of cores. What they call without
declaring it anywhere is built into the device compiler: an instruction. The compiler is then asked
which of these names the machine declares.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import click
from pydantic import Field

from ci.host.door import FrontDoor, open_door
from ci.host.door.base import MACHINE
from ci.host.source_tree import lay
from ci.model.errors import InputError
from ci.model.frozen import Frozen
from ci.model.settings import DEFAULT_DEVICE
from ci.simulator.toolchain import CORE_KINDS, Toolchain
from ci.system.compiler import compiler
from lab.reference.signature_coverage import Signatures, signatures
from rules.devices import load_device

_LINE_MARK = re.compile(r'# \d+ "([^"]*)"')
_NOISE = re.compile(
    r'"(?:\\.|[^"\\\n])*"|\[\[[^\]]*\]\]|__attribute__\s*\(\([^()]*(?:\([^()]*\))?\)\)'
)
_TOKEN = re.compile(r"[A-Za-z_]\w*|::|->|&&|\d[\w.']*|[^\s\w]")
_INSTRUCTION = re.compile(r"[a-z][a-z0-9_]*[a-z0-9]")
_STATEMENTS = "return else do case throw goto if while for switch new delete and or not constexpr"
_NOT_A_TYPE = frozenset(_STATEMENTS.split())
_RESERVED = (
    "if for while switch return sizeof static_assert decltype alignof alignas noexcept catch "
    "constexpr operator static_cast reinterpret_cast const_cast dynamic_cast new delete typeid "
    "throw asm requires explicit void bool char short int long float double unsigned signed auto "
    "half defined memcpy memset memmove printf"
)
_WORDS = frozenset(_RESERVED.split())
_BEHIND_A_DEFINITION = frozenset(("{", "const", "noexcept", "override", "->"))


class Coverage(Frozen):
    """Instructions by name."""

    headers: str = Field(description="The tree, by name and digest.")
    called: tuple[str, ...]
    lacking: tuple[str, ...] = Field(description="Called by the headers, not in the machine.")
    signatures: Signatures | None = Field(
        default=None, description="Their overloads, where the tree has the C API."
    )


def coverage(toolchain: Toolchain) -> Coverage:
    """What the headers of its door call of the machine. Raises InputError when they do not
    preprocess."""
    called: set[str] = set()
    declared: set[str] = set()
    door = toolchain.door
    for core in CORE_KINDS:
        flags = toolchain.kernel_flags(core)
        tokens = _TOKEN.findall(_NOISE.sub(" ", _preprocessed(door, flags)))
        now_called, now_declared = names(tokens)
        called |= now_called
        declared |= now_declared
    wanted = sorted(called - declared)
    return Coverage(
        headers=door.name,
        called=tuple(wanted),
        lacking=tuple(undeclared(wanted, toolchain.kernel_flags("cube"))),
        signatures=signatures(door, toolchain.kernel_flags("cube"), wanted),
    )


def _preprocessed(door: FrontDoor, flags: Iterable[str]) -> str:
    """The text of the tree's headers after the preprocessor, without others that they include."""
    with tempfile.TemporaryDirectory(prefix="ascendopt-coverage-") as name:
        lay(Path(name), {**door.generated, "prefix.cpp": door.prefix})
        arguments = [*flags, *door.arguments(), "-I.", "-E"]
        done = subprocess.run(
            [compiler(), *arguments, "prefix.cpp"],
            cwd=name,
            capture_output=True,
            text=True,
            errors="replace",
        )
    if done.returncode:
        raise InputError(f"The headers do not preprocess: {done.stderr.strip()[:500]}")
    own = str(door.readable[0])
    kept: list[str] = []
    inside = False
    for line in done.stdout.splitlines():
        mark = _LINE_MARK.match(line)
        if mark:
            inside = mark[1].startswith(own)
        elif inside:
            kept.append(line)
    return "\n".join(kept)


def names(tokens: Sequence[str]) -> tuple[set[str], set[str]]:
    """Names that are called as free functions, and names that are declared as anything."""
    called: set[str] = set()
    declared: set[str] = set()
    closing = _closing(tokens)
    for at, token in enumerate(tokens):
        if not _INSTRUCTION.fullmatch(token) or token in _WORDS or token.endswith("_t"):
            continue
        before = tokens[at - 1] if at else ""
        behind = tokens[at + 1] if at + 1 < len(tokens) else ""
        if before[:1].isalpha() or before[:1] == "_":
            if before not in _NOT_A_TYPE:
                declared.add(token)
                continue
        elif before in (">", "*", "&", "&&"):
            ends = tokens[closing[at + 1] + 1] if at + 1 in closing else ""
            if behind in (",", ")", "=", ";", "[") or ends in _BEHIND_A_DEFINITION:
                declared.add(token)
                continue
        if behind == "(" and before not in (".", "->", "::", "~"):
            called.add(token)
    return called, declared


def _closing(tokens: Sequence[str]) -> dict[int, int]:
    """Position of each parenthesis's partner, where something is behind it."""
    open_at: list[int] = []
    found: dict[int, int] = {}
    for at, token in enumerate(tokens):
        if token == "(":
            open_at.append(at)
        elif token == ")" and open_at:
            start = open_at.pop()
            if at + 1 < len(tokens):
                found[start] = at
    return found


def undeclared(wanted: Sequence[str], flags: Iterable[str]) -> list[str]:
    """Return those of the names that the machine does not declare, by the compiler's word."""
    lines = ['#include "intrinsics.h"', *(f"using ::{name};" for name in wanted)]
    done = subprocess.run(
        [compiler(), *flags, f"-I{MACHINE}", "-fsyntax-only", "-x", "c++", "-"],
        input="\n".join(lines),
        capture_output=True,
        text=True,
        errors="replace",
        env={"LC_ALL": "C", "PATH": "/usr/local/bin:/usr/bin:/bin"},
    )
    refused = {int(n) for n in re.findall(r"<stdin>:(\d+):\d+: error", done.stderr)}
    return [name for number, name in enumerate(wanted, start=2) if number in refused]


@click.command()
@click.option("--asc-headers", required=True, help="Real AscendC headers, as for evaluate.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, nothing else.")
def main(asc_headers: str, as_json: bool) -> None:
    """List the instructions that AscendC headers call and that the machine lacks."""
    try:
        architecture = load_device(DEFAULT_DEVICE).architecture
        found = coverage(Toolchain(architecture, door=open_door(asc_headers)))
    except InputError as problem:
        raise SystemExit(f"error: {problem}") from problem
    if as_json:
        click.echo(found.model_dump_json(indent=1))
        return
    has = len(found.called) - len(found.lacking)
    click.echo(f"{found.headers}: {len(found.called)} instructions, the machine has {has}")
    click.echo(f"lacking: {' '.join(found.lacking) or 'none'}")
    if found.signatures is not None:
        have, lack = len(found.signatures.present), found.signatures.lacking
        click.echo(f"{have + len(lack)} signatures in the C API, the machine has {have}")
        click.echo("\n".join(("lacking:", *lack) if lack else ("lacking: none",)))


if __name__ == "__main__":
    main()
