"""The second guard: what a built kernel asks of the program that loads it."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from ci.model.trial import Refusal
from ci.simulator.elf import dynamic_symbols, section_bytes, writable_bytes
from ci.system.sandbox import Limits, run
from rules.guards import allowed_symbols, inherited_symbols, priced_symbols

_WRAP = "__wrap_"
"""What the linker puts before the names of functions that the machine offers in place of the
library's."""

_INTERNAL = re.compile(r"_ZN?K?V?(?:T[VIS])?N?K?3dav|main$|_init$|_fini$|_start$|_IO_stdin_used$")
"""What the machine exports only because all of it is exported: its inside, not instructions."""


def check_symbols(
    kernel: Path, machine_runner: Path, unmodified: Callable[[], Path | None] = lambda: None
) -> Refusal | None:
    """Names the symbols that a kernel may not use, or None when there are none.

    Library functions that the machine charges for, what no device has, and code that runs when the
    kernel is loaded are free to whom the original operator has them too; `unmodified` answers
    its kernel, or None when it does not build.
    """
    priced = {_WRAP + name for name in priced_symbols()}
    allowed = instructions(machine_runner) - priced
    libraries = allowed_symbols()
    foreign = [
        name
        for name in undefined_symbols(kernel)
        if name not in allowed and not libraries.fullmatch(name)
    ]
    keeping = variables(kernel) > _OWN_VARIABLES
    inherited = {n for n in foreign if n in priced or inherited_symbols().fullmatch(n)}
    loading = initialisers(kernel) > _OWN_INITIALISERS
    if inherited or loading or keeping:
        own = unmodified()
        known = set(undefined_symbols(own)) & inherited if own is not None else set()
        foreign = [name.removeprefix(_WRAP) for name in foreign if name not in known]
        loading = loading and (own is None or initialisers(kernel) > initialisers(own))
        keeping = keeping and (own is None or variables(kernel) > variables(own))
    if loading:
        return Refusal(
            gate="link",
            sentence="The built kernel initialises a global variable when it is loaded, which no "
            "AI core does.",
            evidence="initialisers",
        )
    if keeping:
        return Refusal(
            gate="link",
            sentence="The built kernel keeps variables that outlive a launch: what one launch "
            "leaves in them another one finds.",
            evidence="writable sections",
        )
    if not foreign:
        return None
    shown = ", ".join(_demangle(foreign[:8]))
    return Refusal(
        gate="link",
        sentence=f"The built kernel asks for symbols that the machine does not offer: {shown}.",
        evidence="symbols",
    )


@lru_cache(maxsize=8)
def instructions(machine_runner: Path) -> frozenset[str]:
    """Symbols of the machine's instructions and hooks."""
    names = dynamic_symbols(machine_runner, defined=True)
    return frozenset(n for n in names if not _INTERNAL.match(n))


_OWN_VARIABLES = 64
"""Bytes that every kernel has of the C runtime's."""


@lru_cache(maxsize=512)
def variables(library: Path) -> int:
    """Bytes of a shared library's variables."""
    return writable_bytes(library)


_OWN_INITIALISERS = 2
"""Functions that run at loading in every kernel: the C runtime's and the instrumentation's."""


@lru_cache(maxsize=512)
def initialisers(library: Path) -> int:
    """Functions that run when a shared library is loaded."""
    return section_bytes(library, _INITIALISERS) // _POINTER_BYTES


_INITIALISERS = 14  # section type SHT_INIT_ARRAY
_POINTER_BYTES = 8


@lru_cache(maxsize=512)
def undefined_symbols(library: Path) -> tuple[str, ...]:
    """What a shared library leaves to its loader, without version suffixes."""
    return tuple(sorted(dynamic_symbols(library, defined=False)))


@lru_cache(maxsize=512)
def defined_symbols(library: Path) -> tuple[str, ...]:
    """What a shared library shows."""
    return tuple(sorted(dynamic_symbols(library, defined=True)))


def _demangle(names: list[str]) -> list[str]:
    said = "\n".join(names).encode()
    done = run(["c++filt"], cwd=Path("/usr"), limits=_NAMING, stdin=said)
    return done.stdout.decode(errors="replace").splitlines() if done.ok else names


_NAMING = Limits(seconds=5, memory_bytes=1 << 30)
"""Limits of the program that reads mangled names, which a candidate may have chosen."""
