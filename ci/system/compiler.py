"""Runs the C++ compiler on code that nobody trusts, and reads its complaints."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from ci.model.errors import EnvironmentProblem, TrialFailure
from ci.model.trial import Outcome, Place, Refusal
from ci.system.ledger import booked
from ci.system.sandbox import Completed, Limits, run

NEEDED = "_Float16 one(float x) { return static_cast<_Float16>(x); }"
"""What a compiler must know: g++ 12 does on x86-64, g++ 13 on aarch64."""

WARNINGS = ("-Wall", "-Wextra", "-Wshadow")
"""Our own C++ is free of these; operators' is theirs, and compiled without."""

COMPILE_LIMITS = Limits(seconds=300, memory_bytes=4 << 30, processes=64, file_bytes=512 << 20)
"""The slowest of 253 real kernels takes 17 s, a host of seventy sources 100 s on a busy machine;
template bombs are stopped here."""

DETAIL_LINES = 12
"""Lines of the compiler's text that the evidence keeps, from the first error on."""


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
        "The simulator needs the C++ compiler g++, which is not installed; "
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
        raise EnvironmentProblem(f"The compiler {path} does not start: {problem}") from problem
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
        raise EnvironmentProblem(f"The simulator cannot be built on this machine:\n{shown}")
    return done.stderr


def compile_candidate(
    arguments: Sequence[str],
    cwd: Path,
    readable: Sequence[Path],
    side: str,
    shared: tuple[Path, str] | None = None,
) -> None:
    """Compile a candidate's sources below `cwd`, which is all that the compiler can write.

    Raises TrialFailure(COMPILE_ERROR); `side` says in words what was compiled, `shared` below which
    folder shared sources lie and what stands for it in their names.
    """
    with booked("compile"):
        done = run(
            compile_command(arguments),
            cwd=cwd,
            readable=readable,
            writable=[cwd],
            limits=COMPILE_LIMITS,
        )
    demand_compiled(done, side, shared)


def compile_command(arguments: Sequence[str]) -> list[str]:
    """The compiler that complains in the words that `compile_evidence` reads.

    Raises EnvironmentProblem when there is none.
    """
    return [compiler(), "-fdiagnostics-color=never", "-fno-diagnostics-show-caret", *arguments]


def demand_compiled(done: Completed, side: str, shared: tuple[Path, str] | None = None) -> None:
    """Raises TrialFailure(COMPILE_ERROR) unless the compiler ended well."""
    if not done.ok:
        raise TrialFailure(Outcome.COMPILE_ERROR, compile_evidence(done, side, shared))


_PLACE = re.compile(
    r"^(?P<file>[^\s:][^:\n]*):(?P<line>\d+):(?:\d+:)?\s*"
    r"(?:fatal |(?P<own>internal compiler ))?error:\s*(?P<text>.*)$"
)
_FROM = re.compile(r"(?:^|\s)(?:\./)?(?P<file>op_(?:host|kernel)/[^\s:,]+):(?P<line>\d+)")
_LINKER = re.compile(r"undefined reference to [`'](?P<name>.+?)'|multiple definition of .*")


def compile_evidence(done: Completed, side: str, shared: tuple[Path, str] | None = None) -> Refusal:
    """The first error, placed in the operator's own sources where the compiler tells them.

    An error inside a header is placed at the operator's line that led there, which is in
    the 'required from' or 'In file included from' lines around it.
    """
    text = done.stderr.decode(errors="replace")
    if shared is not None:
        text = text.replace(f"{shared[0]}/", f"{shared[1]}/")
    lines = text.splitlines()
    if done.timed_out:
        return Refusal(sentence=f"Compiling the {side} {done.ending()}.")
    for number, line in enumerate(lines):
        found = _PLACE.match(line)
        if not found:
            continue
        details = "\n".join(lines[number : number + DETAIL_LINES])
        file, place = found["file"].removeprefix("./"), int(found["line"])
        if not file.startswith(("op_host/", "op_kernel/")):
            led = _led_from(lines, number)
            file, place = led if led else ("", 0)
        said = f"the compiler itself fails: {found['text']}" if found["own"] else found["text"]
        return Refusal(
            sentence=f"The {side} does not compile: {said}",
            place=Place(file=file, line=place),
            evidence=details,
        )
    for line in lines:
        missing = _LINKER.search(line)
        if missing:
            return Refusal(
                gate="link", sentence=f"The {side} does not link: {missing.group()}", evidence=line
            )
    if b"out of memory" in done.stderr or b"Cannot allocate" in done.stderr or done.signal:
        return Refusal(sentence=f"Compiling the {side} exhausted its limits.", evidence=text[-800:])
    return Refusal(sentence=f"The {side} does not compile.", evidence=text[:2000])


def _led_from(lines: Sequence[str], number: int) -> tuple[str, int] | None:
    """The operator's line nearest to the error at `lines[number]` among its context lines."""
    around = [*reversed(lines[max(0, number - 30) : number]), *lines[number + 1 : number + 30]]
    for line in around:
        found = _FROM.search(line)
        if found:
            return found["file"], int(found["line"])
    return None
