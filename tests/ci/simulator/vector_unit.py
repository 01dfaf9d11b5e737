"""Talks to `vector_harness.cpp`: one vector instruction at a time on a window of UB."""

from __future__ import annotations

import struct
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ci.simulator.toolchain import MACHINE, Toolchain
from ci.system.cache import digest
from ci.system.compiler import compile_trusted
from rules.architectures import load_architecture
from rules.devices import load_device
from tests.ci.simulator.bits import keep

WINDOW = 16384
"""Bytes of UB that travel with a request (as in the harness)."""
KEEP_INFINITY = 1 << 48
"""The CTRL register as the runtime starts kernels: half results do not saturate."""
FULL = (1 << 64) - 1

Bytes = npt.NDArray[np.uint8]


@dataclass
class State:
    """What the vector unit reads beside its operands."""

    ub: Bytes
    low: int = FULL
    high: int = FULL
    counter: bool = False
    control: int = KEEP_INFINITY
    dequantize: int = 0
    compare: tuple[int, int] = (0, 0)


@dataclass
class Outcome:
    """What an instruction left behind."""

    ub: Bytes
    accumulated: int
    max_min: int
    reduced: int
    merged: int
    compare: tuple[int, int]
    ranges: list[tuple[int, int, bool]] = field(default_factory=list)
    """(offset, bytes, write) of everything it declared to touch."""

    def declared(self, write: bool) -> npt.NDArray[np.bool_]:
        """For each byte of the window whether it was declared as written (or as read)."""
        touched = np.zeros(WINDOW, dtype=bool)
        for offset, size, writes in self.ranges:
            if writes is write:
                touched[offset : offset + size] = True
        return touched


class VectorUnit:
    """The vector unit's objects of the machine, linked with the harness and the given calls."""

    def __init__(
        self, calls: Mapping[str, str], constants: Mapping[str, float] | None = None
    ) -> None:
        """`calls`: C++ statements by name, over `ub`, the numbers `n[]` and `scalar`.

        `constants` are the device's, by default those of a 910B4.
        """
        self._index = {name: i for i, name in enumerate(calls)}
        text = "".join(
            f"case {i}: {{ {statement} }} break;\n" for i, statement in enumerate(calls.values())
        )
        self._process = subprocess.Popen(
            [_build(text), _constants(constants or load_device("910B4").constants)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def run(
        self, call: str, state: State, numbers: Sequence[int] = (), scalar: float = 0.0
    ) -> Outcome:
        """Executes one call on a copy of the state."""
        padded = [*numbers, *([0] * (16 - len(numbers)))]
        request = struct.pack(
            "<q5Q2Q16qd", self._index[call], state.low, state.high, int(state.counter),
            state.control, state.dequantize, *state.compare, *padded, scalar,
        ) + state.ub.tobytes()  # fmt: skip
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(request)
        self._process.stdin.flush()
        out = self._process.stdout
        head = out.read(56)
        assert len(head) == 56, f"{call} ended the harness: {self.last_words()}"
        accumulated, max_min, reduced, merged, first, second, count = struct.unpack("<6Qq", head)
        ub = np.frombuffer(out.read(WINDOW), dtype=np.uint8).copy()
        table = np.frombuffer(out.read(count * 24), dtype=np.int64).reshape(count, 3)
        ranges = [(int(o), int(b), bool(w)) for o, b, w in table]
        keep([call.encode(), request], [head, ub.tobytes()])
        return Outcome(ub, accumulated, max_min, reduced, merged, (first, second), ranges)

    def last_words(self) -> str:
        """What the process said before it ended."""
        assert self._process.stderr is not None
        return self._process.stderr.read().decode()

    def close(self) -> None:
        """Ends the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(10)


def _constants(values: Mapping[str, float]) -> Path:
    with tempfile.NamedTemporaryFile("w", suffix=".constants", delete=False) as file:
        file.writelines(f"{name}\t{value!r}\n" for name, value in values.items())
    return Path(file.name)


def _build(calls: str) -> Path:
    toolchain = Toolchain(load_architecture("dav-c220"))
    harness = Path(__file__).with_name("vector_harness.cpp")
    sources = [*sorted(MACHINE.glob("vector_*.cpp")), MACHINE / "constants.cpp"]
    objects = toolchain.machine_objects(sources)
    key = digest([*toolchain.machine_flags, harness.read_bytes(), calls, *map(str, objects)])

    def make(folder: Path) -> None:
        (folder / "calls.inc").write_text(calls)
        flags = [flag for flag in toolchain.machine_flags if flag != "-O2"]
        compile_trusted(
            [*flags, "-O0", f"-I{folder}", str(harness), *map(str, objects),
             "-o", "harness"],
            folder,
        )  # fmt: skip

    return toolchain.cache.get("vector_harness", key, make) / "harness"


def addresses(base: int, size: float, lanes: Any, repeat: int, block: int, stride: int) -> Any:
    """Byte addresses of `lanes` of one iteration (`size` bytes an element, strides in blocks)."""
    per_block = int(32 / size)
    lane = np.asarray(lanes)
    inside = (lane % per_block * size).astype(np.int64)
    return base + repeat * stride * 32 + lane // per_block * block * 32 + inside
