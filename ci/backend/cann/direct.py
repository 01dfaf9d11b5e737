"""The quick way to a device: our tiling's answer, bisheng's kernel, a program that launches it.

The host tiling runs as in the simulator, with the facts of the chip that is there. Nothing is
installed, and of the framework nothing takes part: neither shape inference nor registration nor
its tiling. Tensor lists are refused: their descriptor is built by the framework.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Final, Unpack

import numpy as np

from ci.backend.base import RunOptions
from ci.backend.cann.site import Program, Site
from ci.backend.cann.toolkit import Toolkit
from ci.backend.output_shapes import told, with_room
from ci.backend.tiled import TiledBuild
from ci.host.host_tiling import TilingAnswer
from ci.host.kernel_unit import (
    SYSTEM_WORKSPACE,
    KernelVariant,
    kernel_function,
    kernel_include,
    template_list,
    variant_macros,
)
from ci.host.source_tree import include_arguments, lay_operator
from ci.model.dtypes import BY_NAME
from ci.model.errors import InputError, TrialFailure
from ci.model.launch import Array, CaseRun, Sample, Tensors
from ci.model.operator import Operator
from ci.model.trial import Outcome
from ci.model.workload import Workload, WorkloadCase
from ci.simulator.launch import read_outputs
from ci.simulator.toolchain import Toolchain
from ci.source.device_half import without_launches
from ci.system.candidate_compiler import COMPILE_LIMITS, compile_evidence
from ci.system.sandbox import run
from rules.architectures import Architecture

SOURCES: Final = Path(__file__).parent
"""Where runtime.h, launcher.h and caller.h lie."""

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


class DirectBuild(TiledBuild):
    """An operator's host program, and its launchers by kernel variant."""

    def __init__(
        self, site: Site, operator: Operator, texts: dict[str, str], workload: Workload
    ) -> None:
        super().__init__(Toolchain(site.model.architecture), site.model, operator, texts, workload)
        self._site = site
        self._folder = tempfile.TemporaryDirectory(prefix="ascendopt-cann-")
        self._entry = kernel_function(operator, texts[operator.kernel_entry]).name
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
            self._site.toolkit, self.device.architecture, self.operator, self.auto_sync, folder
        )
        done = run(
            [*self._site.toolkit.environment, *arguments],
            cwd=place,
            readable=[*self._site.toolkit.readable, SOURCES, *self.operator.shared_folders],
            writable=[folder],
            limits=COMPILE_LIMITS,
        )
        if not done.ok:
            raise TrialFailure(Outcome.COMPILE_ERROR, compile_evidence(done, "kernel"))
        self._launchers[variant] = place / "launcher"
        return self._launchers[variant]

    def run(
        self, case: WorkloadCase, inputs: Tensors, outputs: Tensors, **how: Unpack[RunOptions]
    ) -> CaseRun:
        """Launch under the profiler; a device gives no timeline of instructions."""
        outputs = with_room(self.operator, case, outputs)
        answer = self.tile(case, inputs, outputs[: len(self.operator.outputs)])
        with self._site.room() as folder:
            program = self._program(folder, case, answer, inputs, outputs)
            measured = self._site.profiled(program, how.get("timeline"))
            files = [[folder / f"output{index}"] for index in range(len(outputs))]
            found = read_outputs(files, outputs)
        pipes = measured.pipes.model_copy(update={"block_dim": answer.block_dim})
        return CaseRun(told(self.operator, found), measured.samples_us, pipes, answer.tiling_key)

    def sample(
        self, case: WorkloadCase, inputs: Tensors, outputs: Tensors, **how: Unpack[RunOptions]
    ) -> Sample:
        """The median of a few launches in a process of its own."""
        outputs = with_room(self.operator, case, outputs)
        answer = self.tile(case, inputs, outputs[: len(self.operator.outputs)])
        with self._site.room() as folder:
            return self._site.sampled(self._program(folder, case, answer, inputs, outputs))

    def _program(
        self,
        folder: Path,
        case: WorkloadCase,
        answer: TilingAnswer,
        inputs: Tensors,
        outputs: Tensors,
    ) -> Program:
        launcher = self.kernel(self.variant(case, answer))
        request = write_request(
            folder, answer, inputs, outputs, self.aliases(),
            device=self._site.device, launches=self._site.launches,
        )  # fmt: skip
        return Program(folder, self._kernel_name(case, answer), (str(launcher), str(request)))

    def _kernel_name(self, case: WorkloadCase, answer: TilingAnswer) -> str:
        """How the kernel's symbol begins: a template's is mangled."""
        if self.variant(case, answer).template_arguments:
            return f"_Z{len(self._entry)}{self._entry}"
        return self._entry


def launcher_unit(operator: Operator, variant: KernelVariant, entry_source: str) -> str:
    """Text of the program that holds the kernel and launches it."""
    name, parameters, *_ = kernel_function(operator, entry_source)
    count = len(parameters)
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
            f'#include "{kernel_include(operator)}"',
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
        *(f"-D{one}" for one in operator.definitions),
        *("-I.", "-Iop_kernel", f"-I{SOURCES}", f"-I{toolkit.home / 'include'}"),
        *include_arguments(operator, laid),
        *([f"-I{laid}"] if operator.laid_elsewhere else ()),
        *("kernel_unit.cpp", "-o", "launcher", f"-L{toolkit.home / 'lib64'}", "-lascendcl"),
    ]


def write_request(
    folder: Path,
    answer: TilingAnswer,
    inputs: Tensors,
    outputs: Tensors,
    aliases: dict[int, int],
    *,
    device: int,
    launches: int = 1,
) -> Path:
    """Write tensors and the launcher's request. Raises InputError for tensor lists."""
    (folder / "tiling").write_bytes(answer.data)
    lines = [
        f"device\t{device}",
        f"block_dim\t{answer.block_dim}",
        f"repeat\t{launches}",
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
        raise InputError(
            "Only the cann backend launches operators with tensor lists: their descriptor is built"
            " by the framework."
        )
    return tensor
