"""Compiles small kernels straight on the machine's instructions and runs them, for the tests."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ci.model.launch import Tensors, arrays
from ci.simulator.kernel_cores import Cores
from ci.simulator.launch_request import LaunchSpec, write_request
from ci.simulator.toolchain import CHECKED, KERNEL_LINK, MACHINE, Flavour, Toolchain
from rules.architectures import load_architecture
from rules.devices import load_device
from tests.ci.simulator.bits import keep

Array = np.ndarray[Any, Any]


@dataclass
class Launch:
    """What a run gave."""

    report: dict[str, Any]
    outputs: list[Array]
    timeline: list[dict[str, Any]]

    @property
    def outcome(self) -> str:
        return str(self.report["outcome"])

    @property
    def message(self) -> str:
        return str(self.report["message"])

    @property
    def cycles(self) -> float:
        """Cycles of the cores, without the launch's overhead."""
        return float(self.report["core_cycles"])

    def busy(self, pipe: str) -> float:
        """Cycles in which the pipe worked."""
        return float(self.report["busy_cycles"][pipe])

    def warned(self, kind: str) -> list[str]:
        """Messages of the warnings of a kind."""
        return [str(w["message"]) for w in self.report["warnings"] if w["kind"] == kind]


class MachineHarness:
    """One folder of compiled kernels and runs."""

    flavour: Flavour = "plain"
    signature = "static void kernel(u8** a)"
    prelude = """
#include <cmath>
#include <cstring>
#include "intrinsics.h"
#include "intrinsics_matmul.h"
using u8 = unsigned char;
template <typename T> T* ub(uint32_t offset) { return (T*)(dav_ub_base() + offset); }
#define order(from, to) (set_flag(from, to, 0), wait_flag(from, to, 0))
"""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.toolchain = Toolchain(load_architecture("dav-c220"))
        self.runner = self.toolchain.machine_runner
        self.flags = [*self.toolchain.kernel_flags("vector", self.flavour), f"-I{MACHINE}"]
        self.runs = 0

    def compile(self, body: str, define: Mapping[str, object] | None = None) -> Path:
        """`body` holds the kernel's statements or defines `kernel`; `define` gives macros that it
        uses. Equal bodies compile once."""
        macros = "".join(f"#define {name} {value}\n" for name, value in (define or {}).items())
        kernel = body if " kernel(" in body else f"{self.signature} {{\n{body}\n}}"
        text = f"""{self.prelude}{macros}{kernel}
extern "C" __attribute__((visibility("default")))
void ascendopt_entry(unsigned char** a) {{ kernel(a); }}
"""
        stem = self.folder / hashlib.sha256(text.encode()).hexdigest()[:16]
        library = stem / "kernel.so"
        if not library.exists():
            stem.mkdir()
            (stem / "kernel.cpp").write_text(text)
            command = ["g++", *self.flags, "-c", "kernel.cpp", "-o", "kernel.o"]
            done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=stem)
            assert done.returncode == 0, done.stderr
            subprocess.run(["g++", "kernel.o", *KERNEL_LINK], check=True, cwd=stem)
        return library

    def run(
        self,
        body: str,
        inputs: Tensors | None = None,
        outputs: list[Array] | None = None,
        *,
        define: Mapping[str, object] | None = None,
        block_dim: int = 1,
        auto_sync: bool = False,
        tiling: bytes = b"",
        workspace: int = 1024,
        least_workspace: int = 0,
        over_read: int = 32,
        device: str = "910B4",
        constants: dict[str, float] | None = None,
        cores: tuple[int, int] = (0, 1),
        cube_body: str | None = None,
        members: Mapping[str, Mapping[str, float]] | None = None,
        initial: Mapping[int, float] | None = None,
    ) -> Launch:
        """Run a kernel; `outputs` gives shapes and dtypes, `cores` the cube and vector cores of a
        block, `cube_body` what the cube cores run where there are both."""
        libraries = [self.compile(one, define) for one in (body, cube_body) if one is not None]
        self.runs += 1
        folder = self.folder / f"run{self.runs}"
        folder.mkdir()
        # A core's start would hide what the tests compare.
        start = ("launch.start_up_cycles", "launch.fetch_cycles_per_core")
        values = load_device(device).constants | dict.fromkeys(start, 0.0)
        values |= constants or {}
        spec = LaunchSpec(
            kernel=libraries[0],
            block_dim=block_dim,
            tiling_key=1,
            tiling=tiling,
            workspace=workspace,
            least_workspace=least_workspace,
            over_read=over_read,
            auto_sync=auto_sync,
            checked=self.flavour in CHECKED,
            aliases={},
            initial=dict(initial or {}),
            cores=Cores(*cores),
            cube_kernel=libraries[1] if cube_body is not None else None,
            members=members or {},
        )
        files = write_request(folder, values, spec, inputs or [], outputs or [], timeline=True)
        done = subprocess.run(
            [str(self.runner), str(folder / "request"), *map(str, spec.kernels)],
            capture_output=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode()
        report = json.loads((folder / "report.json").read_text())
        if report["outcome"] != "ok":
            return Launch(report, [], [])
        found = [
            np.fromfile(paths[0], dtype=like.dtype).reshape(like.shape)
            for paths, like in zip(files, outputs or [], strict=True)
        ]
        asked = [one.with_name("kernel.cpp").read_bytes() for one in libraries]
        asked += [tiling, *(one.tobytes() for one in arrays(inputs or []))]
        keep(asked, [one.tobytes() for one in found])
        rows = [json.loads(line) for line in (folder / "timeline.jsonl").read_text().splitlines()]
        timeline = [row for row in rows if "pipe" in row and row["core"] == 0]
        return Launch(report, found, timeline)

    def ok(self, body: str, *tensors: Any, **how: Any) -> Launch:
        """`run` that must end well."""
        done = self.run(body, *tensors, **how)
        assert done.outcome == "ok", done.report
        return done

    def equals(self, body: str, inputs: Tensors, wanted: list[Array], **how: Any) -> Launch:
        """`ok` with outputs of the shapes, dtypes and values of `wanted`."""
        done = self.ok(body, inputs, wanted, **how)
        for found, like in zip(done.outputs, wanted, strict=True):
            np.testing.assert_array_equal(found, like)
        return done

    def fails(self, outcome: str, body: str, *tensors: Any, **how: Any) -> str:
        """`run` that must end with this outcome; answers the report's message."""
        done = self.run(body, *tensors, **how)
        assert done.outcome == outcome, done.report
        return done.message
