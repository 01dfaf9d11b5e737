"""A launch of an example: what its host program asked for, and the kernel built and run for it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from pydantic import Field

from ci.backend.sim import LAUNCH_BYTES, POISONS
from ci.host.kernel_unit import KernelVariant
from ci.model.errors import InputError, TrialFailure
from ci.model.frozen import Frozen
from ci.model.launch import Tensors
from ci.model.operator import Operator, TensorSpec
from ci.model.trial import Outcome
from ci.simulator.kernel_cores import cores_of
from ci.simulator.launch import LaunchResult, launch
from ci.simulator.launch_request import LaunchSpec
from ci.simulator.symbols import check_symbols, defined_symbols, undefined_symbols
from ci.simulator.toolchain import Toolchain
from ci.system.sandbox import Limits
from lab.examples.source import Example, conditioned, device_text
from rules.devices import Device

LAUNCH_SECONDS = 1800.0
"""Wall time of a launch: the longest examples multiply matrices of 8192 x 8192."""

ENTRY = "ascendopt_example"

# What device code includes for its host functions only. Their names are in signatures.
_HOST_ONLY = {
    "acl/acl.h": "",
    "data_utils.h": "#include <cstdint>\n#include <cstdio>\n#include <string>\n#include <vector>\n",
    "tiling/platform/platform_ascendc.h": "namespace platform_ascendc { class PlatformAscendC; }\n",
    "tiling/tiling_api.h": "namespace matmul_tiling {}\nnamespace optiling {}\n",
}

# A kernel's words for the cores that it runs on, and the API's names for these.
_CORES = (
    (r"__mix__\s*\(\s*1\s*,\s*2\s*\)", "KERNEL_TYPE_MIX_AIC_1_2"),
    (r"__mix__\s*\(\s*1\s*,\s*1\s*\)", "KERNEL_TYPE_MIX_AIC_1_1"),
    (r"__mix__\s*\(\s*1\s*,\s*0\s*\)|__cube__", "KERNEL_TYPE_AIC_ONLY"),
    (r"__mix__\s*\(\s*0\s*,\s*1\s*\)|__vector__", "KERNEL_TYPE_AIV_ONLY"),
)

# Arguments that are no address, by their bytes: the parameter's type is the compiler's to know.
_SUPPORT = """
struct AscendOptAddress {
    uint8_t* at;
    template <typename T> __aicore__ inline operator T*() const { return reinterpret_cast<T*>(at); }
};
template <size_t N> struct AscendOptBytes {
    unsigned char bytes[N];
    template <typename T> __aicore__ inline operator T() const {
        return __builtin_bit_cast(T, *this);
    }
};
"""


class Asked(Frozen):
    """What a launch asked for."""

    kernel: str
    """The kernel as the compiler writes it: `name` or `name<…>`."""
    blocks: int = Field(ge=1)
    arguments: tuple[tuple[str, ...], ...]
    """Arguments, each: ('buffer', number, offset), ('value', bytes in hex) or ('null',)."""


def read_asked(path: Path) -> Asked:
    """What `launch.h` wrote. Raises InputError when it is no launch."""
    try:
        kernel, blocks, *rest = path.read_text(encoding="utf-8").splitlines()
        kernel = kernel.replace("{anonymous}::", "").replace("(anonymous namespace)::", "")
        arguments = tuple(tuple(line.split()) for line in rest)
        return Asked(kernel=kernel, blocks=int(blocks), arguments=arguments)
    except (OSError, ValueError) as problem:
        raise InputError("The host program has launched nothing that can be read.") from problem


def run_kernel(
    example: Example, asked: Asked, buffers: Tensors, toolchain: Toolchain, device: Device
) -> LaunchResult:
    """Build the kernel of a launch and run it; the result's outputs are the buffers after it.

    Raises TrialFailure when it does not compile, is refused or does not end well.
    """
    texts = kernel_texts(example, asked, len(buffers))
    operator = _operator(example, texts, len(buffers))
    kinds = ("uint8",) * len(buffers)
    variant = KernelVariant(
        dtypes=kinds,
        formats=("ND",) * len(buffers),
        tiling_key=0,
        tiling_declarations="",
        tiling_struct="",
    )
    vector = _built(toolchain, operator, texts, variant, "vector")
    found = list(texts.values())
    cores = cores_of(
        toolchain.architecture, defined_symbols(vector), undefined_symbols(vector), found
    )
    cube = _built(toolchain, operator, texts, variant, "cube") if cores.cubes else None
    spec = LaunchSpec(
        kernel=vector if cores.vectors or cube is None else cube,
        cores=cores,
        cube_kernel=cube if cores.mixed else None,
        block_dim=asked.blocks,
        tiling_key=0,
        tiling=bytes(8),
        workspace=0,
        auto_sync=True,
        aliases={index: index for index in range(len(buffers))},
        initial={},
        poison=POISONS[1],
        true_offsets=toolchain.door.true_offsets,
    )
    limits = Limits(
        seconds=LAUNCH_SECONDS, memory_bytes=LAUNCH_BYTES, processes=1, file_bytes=2 << 30
    )
    likes: Tensors = [np.empty_like(one) for one in buffers if isinstance(one, np.ndarray)]
    return launch(toolchain.machine_runner, device, spec, buffers, likes, limits)


def _built(
    toolchain: Toolchain,
    operator: Operator,
    texts: dict[str, str],
    variant: KernelVariant,
    core: str,
) -> Path:
    kernel = toolchain.compile_kernel(operator, texts, variant, core)
    refused = check_symbols(kernel, toolchain.machine_runner, lambda: None)
    if refused:
        raise TrialFailure(Outcome.REJECTED, refused)
    return kernel


def kernel_texts(example: Example, asked: Asked, buffers: int) -> dict[str, str]:
    """The example's device code by path, and the entry that calls its kernel with `asked`."""
    own = {name: device_text(text) for name, text in example.texts().items()}
    name = re.split(r"[<(]", asked.kernel)[0].split("::")[-1].strip()
    plain = conditioned("".join(own.values()), example.definitions)
    marks = r"((?:__\w+__\s*(?:\([\d\s,]*\))?\s*)+)"
    head = re.search(rf"{marks}void\s+{name}\b", plain)
    kinds = [kind for words, kind in _CORES if head and re.search(words, head.group(1))]
    parameters = ", ".join(f"GM_ADDR a{i}" for i in range(buffers))
    call = f"{asked.kernel}({', '.join(map(_argument, asked.arguments))})"
    entry = [
        *(f"#define {one.replace('=', ' ', 1)}" for one in example.definitions),
        f'#include "{example.source}"',
        _SUPPORT,
        f'extern "C" __global__ __aicore__ void {ENTRY}({parameters}, GM_ADDR, GM_ADDR)',
        "{",
        *(f"    KERNEL_TASK_TYPE_DEFAULT({kind});" for kind in kinds[:1]),
        f"    {call};",
        "}",
        "",
    ]
    texts = {**_HOST_ONLY, **{n: t for n, t in own.items() if n not in _HOST_ONLY}}
    laid = {f"op_kernel/{name}": text for name, text in texts.items()}
    return {**laid, f"op_kernel/{ENTRY}.cpp": "\n".join(entry)}


def _argument(given: tuple[str, ...]) -> str:
    kind, *words = given
    if kind == "null":
        return "nullptr"
    if kind == "buffer":
        return f"AscendOptAddress{{a{words[0]} + {words[1]}}}"
    values = [f"0x{words[0][i : i + 2]}" for i in range(0, len(words[0]), 2)]
    return f"AscendOptBytes<{len(values)}>{{{{{', '.join(values)}}}}}"


def _operator(example: Example, texts: dict[str, str], buffers: int) -> Operator:
    tensors = tuple(TensorSpec(name=f"a{i}", dtypes=("uint8",)) for i in range(buffers))
    return Operator(
        name=ENTRY,
        op_type="Example",
        root=example.folder,
        layout="cann-ops",
        host_sources=(),
        kernel_sources=tuple(texts),
        definition_source="",
        tiling_sources=(),
        kernel_entry=f"op_kernel/{ENTRY}.cpp",
        inputs=tensors,
        outputs=(),
    )
