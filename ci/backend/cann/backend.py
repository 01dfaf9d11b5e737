"""A real Ascend 910B with an installed CANN toolkit as a backend.

The host tiling runs as in the simulator, with the facts of the chip that is there. The kernel is
compiled by the toolkit's bisheng against the toolkit's own AscendC headers, launched by a small
acl program (`launcher.h`), and timed by the toolkit's operator profiler.

State: written from the toolkit's documentation. The detection and the reading of the tools'
output are tested; the rest has not yet run on an NPU, because none was at hand. Tensor lists are
refused: their descriptor is built by the framework there. Device code cannot be sandboxed;
compiler and host tiling are, as on the simulator.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Unpack

import numpy as np

from ci.backend.base import Backend, RunOptions
from ci.backend.cann.profile.launches import of_kernel, read_basic_info
from ci.backend.cann.profile.pipes import read_pipes
from ci.backend.cann.toolkit import Toolkit, find_toolkit
from ci.backend.tiled import TiledBuild
from ci.backend.told_shapes import told, with_room
from ci.host.host_tiling import TilingAnswer
from ci.host.kernel_unit import (
    SYSTEM_WORKSPACE,
    KernelVariant,
    kernel_parameters,
    template_list,
    variant_macros,
    without_launches,
)
from ci.host.source_tree import include_arguments, lay_operator
from ci.model.dtypes import BY_NAME
from ci.model.errors import InputError, TrialFailure
from ci.model.launch import Array, CaseRun, Tensors
from ci.model.operator import Operator
from ci.model.trial import Fingerprint, Outcome, Refusal
from ci.model.workload import Workload, WorkloadCase
from ci.simulator.launch import read_outputs
from ci.simulator.toolchain import Toolchain
from ci.system.compiler import COMPILE_LIMITS, compile_evidence
from ci.system.sandbox import Limits, run
from rules.architectures import Architecture
from rules.devices import load_device

WARM_UP = 5
"""Launches before those that count: clocks and caches settle."""

SAMPLES = 30
"""Launches that count; enough for a bootstrap interval of the median."""

LAUNCH_LIMITS = Limits(seconds=180, memory_bytes=1 << 46, processes=256, file_bytes=4 << 30)
"""Of a profiled launch; the runtime reserves terabytes of address space."""

_TILING_MACROS = """
#define TILING_KEY_IS(key) ((key) == ASCENDOPT_TILING_KEY)
#define GET_TILING_DATA(name, pointer) \\
    AscendOptTilingData name; ascendopt_read_tiling(name, pointer)
#define GET_TILING_DATA_WITH_STRUCT(type, name, pointer) \\
    type name; ascendopt_read_tiling(name, pointer)
template <typename T>
__aicore__ inline void ascendopt_read_tiling(T& data, __gm__ uint8_t* pointer)
{
    auto* words = reinterpret_cast<__gm__ uint32_t*>(pointer);
    auto* copy = reinterpret_cast<uint32_t*>(&data);
    for (uint32_t i = 0; i < sizeof(T) / sizeof(uint32_t); ++i) copy[i] = words[i];
}
"""


class CannBackend(Backend):
    """Builds with bisheng and runs on the NPU of this machine."""

    def __init__(self, device: str) -> None:
        self.toolkit: Toolkit = find_toolkit()
        if device != self.toolkit.chip:
            raise InputError(
                f"This machine has an Ascend {self.toolkit.chip}, not the {device} asked for."
            )
        self.device = load_device(device)
        self.toolchain = Toolchain(self.device.architecture)

    def fingerprint(self) -> Fingerprint:
        """The chip that the driver reports, with the versions of driver and toolkit."""
        return Fingerprint(
            backend="cann",
            device=self.toolkit.chip,
            version=f"driver {self.toolkit.driver}, CANN {self.toolkit.cann}",
            simulated=False,
        )

    def build(self, operator: Operator, files: dict[str, str], workload: Workload) -> CannBuild:
        """Compile the host side; the kernel follows once a tiling tells its key."""
        return CannBuild(self, operator, operator.texts(files), workload)


class CannBuild(TiledBuild):
    """An operator's host program, and its launchers by kernel variant."""

    def __init__(
        self, backend: CannBackend, operator: Operator, texts: dict[str, str], workload: Workload
    ) -> None:
        super().__init__(backend.toolchain, backend.device, operator, texts, workload)
        self._toolkit = backend.toolkit
        self._folder = tempfile.TemporaryDirectory(prefix="ascendopt-cann-")
        self._entry, _ = kernel_parameters(operator, texts[operator.kernel_entry])
        self._launchers: dict[KernelVariant, Path] = {}

    def kernel(self, variant: KernelVariant) -> Path:
        """Compile launcher and kernel into one program; again only for another variant."""
        if variant in self._launchers:
            return self._launchers[variant]
        folder = Path(self._folder.name) / str(len(self._launchers))
        folder.mkdir()
        texts = {f: without_launches(t) for f, t in self.texts.items()}
        unit = launcher_unit(self.operator, variant, self.texts[self.operator.kernel_entry])
        place = lay_operator(folder, self.operator, {**texts, "kernel_unit.cpp": unit})
        arguments = compile_arguments(
            self._toolkit, self.device.architecture, self.operator, self.auto_sync, folder
        )
        done = run(
            arguments,
            cwd=place,
            readable=[self._toolkit.home.resolve(), self._toolkit.home, Path(__file__).parent,
                      *self.operator.include_folders],
            writable=[folder],
            limits=COMPILE_LIMITS,
        )  # fmt: skip
        if not done.ok:
            raise TrialFailure(Outcome.COMPILE_ERROR, compile_evidence(done, "kernel"))
        self._launchers[variant] = place / "launcher"
        return self._launchers[variant]

    def run(
        self, case: WorkloadCase, inputs: Tensors, outputs: Tensors, **how: Unpack[RunOptions]
    ) -> CaseRun:
        """Launch under the profiler; the profiler on the device gives no instruction timeline."""
        outputs = with_room(self.operator, case, outputs)
        answer = self.tile(case, inputs, outputs[: len(self.operator.outputs)])
        launcher = self.kernel(self.variant(case, answer))
        with tempfile.TemporaryDirectory(prefix="ascendopt-cann-") as name:
            folder = Path(name)
            request = write_request(folder, answer, inputs, outputs, self.aliases())
            command = profile_command(
                self._toolkit, folder / "profile", self._entry, launcher, request
            )
            done = run(
                command, cwd=folder, writable=[folder], limits=LAUNCH_LIMITS, level="limits only"
            )
            if not done.ok:
                outcome = Outcome.TIMEOUT if done.timed_out else Outcome.LAUNCH_ERROR
                said = (done.stderr or done.stdout).decode(errors="replace")[-2000:]
                message = f"The kernel's run on the NPU {done.ending()}."
                raise TrialFailure(outcome, Refusal(sentence=message, evidence=said))
            launches = of_kernel(read_basic_info(folder / "profile"), self._entry)
            if not launches:
                message = "The profiler recorded no launch of the kernel."
                raise TrialFailure(Outcome.LAUNCH_ERROR, Refusal(sentence=message))
            pipes = read_pipes(folder / "profile", launches[0], self.device.clock_mhz)
            files = [[folder / f"output{index}"] for index in range(len(outputs))]
            found = read_outputs(files, outputs)
        samples = tuple(one.us for one in launches)
        pipes = pipes.model_copy(update={"block_dim": answer.block_dim})
        return CaseRun(told(self.operator, found), samples, pipes, answer.tiling_key)


def launcher_unit(operator: Operator, variant: KernelVariant, entry_source: str) -> str:
    """Text of the program that holds the kernel and launches it."""
    name, count = kernel_parameters(operator, entry_source)
    tensors = operator.declared_tensors
    shapes = len(operator.inputs) + len(operator.outputs)
    behind = shapes + operator.tells_output_shape
    places = [*range(min(tensors, count))]
    places += [shapes] * (count == tensors + 3 and operator.tells_output_shape)
    places += [behind, behind + 1] if count >= tensors + 2 else [behind + 1] * (count > tensors)
    given = ", ".join(f"a[{place}]" for place in places)
    return "\n".join(
        [
            '#include "kernel_operator.h"',
            *_dtype_numbers(),
            *variant_macros(operator, variant),
            _TILING_MACROS,
            f'#include "{operator.kernel_entry}"',
            '#include "launcher.h"',
            "void launch_kernel(uint32_t block_dim, void* stream, uint8_t** a) {",
            f"    {name}{template_list(variant)}<<<block_dim, nullptr, stream>>>({given});",
            "}",
            "",
        ]
    )


def _dtype_numbers() -> list[str]:
    """The DT_* numbers that conditions on ORIG_DTYPE_* compare, unless the toolkit has them."""
    lines = []
    for dtype in BY_NAME.values():
        lines += [f"#ifndef {dtype.macro}", f"#define {dtype.macro} {dtype.number}", "#endif"]
    return lines


def compile_arguments(
    toolkit: Toolkit,
    architecture: Architecture,
    operator: Operator,
    auto_sync: bool,
    laid: Path,
) -> list[str]:
    """The bisheng command that compiles `kernel_unit.cpp` in its folder to `launcher`.

    Shared sources lie below `laid`.
    """
    return [
        str(toolkit.compiler),
        *("-x", "asc", f"--npu-arch={architecture.compiler_arch}", "-std=c++17", "-O3"),
        f"--cce-auto-sync={'on' if auto_sync else 'off'}",
        *("-I.", "-Iop_kernel", f"-I{Path(__file__).parent}", f"-I{toolkit.home / 'include'}"),
        *include_arguments(operator, laid),
        *("kernel_unit.cpp", "-o", "launcher", f"-L{toolkit.home / 'lib64'}", "-lascendcl"),
    ]


def profile_command(
    toolkit: Toolkit, folder: Path, kernel: str, launcher: Path, request: Path
) -> list[str]:
    """The command that runs the launcher under the operator profiler."""
    return [
        *("/usr/bin/env", f"LD_LIBRARY_PATH={toolkit.libraries}"),
        f"ASCEND_HOME_PATH={toolkit.home}",
        *toolkit.profiler,
        f"--kernel-name={kernel}",
        f"--warm-up={WARM_UP}",
        f"--launch-count={SAMPLES}",
        f"--output={folder}",
        *(str(launcher), str(request)),
    ]


def write_request(
    folder: Path,
    answer: TilingAnswer,
    inputs: Tensors,
    outputs: Tensors,
    aliases: dict[int, int],
) -> Path:
    """Write tensors and the launcher's request. Raises InputError for tensor lists."""
    (folder / "tiling").write_bytes(answer.data)
    lines = [
        f"block_dim\t{answer.block_dim}",
        f"repeat\t{WARM_UP + SAMPLES}",
        f"workspace\t{max(sum(answer.workspace), SYSTEM_WORKSPACE + 32)}",
        f"tiling\t{folder / 'tiling'}",
    ]
    for index, tensor in enumerate(inputs):
        array = _single(tensor)
        if array is None:
            lines.append("null")
            continue
        np.ascontiguousarray(array).tofile(folder / f"input{index}")
        lines.append(f"input\t{folder / f'input{index}'}\t{array.nbytes}")
    for index, tensor in enumerate(outputs):
        array = _single(tensor)
        file = folder / f"output{index}"
        if array is None:
            lines.append("null")
        elif index in aliases:
            lines.append(f"alias\t{aliases[index]}\t{file}\t{array.nbytes}")
        else:
            lines.append(f"output\t{file}\t{array.nbytes}")
    request = folder / "request"
    request.write_text("\n".join(lines) + "\n")
    return request


def _single(tensor: Array | list[Array] | None) -> Array | None:
    if isinstance(tensor, list):
        raise InputError("The cann backend does not launch operators with tensor lists yet.")
    return tensor
