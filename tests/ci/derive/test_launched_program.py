"""Programs that launch a kernel are run, and fill the frame of its workload."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from bot.cli.main import run
from ci.backend.sim import SimulatorBackend
from ci.derive.launched_program import given_to_kernel
from ci.judge.evaluate import Evaluator
from ci.model.trial import Candidate, Outcome
from ci.source.discovery import load_operator
from ci.source.launched.frame import write_frame
from ci.source.workload_file import load_workload

KERNEL = """
#include "kernel_operator.h"
#include "acl/acl.h"
using namespace AscendC;
struct Plan { uint32_t each; int32_t steps[2]; float by; };

template <typename T> class Scale {
public:
    __aicore__ inline void Run(GM_ADDR from, GM_ADDR to, uint32_t each, float by)
    {
        xs_.SetGlobalBuffer((__gm__ T*)from + each * GetBlockIdx(), each);
        ys_.SetGlobalBuffer((__gm__ T*)to + each * GetBlockIdx(), each);
        pipe_.InitBuffer(in_, 1, each * sizeof(T));
        pipe_.InitBuffer(out_, 1, each * sizeof(T));
        LocalTensor<T> in = in_.AllocTensor<T>();
        DataCopy(in, xs_, each);
        in_.EnQue(in);
        in = in_.DeQue<T>();
        LocalTensor<T> out = out_.AllocTensor<T>();
        Muls(out, in, static_cast<T>(by), each);
        out_.EnQue(out);
        in_.FreeTensor(in);
        out = out_.DeQue<T>();
        DataCopy(ys_, out, each);
        out_.FreeTensor(out);
    }

private:
    TPipe pipe_;
    TQue<TPosition::VECIN, 1> in_;
    TQue<TPosition::VECOUT, 1> out_;
    GlobalTensor<T> xs_, ys_;
};

template <uint32_t rows> __global__ __aicore__ void scaled(
    GM_ADDR x, __gm__ int32_t* rowsAt, GM_ADDR room, GM_ADDR y, Plan plan, uint32_t count)
{
    Scale<float> op;
    op.Run(x, y, plan.each * (count == 2 * rows), plan.by);
}
"""
MAIN = """
#include "acl/acl.h"
#include <vector>
uint8_t* Filled(size_t bytes, const void* from)
{
    uint8_t* at = nullptr;
    aclrtMalloc((void**)&at, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
    if (from != nullptr) aclrtMemcpy(at, bytes, from, bytes, ACL_MEMCPY_HOST_TO_DEVICE);
    return at;
}
int main()
{
    constexpr uint32_t rows = 4;
    aclrtStream stream = nullptr;
    aclrtCreateStream(&stream);
    std::vector<float> data(rows * 256, 0.5f);
    std::vector<int32_t> starts;
    for (int row = 0; row < 4; ++row) starts.push_back(256 * row);
    uint8_t* x = Filled(data.size() * 4, data.data());
    uint8_t* at = Filled(16, starts.data());
    uint8_t* y = Filled(data.size() * 4, nullptr);
    Plan plan{256, {1, -2}, 1.5f};
    LAUNCH
    aclrtSynchronizeStream(stream);
    aclrtMemcpy(data.data(), data.size() * 4, y, data.size() * 4, ACL_MEMCPY_DEVICE_TO_HOST);
    return 0;
}
"""
LAUNCH = "scaled<rows><<<rows, nullptr, stream>>>(x, (int32_t*)at, nullptr, y, plan, 2 * rows);"


def _repository(top: Path, sources: dict[str, str]) -> Path:
    (top / ".git").mkdir()
    for name, text in sources.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text)
    return top / "perf" / "scale"


def test_a_program_fills_the_whole_frame_and_it_can_be_evaluated(tmp_path: Path) -> None:
    text = KERNEL + MAIN.replace("LAUNCH", LAUNCH)
    folder = _repository(tmp_path, {"csrc/scale.asc": text})
    file, is_open = write_frame(tmp_path / "csrc" / "scale.asc", "", folder, given_to_kernel)
    assert not is_open
    said = yaml.safe_load(file.read_text())
    assert said["launch"] | {"kernel": ""} == {
        "kernel": "",
        "entry": "scaled",
        "template": [4],
        "blocks": 4,
        "outputs": {"y": {"shape": [1024], "dtype": "float32"}},
        "structs": {"plan": {"fields": {"each": 256, "steps": [1, -2], "by": 1.5}}},
        "workspace": {"room": 0},
        "values": {"count": 8},
    }
    assert said["cases"] == [
        {
            "inputs": {
                "x": {"shape": [1024], "dtype": "float32"},
                "rowsAt": {"shape": [4], "dtype": "int32", "values": [0, 256, 512, 768]},
            }
        }
    ]
    operator = load_operator(folder)
    trial = Evaluator(operator, load_workload(operator), SimulatorBackend("910B4")).evaluate(
        Candidate(), 0
    )
    assert trial.outcome is Outcome.OK, trial.refusal


SHARED = """
#include "kernel_operator.h"
#include "acl/acl.h"
#include "tiling/tiling_api.h"
using namespace AscendC;
namespace shared {
struct Inner { int16_t first; };
struct Plan { Inner inner; AscendC::tiling::TCubeTiling cube; static constexpr int NONE = 3; };
class Closed {
public:
    Closed(int32_t from, uint8_t by) : from_(from), by_(by) {}
    Closed() = default;
    int32_t from_;
private:
    uint8_t by_;
};
}  // namespace shared
__schedmode__(1) __global__ __mix__(1, 2) void told(
    __gm__ int32_t* y, shared::Plan plan, shared::Closed closed, AscendC::tiling::TCubeTiling cube)
{
    if (ASCEND_IS_AIC) return;
    GlobalTensor<int32_t> mine;
    mine.SetGlobalBuffer(y + 16 * GetBlockIdx(), 16);
    for (int i = 0; i < 16; ++i) mine.SetValue(i, GetTaskRation() * 100 + GetSubBlockIdx());
    mine.SetValue(1, plan.inner.first + plan.cube.baseN + cube.M);
    mine.SetValue(2, closed.from_);
    DataCacheCleanAndInvalid<int32_t, CacheLine::ENTIRE_DATA_CACHE>(mine);
}
int main()
{
    matmul_tiling::MultiCoreMatmulTiling api;
    api.SetShape(64, 32, 16);
    api.SetFixSplit(16, 32, 16);
    shared::Plan plan{{-7}, {}};
    api.GetTiling(plan.cube);
    plan.cube.baseN = 32;
    aclrtStream stream = nullptr;
    uint8_t* y = nullptr;
    aclrtMalloc((void**)&y, 256, ACL_MEM_MALLOC_HUGE_FIRST);
    told<<<2, nullptr, stream>>>((int32_t*)y, plan, shared::Closed(-2, 3), plan.cube);
    int32_t host[64];
    aclrtMemcpy(host, 256, y, 256, ACL_MEMCPY_DEVICE_TO_HOST);
    return 0;
}
"""


def test_structures_of_namespaces_and_of_the_library_reach_the_kernel(tmp_path: Path) -> None:
    folder = _repository(tmp_path, {"csrc/told.asc": SHARED})
    file, is_open = write_frame(tmp_path / "csrc" / "told.asc", "", folder, given_to_kernel)
    assert not is_open, file.read_text()
    given = yaml.safe_load(file.read_text())["launch"]["structs"]
    assert given["plan"]["fields"]["inner.first"] == -7
    assert given["cube"]["fields"]["M"] == given["plan"]["fields"]["cube.M"] == 64
    assert given["closed"]["words"][0] == 2**32 - 2
    (folder / "golden.py").write_text(
        "import numpy as np\n"
        "def told():\n"
        "    y = np.array([[200 + i % 2] * 16 for i in range(4)], np.int32)\n"
        "    y[:, 1:3] = -7 + 32 + 64, -2\n"
        "    return y.reshape(-1)\n"
    )
    file.write_text(file.read_text().replace("golden: ''", "golden: golden.py:told"))
    operator = load_operator(folder)
    trial = Evaluator(operator, load_workload(operator), SimulatorBackend("910B4")).evaluate(
        Candidate(), 0
    )
    assert trial.outcome is Outcome.OK, trial.refusal


ASKS = """
#include "tiling/platform/platform_ascendc.h"
#include "tiling/tiling_api.h"
using namespace tiles;
constexpr DeviceConfig CONFIG = {DeviceMode::WIDE, -1};
#if WIDE
__global__ __aicore__ void other(GM_ADDR x, __gm__ int32_t* rowsAt)
#else
__global__ __aicore__ void other(GM_ADDR x)
#endif
{
}
"""
PLANNED = """
    auto* chip = platform_ascendc::PlatformAscendCManager::GetInstance();
    matmul_tiling::MultiCoreMatmulTiling product(*chip);
    product.SetDim(chip->GetCoreNumAiv());
    optiling::TCubeTiling planned;
    product.SetShape(64, 32, 128), product.SetOrgShape(64, 32, 128);
    if (product.GetTiling(planned) < 0) return 1;
    std::vector<int32_t> bytes(planned.GetDataSize() / 4);
    planned.SaveToBuffer(bytes.data(), planned.GetDataSize());
    at = Filled(16, bytes.data() + 1);
    ge::Shape shape({4, 128});
    plan.each = AscendC::GetLogSoftMaxMinTmpSize(shape, 4, false);
    FILE* file = fopen("../data/by.bin", "rb");
    fread(&plan.by, 1, sizeof plan.by, file);
"""


def test_what_a_program_asks_of_the_tiling_library_is_known(tmp_path: Path) -> None:
    """And what does not hang on a file that is not there, and no constant for the device."""
    text = KERNEL + ASKS + MAIN.replace("LAUNCH", PLANNED + LAUNCH)
    folder = _repository(tmp_path, {"csrc/scale.asc": text})
    file, _ = write_frame(tmp_path / "csrc" / "scale.asc", "scaled", folder, given_to_kernel)
    said = yaml.safe_load(file.read_text())
    fields = said["launch"]["structs"]["plan"]["fields"]
    assert fields["each"] > 0 and fields["steps"] == [1, -2] and "by" not in fields
    assert said["cases"][0]["inputs"]["rowsAt"]["values"][:3] == [64, 32, 128]


def test_device_code_of_headers_is_left_out_as_that_of_the_source(tmp_path: Path) -> None:
    helpers, kernel = KERNEL.split("template <uint32_t rows>")
    local = "__aicore__ inline void Clear(__cbuf__ half* at) { *at = half(0); }\n"
    text = '#include "parts/scale.h"\ntemplate <uint32_t rows>' + kernel
    sources = {
        "csrc/scale.asc": text + MAIN.replace("LAUNCH", LAUNCH),
        "csrc/parts/scale.h": '#include "local.h"\n' + helpers,
        "csrc/parts/local.h": local,
    }
    folder = _repository(tmp_path, sources)
    file, is_open = write_frame(tmp_path / "csrc" / "scale.asc", "", folder, given_to_kernel)
    assert not is_open
    assert yaml.safe_load(file.read_text())["launch"]["structs"]["plan"]["fields"]["each"] == 256


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "build",
    [
        "add_executable(demo scale.asc)\ntarget_compile_definitions(demo PRIVATE EACH=${EACH})",
        "add_executable(demo scale.asc)\ntarget_compile_options(demo PRIVATE"
        " $<$<COMPILE_LANGUAGE:ASC>:--npu-arch=dav-2201 -DEACH=256>)",
        "ascendc_library(demo STATIC scale.asc)\n"
        "ascendc_compile_definitions(demo PRIVATE -DEACH=256)",
        "add_definitions(-DEACH=${EACH})\nadd_executable(demo scale.asc)",
        "add_definitions(-DEACH=${NOBODY_SAYS})\nadd_executable(demo scale.asc)",
    ],
    ids=["definition", "option", "library", "folder", "person"],
)
def test_macros_of_the_build_hold_for_program_and_kernel(build: str, tmp_path: Path) -> None:
    main = MAIN.replace("plan{256,", "plan{EACH,").replace("LAUNCH", LAUNCH)
    text = KERNEL.replace("plan.each *", "EACH *") + main
    listing = 'project(demo)\nfind_package(ASC REQUIRED)\nset(EACH 256 CACHE STRING "")\n' + build
    sources = {"csrc/scale.asc": text, "csrc/CMakeLists.txt": listing}
    person = ".ascendopt.yml" if "NOBODY" in build else ""
    sources |= {person: "build: [{definitions: [EACH=256]}]\n"} if person else {}
    folder = _repository(tmp_path, sources)
    file, _ = write_frame(tmp_path / "csrc" / "scale.asc", "", folder, given_to_kernel)
    assert yaml.safe_load(file.read_text())["launch"]["structs"]["plan"]["fields"]["each"] == 256
    operator = load_operator(folder)
    assert operator.definitions == ("EACH=256",)
    assert ("option -DEACH=256", person or "target demo") in {
        (one.fact, one.said_by) for one in operator.build_facts
    }
    trial = Evaluator(operator, load_workload(operator), SimulatorBackend("910B4")).evaluate(
        Candidate(), 0
    )
    assert trial.outcome is Outcome.OK, trial.refusal


PLAIN = """
extern "C" __global__ __aicore__ void plain(GM_ADDR x, GM_ADDR y) {
    Scale<half> op;
    op.Run(x, y, 256, 2.0f);
}
"""


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "sources",
    [
        {
            "kernel.cpp": KERNEL
            + PLAIN
            + "void plain_do(uint32_t blocks, void* stream, uint8_t* a,"
            " uint8_t* b) { plain<<<blocks, nullptr, stream>>>(a, b); }",
            "app/main.cpp": "extern void plain_do(uint32_t, void*, uint8_t*, uint8_t*);"
            + MAIN.replace("Plan plan{256, {1, -2}, 1.5f};", "").replace(
                "LAUNCH", "plain_do(4, stream, x, y);"
            ),
        },
        {
            "kernel.cpp": KERNEL + PLAIN,
            "app/main.cpp": '#include "aclrtlaunch_plain.h"'
            + MAIN.replace("Plan plan{256, {1, -2}, 1.5f};", "").replace(
                "LAUNCH", "ACLRT_LAUNCH_KERNEL(plain)(4, stream, x, y);"
            ),
        },
    ],
    ids=["by a function", "by a macro"],
)
def test_a_program_may_launch_from_another_file(sources: dict[str, str], tmp_path: Path) -> None:
    folder = _repository(tmp_path, sources)
    asked = ["workload", "frame", str(tmp_path / "kernel.cpp"), "--entry", "plain"]
    assert run([*asked, "--out", str(folder)]) == 0
    said = yaml.safe_load((folder / "workload.yaml").read_text())
    assert said["launch"]["blocks"] == 4
    assert said["launch"]["outputs"] == {"y": {"shape": [2048], "dtype": "float16"}}
    assert said["cases"] == [{"inputs": {"x": {"shape": [2048], "dtype": "float16"}}}]
    assert "app/main.cpp was run" in (folder / "workload.yaml").read_text()


BY_TYPES = """
BEGIN_TILING_DATA_DEF(HostsOwn)
TILING_DATA_FIELD_DEF(uint32_t, each);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(ByTypes, HostsOwn)
template <typename T, int wide> __global__ __aicore__ void by_types(__gm__ T* x, GM_ADDR y) {
    if constexpr (wide == 2) {
        Scale<half> op;
        op.Run((GM_ADDR)x, y, 256, 2.0f);
    } else {
        Scale<float> op;
        op.Run((GM_ADDR)x, y, 256, 2.0f);
    }
}
template <typename Number> void Launched(uint8_t* x, uint8_t* y, void* stream) {
    // As by_types<<<4, nullptr>>>(x, y, 1) does, or any other <<<>>>.
    by_types<Number, 2><<<4, nullptr, stream>>>((Number*)x, y);
}
"""


def test_the_kernel_tells_what_its_tensors_hold_where_templates_decide(tmp_path: Path) -> None:
    main = MAIN.replace("LAUNCH", "Launched<int16_t>(x, y, stream);")
    folder = _repository(tmp_path, {"kernel.asc": KERNEL + BY_TYPES + main})
    file, is_open = write_frame(tmp_path / "kernel.asc", "by_types", folder, given_to_kernel)
    assert not is_open, file.read_text()
    said = yaml.safe_load(file.read_text())
    assert said["launch"]["template"] == ["int16_t", 2]
    assert said["launch"]["outputs"] == {"y": {"shape": [2048], "dtype": "float16"}}
    assert said["cases"] == [{"inputs": {"x": {"shape": [2048], "dtype": "int16"}}}]


def test_a_kernel_that_does_not_compile_leaves_open_what_its_tensors_hold(tmp_path: Path) -> None:
    text = KERNEL + BY_TYPES.replace("Scale<half> op;", "Missing<half> op;")
    main = MAIN.replace("LAUNCH", "Launched<int16_t>(x, y, stream);")
    folder = _repository(tmp_path, {"kernel.asc": text + main})
    file, is_open = write_frame(tmp_path / "kernel.asc", "by_types", folder, given_to_kernel)
    assert is_open and "y: {shape: [TODO], dtype: TODO}  # 4,096 bytes" in file.read_text()
    assert "as it was not run: The kernel does not compile: 'Missing'" in file.read_text()


def test_a_number_that_no_build_defines_is_named(tmp_path: Path) -> None:
    main = MAIN.replace("LAUNCH", "if (ROWS == 4) { plain<<<4, nullptr, stream>>>(x, y); }")
    folder = _repository(tmp_path, {"kernel.asc": KERNEL + PLAIN + main})
    file, is_open = write_frame(tmp_path / "kernel.asc", "plain", folder, given_to_kernel)
    assert is_open and "no build file defines ROWS, which kernel.asc needs" in file.read_text()


def test_a_kernel_of_the_same_name_elsewhere_says_nothing_of_this_one(tmp_path: Path) -> None:
    def program(blocks: int) -> str:
        return KERNEL + PLAIN + MAIN.replace("LAUNCH", f"plain<<<{blocks}, nullptr>>>(x, y);")

    sources = {"a/kernel.asc": program(2), "b/kernel.asc": program(4), "c/kernel.asc": program(3)}
    folder = _repository(tmp_path, sources)
    file, _ = write_frame(tmp_path / "b" / "kernel.asc", "plain", folder, given_to_kernel)
    assert yaml.safe_load(file.read_text())["launch"]["blocks"] == 4


def test_an_output_that_the_program_clears_begins_as_zeros(tmp_path: Path) -> None:
    launch = "aclrtMemset(y, 4096, 0, 4096); plain<<<4, nullptr, stream>>>(x, y);"
    folder = _repository(tmp_path, {"kernel.asc": KERNEL + PLAIN + MAIN.replace("LAUNCH", launch)})
    file, is_open = write_frame(tmp_path / "kernel.asc", "plain", folder, given_to_kernel)
    assert yaml.safe_load(file.read_text())["initial"] == {"y": 0} and not is_open
    operator = load_operator(folder)
    assert load_workload(operator).initial == {"y": 0.0}


def test_what_is_read_back_and_filled_before_is_changed_in_place(tmp_path: Path) -> None:
    launch = "plain<<<4, nullptr, stream>>>(y, x); y = x;"
    text = KERNEL + PLAIN + MAIN.replace("LAUNCH", launch)
    folder = _repository(tmp_path, {"kernel.asc": text})
    file, _ = write_frame(tmp_path / "kernel.asc", "plain", folder, given_to_kernel)
    said = yaml.safe_load(file.read_text())
    assert said["in_place"] == ["y"]
    assert said["launch"]["workspace"] == {"x": 4096}


@pytest.mark.parametrize(
    "launch",
    [
        "",
        "nobody(plain);",
        "plain<<<4, nullptr, stream>>>(x, y, 1); return 1",
        "plain<<<CORES, nullptr, stream>>>(x, y);",
    ],
    ids=["none", "unknown", "no C++", "unknown blocks"],
)
def test_where_no_program_runs_a_person_fills_the_frame(
    launch: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = KERNEL + PLAIN + MAIN.replace("LAUNCH", launch)
    folder = _repository(tmp_path, {"kernel.asc": text})
    asked = ["workload", "frame", str(tmp_path / "kernel.asc"), "--entry", "plain", "--json"]
    assert run([*asked, "--out", str(folder)]) == 0
    assert json.loads(capsys.readouterr().out)["complete"] is False
    assert "blocks: TODO" in (folder / "workload.yaml").read_text()
