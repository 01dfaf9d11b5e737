"""Runs an example: its data script, its host program, each launch on the machine, its verdict."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from itertools import count
from pathlib import Path

import numpy as np
from pydantic import Field

from ci.host.door import own_headers
from ci.host.door.base import DEVICE
from ci.host.door.tiling_library import uses_library
from ci.host.host_command import FORWARDING, HOST
from ci.host.source_tree import lay
from ci.host.tiling_request import platform_facts
from ci.model.errors import InputError, TrialFailure
from ci.model.frozen import Frozen
from ci.model.launch import Array, Tensors
from ci.simulator.toolchain import Toolchain
from ci.source.golden import interpreter, library_folders, python_folders
from ci.system.candidate_compiler import compile_candidate
from ci.system.sandbox import Completed, Limits, run
from ci.system.scratch import scratch_on_disk
from lab.examples.kernel import read_asked, run_kernel
from lab.examples.source import Example, host_text
from rules.devices import Device

INCLUDE = Path(__file__).parent / "include"

LAUNCHED = 77
"""Exit code of a host program that waits for a launch; see launch.h."""

MOST_LAUNCHES = 16

_HOST_FLAGS = ("-std=c++17", "-O0", "-fpermissive", "-w", "-DASCENDOPT_DEVICE_TYPES")
_LIMITS = Limits(seconds=600, memory_bytes=16 << 30, file_bytes=4 << 30, processes=64)


# What the chip tells a tiling; an operator's host program reads it from each request.
_FACTS = """#include "runtime/runtime.h"
static const bool set = (host::current_platform().facts = {{
{facts}}}, true);
"""

# The part of our tiling library that lies in AscendC's namespace; see host.h.
_LIBRARY = """#define AscendC ascendopt_host_api
#include "runtime/library_tiling.cpp"
#include "runtime/normalise_tiling.cpp"
"""


class ExampleRun(Frozen):
    """What became of an example."""

    reached: str = Field(description="host, kernel, run or verified: how far it got.")
    said: str = Field(default="", description="What stopped it.")
    launches_us: tuple[float, ...] = ()
    """Simulated time of each launch."""


def run_example(
    example: Example, toolchain: Toolchain, device: Device, arguments: Sequence[str] = ()
) -> ExampleRun:
    """Run an example to its verdict. `arguments` are words for its data script.

    Raises InputError where the example's own scripts fail.
    """
    times: list[float] = []
    with scratch_on_disk("example") as name:
        place = Path(name).resolve()
        for folder in ("input", "output", "launches"):
            (place / folder).mkdir()
        scripts = example.folder / "scripts"
        data = _script(scripts / "gen_data.py", arguments, place)
        if data is not None and not data.ok:
            raise InputError(f"{example.folder.name}: gen_data.py {data.ending()}: {_tail(data)}")
        try:
            _build_host(example, toolchain, device, place)
        except TrialFailure as failure:
            return ExampleRun(reached="nothing", said=_sentence(failure))
        for number in count():
            done = run([str(place / "demo")], cwd=place, writable=[place], limits=_LIMITS)
            if done.returncode != LAUNCHED:
                break
            if number == MOST_LAUNCHES:
                said = f"It launches more than {MOST_LAUNCHES} kernels."
                return ExampleRun(reached="run", said=said, launches_us=tuple(times))
            asked = read_asked(place / "launches" / f"{number}.asked0")
            buffers = _buffers(place / "launches", number)
            try:
                result = run_kernel(example, asked, buffers, toolchain, device)
            except TrialFailure as failure:
                compiled = failure.outcome.value not in ("compile_error", "rejected")
                reached = "kernel" if compiled else "host"
                return ExampleRun(reached=reached, said=_sentence(failure))
            times.append(result.pipes.total_cycles / device.clock_mhz)
            for index, after in enumerate(result.outputs):
                if isinstance(after, np.ndarray):
                    after.tofile(place / "launches" / f"{number}.after{index}")
        if not done.ok:
            said = f"The host program {done.ending()}: {_tail(done)}"
            return ExampleRun(reached="run" if times else "nothing", said=said)
        return _judged(scripts, place, tuple(times))


def _judged(scripts: Path, place: Path, times: tuple[float, ...]) -> ExampleRun:
    script = scripts / "verify_result.py"
    outputs = sorted(place.glob("output/output*.bin"))
    golden = sorted(place.glob("output/golden*.bin"))
    words = [f"output/{path.name}" for path in (*outputs[:1], *golden[:1])]
    verdict = _script(script, words, place)
    if verdict is None:
        return ExampleRun(reached="run", said="It brings no verdict.", launches_us=times)
    if not verdict.ok:
        return ExampleRun(reached="run", said=f"It is wrong: {_tail(verdict)}", launches_us=times)
    return ExampleRun(reached="verified", launches_us=times)


def _buffers(folder: Path, number: int) -> Tensors:
    found: list[Array] = []
    while (path := folder / f"{number}.before{len(found)}").is_file():
        found.append(np.fromfile(path, dtype=np.uint8))
        path.unlink()
    return list(found)


def _script(script: Path, arguments: Sequence[str], place: Path) -> Completed | None:
    """Run a script of the example in `place`; None where there is none."""
    if not script.is_file():
        return None
    code = (
        "import runpy, sys; sys.path += sys.argv[2].split(':');"
        "sys.argv = [sys.argv[1], *sys.argv[3:]]; runpy.run_path(sys.argv[0], run_name='__main__')"
    )
    paths = ":".join(map(str, library_folders()))
    command = [interpreter(), "-I", "-S", "-c", code, str(script), paths]
    return run(
        [*command, *arguments],
        cwd=place,
        readable=[script.parent, *python_folders()],
        writable=[place],
        limits=_LIMITS,
    )


def _build_host(example: Example, toolchain: Toolchain, device: Device, place: Path) -> None:
    """Compile the host program: the example's text, against our headers of both sides."""
    texts = example.texts()
    texts[example.source] = host_text(texts[example.source])
    folder = place / "source"
    facts = "".join(f'    {{"{n}", "{v}"}},\n' for n, v in platform_facts(device).items())
    names = re.findall(r"#define ((?:DT|FORMAT)_\w+)", (DEVICE / "operator_build.h").read_text())
    made = {
        "host_names.h": "#pragma once\n" + "".join(f"#undef {name}\n" for name in names),
        "host_facts.cpp": _FACTS.format(facts=facts),
        **({"host_library.cpp": _LIBRARY} if uses_library(texts.values()) else {}),
    }
    lay(folder, {**texts, **made})
    shutil.copytree(INCLUDE, folder / "runtime")
    door, prelude = own_headers(), toolchain.host_prelude
    prefix = toolchain.kernel_prefix() if toolchain.door.name == door.name else None
    generated = prefix or folder / "generated"
    if prefix is None:
        lay(generated, dict(door.generated))
    flags = [word for word in toolchain.kernel_flags("vector") if word[:2] in ("-D", "-I", "-m")]
    arguments = [
        *_HOST_FLAGS,
        *flags,
        *(f"-D{one}" for one in example.definitions),
        "-I.",
        "-Iruntime",
        *(f"-I{one}" for one in door.folders),
        f"-I{HOST}",
        f"-I{prelude / FORWARDING}",
        f"-I{generated}",
        "-include",
        "runtime/host.h",
        "-x",
        "c++",
        example.source,
        *(name for name in made if name.endswith(".cpp")),
        "-x",
        "none",
        *(str(one) for one in toolchain.host_runtime if not _has_main(one)),
        # Device code is named, never called; what it would call is on the machine.
        *("-no-pie", "-Wl,--unresolved-symbols=ignore-all"),
        "-o",
        "demo",
    ]
    readable = [*door.readable, HOST, prelude, generated, *toolchain.host_runtime]
    readable += [Path(word[2:]) for word in flags if word.startswith("-I")]
    compile_candidate(arguments, folder, readable, "host program")
    shutil.move(folder / "demo", place / "demo")


def _has_main(unit: Path) -> bool:
    return b"\0main\0" in unit.read_bytes()


def _sentence(failure: TrialFailure) -> str:
    return failure.refusal.message if failure.refusal else failure.outcome.value


def _tail(done: Completed) -> str:
    lines = (done.stderr or done.stdout).decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else ""
