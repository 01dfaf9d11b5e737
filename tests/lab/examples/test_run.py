"""A whole example: its data, its host program, two launches on the machine, its verdict."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.simulator.toolchain import Toolchain
from lab.examples.run import run_example
from lab.examples.source import load_example
from rules.devices import load_device

ASC = """
#include "acl/acl.h"
#include "kernel_operator.h"
#include "data_utils.h"

struct Shape {
    uint32_t elements;
    float factor;
};

template <typename T, uint32_t TIMES>
__global__ __vector__ void scale(__gm__ uint8_t* x, __gm__ uint8_t* y, const Shape shape)
{
    AscendC::TPipe pipe;
    AscendC::TBuf<AscendC::TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, shape.elements * sizeof(T));
    AscendC::GlobalTensor<T> from, to;
    from.SetGlobalBuffer((__gm__ T*)x + AscendC::GetBlockIdx() * shape.elements);
    to.SetGlobalBuffer((__gm__ T*)y + AscendC::GetBlockIdx() * shape.elements);
    AscendC::LocalTensor<T> local = buffer.Get<T>();
    AscendC::DataCopy(local, from, shape.elements);
    for (uint32_t i = 0; i < TIMES; i++) {
        AscendC::Muls(local, local, T(shape.factor), shape.elements);
    }
    AscendC::DataCopy(to, local, shape.elements);
}

int32_t main(int32_t argc, char* argv[])
{
    constexpr size_t BYTES = 512 * sizeof(float);
    constexpr uint32_t BLOCKS = 4;
    aclInit(nullptr);
    aclrtStream stream = nullptr;
    aclrtCreateStream(&stream);
    uint8_t *host, *first, *second;
    aclrtMallocHost((void**)&host, BYTES);
    aclrtMalloc((void**)&first, BYTES, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMalloc((void**)&second, BYTES, ACL_MEM_MALLOC_HUGE_FIRST);
    FILE* file = fopen("input/x.bin", "rb");
    if (fread(host, 1, BYTES, file) != BYTES) return 1;
    fclose(file);
    aclrtMemcpy(first, BYTES, host, BYTES, ACL_MEMCPY_HOST_TO_DEVICE);
    const Shape shape{512 / BLOCKS, FACTOR};
    constexpr auto chosen = []() { return scale<float, 1>; }();
    chosen<<<BLOCKS, 0, stream>>>(first, second, shape);
    scale<float, 2><<<BLOCKS, 0, stream>>>(second, first, shape);
    aclrtMemcpy(host, BYTES, first, BYTES, ACL_MEMCPY_DEVICE_TO_HOST);
    file = fopen("output/output.bin", "wb");
    fwrite(host, 1, BYTES, file);
    fclose(file);
    return 0;
}
"""
BUILD = (
    "add_executable(demo scale.asc)\ntarget_compile_definitions(demo PRIVATE FACTOR=${FACTOR})\n"
)
DATA = """
import numpy as np
x = np.arange(512, dtype=np.float32)
x.tofile("input/x.bin")
(x * 27).tofile("output/golden.bin")
"""
VERDICT = """
import sys
import numpy as np
output, golden = (np.fromfile(path, np.float32) for path in sys.argv[1:])
sys.exit(0 if np.array_equal(output, golden) else "not the same")
"""


@pytest.fixture
def scale(tmp_path: Path) -> Path:
    (tmp_path / "scripts").mkdir()
    for name, text in (
        ("CMakeLists.txt", BUILD),
        ("scale.asc", ASC),
        ("data_utils.h", "#include <string>\nbool ReadFile(const std::string&) { return true; }\n"),
        ("scripts/gen_data.py", DATA),
        ("scripts/verify_result.py", VERDICT),
    ):
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.long
def test_an_example_runs_as_it_stands_and_its_own_script_judges_it(scale: Path) -> None:
    device = load_device("910B1")
    toolchain = Toolchain(device.architecture)
    found = run_example(load_example(scale, {"FACTOR": "3"}), toolchain, device)
    assert (found.reached, found.said, len(found.launches_us)) == ("verified", "", 2)
    wrong = run_example(load_example(scale, {"FACTOR": "2"}), toolchain, device)
    assert (wrong.reached, wrong.said) == ("run", "It is wrong: not the same")
