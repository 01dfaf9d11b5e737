"""Runs the C++ compiler on code that nobody trusts, and reads its complaints."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ci.model.errors import TrialFailure
from ci.model.trial import Outcome, Place, Refusal
from ci.system.compiler import DETAIL_LINES, compiler
from ci.system.ledger import booked
from ci.system.sandbox import Completed, Limits, run

COMPILE_LIMITS = Limits(seconds=300, memory_bytes=4 << 30, processes=64, file_bytes=512 << 20)
"""The slowest of 253 real kernels takes 17 s, a host of seventy sources 100 s on a busy machine;
template bombs are stopped here."""


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


CHANGES_MEANING: Final = "changes meaning of"
"""GCC's words for the one error that the device's compiler does not know."""


_NO_BODY = re.compile(r"inlining failed in call to '(?:always_inline|inline)'")


def lacks_body(refusal: Refusal) -> bool:
    """Whether a compiler found no body of a function that it had to inline."""
    said = f"{refusal.sentence}\n{refusal.evidence}"
    return _NO_BODY.search(said) is not None and "function body not available" in said


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
    """The first error, placed in the operator's own sources where the compiler tells them; one that
    `CHANGES_MEANING` only where there is no other.

    An error inside a header is placed at the operator's line that led there, which is in
    the 'required from' or 'In file included from' lines around it.
    """
    text = done.stderr.decode(errors="replace")
    if shared is not None:
        text = text.replace(f"{shared[0]}/", f"{shared[1]}/")
    lines = text.splitlines()
    if done.timed_out:
        return Refusal(sentence=f"Compiling the {side} {done.ending()}.")
    errors = [(n, found) for n, line in enumerate(lines) if (found := _PLACE.match(line))]
    errors.sort(key=lambda error: CHANGES_MEANING in error[1]["text"])
    for number, found in errors[:1]:
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
