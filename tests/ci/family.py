"""Two operators that share tiling and pipeline, in a repository of the cann-ops layout."""

from __future__ import annotations

import subprocess
from pathlib import Path

PIPELINE = "op_kernel/src/common/inc/family/pipeline.h"
TILING = "op_host/src/common/src/family/family_tiling.cpp"
FACTORS = {"twice": 2, "thrice": 3, "eightfold": 8}

_DATA = """#ifndef FAMILY_TILING_DATA_H
#define FAMILY_TILING_DATA_H
#include "register/tilingdata_base.h"
namespace optiling {
BEGIN_TILING_DATA_DEF(FamilyTilingData)
TILING_DATA_FIELD_DEF(uint32_t, coreLength);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(Twice, FamilyTilingData)
REGISTER_TILING_DATA_CLASS(Thrice, FamilyTilingData)
REGISTER_TILING_DATA_CLASS(Eightfold, FamilyTilingData)
}  // namespace optiling
#endif
"""

_TILING = """#include "family/family_tiling_data.h"
#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"
namespace optiling {
constexpr uint32_t BLOCK_DIM = 8;
static ge::graphStatus TileFamily(gert::TilingContext *context)
{
    uint32_t length = context->GetInputShape(0)->GetStorageShape().GetShapeSize();
    FamilyTilingData tiling;
    tiling.set_coreLength(length / BLOCK_DIM);
    context->SetBlockDim(BLOCK_DIM);
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(),
                        context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->GetWorkspaceSizes(1)[0] = 0;
    return ge::GRAPH_SUCCESS;
}
IMPL_OP_OPTILING(Twice).Tiling(TileFamily);
IMPL_OP_OPTILING(Thrice).Tiling(TileFamily);
IMPL_OP_OPTILING(Eightfold).Tiling(TileFamily);
}  // namespace optiling
"""

_NAMES = """#ifndef FAMILY_NAMES_H
#define FAMILY_NAMES_H
constexpr uint32_t TILE = 512;
#endif
"""

_PIPELINE = """#ifndef FAMILY_PIPELINE_H
#define FAMILY_PIPELINE_H
#include "names.h"
using namespace AscendC;
class Scaled {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, uint32_t length)
    {
        length_ = length;
        xGm_.SetGlobalBuffer((__gm__ float *)x + length * GetBlockIdx(), length);
        yGm_.SetGlobalBuffer((__gm__ float *)y + length * GetBlockIdx(), length);
        pipe_.InitBuffer(in_, 1, TILE * sizeof(float));
        pipe_.InitBuffer(out_, 1, TILE * sizeof(float));
    }
    __aicore__ inline void Process(float factor)
    {
        for (uint32_t offset = 0; offset < length_; offset += TILE) {
            LocalTensor<float> in = in_.AllocTensor<float>();
            DataCopy(in, xGm_[offset], TILE);
            in_.EnQue(in);
            in = in_.DeQue<float>();
            LocalTensor<float> out = out_.AllocTensor<float>();
            Muls(out, in, factor, TILE);
            out_.EnQue(out);
            in_.FreeTensor(in);
            out = out_.DeQue<float>();
            DataCopy(yGm_[offset], out, TILE);
            out_.FreeTensor(out);
        }
    }

private:
    TPipe pipe_;
    TQue<QuePosition::VECIN, 1> in_;
    TQue<QuePosition::VECOUT, 1> out_;
    GlobalTensor<float> xGm_;
    GlobalTensor<float> yGm_;
    uint32_t length_;
};
#endif
"""

_KERNEL = """#include "kernel_operator.h"
#include "pipeline.h"
extern "C" __global__ __aicore__ void {name}(GM_ADDR x, GM_ADDR y, GM_ADDR workspace,
                                             GM_ADDR tiling)
{{
    GET_TILING_DATA(data, tiling);
    Scaled op;
    op.Init(x, y, data.coreLength);
    op.Process({factor}.0f);
}}
"""

_HOST = """#include "register/op_def_registry.h"
namespace ge {{
static graphStatus InferShape{type}(gert::InferShapeContext *context)
{{
    *context->GetOutputShape(0) = *context->GetInputShape(0);
    return GRAPH_SUCCESS;
}}
}}  // namespace ge
namespace ops {{
class {type} : public OpDef {{
public:
    explicit {type}(const char *name) : OpDef(name)
    {{
        this->Input("x").ParamType(REQUIRED).DataType({{ge::DT_FLOAT}}).Format({{ge::FORMAT_ND}});
        this->Output("y").ParamType(REQUIRED).DataType({{ge::DT_FLOAT}}).Format({{ge::FORMAT_ND}});
        this->SetInferShape(ge::InferShape{type});
        this->AICore().AddConfig("ascend910b");
    }}
}};
OP_ADD({type});
}}  // namespace ops
"""

_CMAKE = """add_ops_compile_options(OP_NAME {type} OPTIONS
    -I${{OP_COMMON_DIR}}/inc/family --cce-auto-sync=off)
target_sources(optiling PRIVATE ${{OP_COMMON_DIR}}/src/family/family_tiling.cpp)
target_include_directories(optiling PRIVATE ${{OP_COMMON_DIR}}/inc)
target_sources(opsproto PRIVATE op_host/{name}.cpp)
"""

_TOP_CMAKE = """cmake_minimum_required(VERSION 3.16)
project(family)
set(OP_COMMON_DIR ${CMAKE_SOURCE_DIR}/src/common)
file(GLOB folders ${CMAKE_SOURCE_DIR}/src/math/*)
foreach(folder ${folders})
  add_subdirectory(${folder})
endforeach()
"""

_WORKLOAD = """operator: {type}
golden: golden.py:golden
cases:
  - name: fp32_{length}
    inputs: [{{shape: [{length}], dtype: float32, range: [-2, 2]}}]
"""


def write_family(top: Path, lengths: dict[str, int] | None = None) -> Path:
    """The operator `twice` in a git repository at `top`, whose sibling is `thrice` beside it.

    `lengths`: elements of the case of each; 65536 by default. One for `eightfold` brings that too.
    """
    common = top / "src" / "common"
    family = {
        top / "CMakeLists.txt": _TOP_CMAKE,
        common / "inc/family/names.h": _NAMES,
        common / "inc/family/pipeline.h": _PIPELINE,
        common / "inc/family/family_tiling_data.h": _DATA,
        common / "src/family/family_tiling.cpp": _TILING,
    }
    for name, length in ({"twice": 65536, "thrice": 65536} | (lengths or {})).items():
        root, kind, factor = top / "src" / "math" / name, name.capitalize(), FACTORS[name]
        family |= {
            root / "op_kernel" / f"{name}.cpp": _KERNEL.format(name=name, factor=factor),
            root / "op_host" / f"{name}.cpp": _HOST.format(type=kind),
            root / "CMakeLists.txt": _CMAKE.format(type=kind, name=name),
            root / "workload.yaml": _WORKLOAD.format(type=kind, length=length),
            root / "golden.py": f"def golden(x):\n    return x * {factor}\n",
        }
    for path, text in family.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "Begin"]):
        said = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
        subprocess.run(["git", *said, *words], cwd=top, check=True)
    return top / "src" / "math" / "twice"
