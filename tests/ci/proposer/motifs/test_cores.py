"""Splitting over cores: which half changes, and which loops are left to one core."""

import pytest

from ci.proposer.motifs.match import apply_matches
from ci.proposer.motifs.transforms import JOINT_TRANSFORMS
from ci.source.cpp_source import parse

HOST = """#include "register/op_def_registry.h"
static ge::graphStatus TilingFunc(gert::TilingContext* context)
{
    auto BLOCK_DIM = 1;
    context->SetBlockDim(BLOCK_DIM);
}
"""

KERNEL = """using namespace AscendC;
class Kernel {
    void Process()
    {
        uint32_t offset = 0;
        for (int32_t i = 0; i < this->tileNum - 1; i++) {
            CopyIn(offset, this->tile);
            CopyOut(offset, this->tile);
            offset += this->tile;
        }
        CopyIn(offset, this->rest);
        CopyOut(offset, this->rest);
    }
    void CopyIn(uint32_t offset, uint32_t n)
    {
        LocalTensor<float> x = queue.AllocTensor<float>();
        DataCopy(x, xGm[offset], n);
        queue.EnQue(x);
    }
    void CopyOut(uint32_t offset, uint32_t n)
    {
        LocalTensor<float> x = queue.DeQue<float>();
        for (int32_t i = 0; i < 2; i++) { Adds(x, x, 1.0f, n); }
        DataCopy(yGm[offset], x, n);
        queue.FreeTensor(x);
    }
};
"""

INDEXED = KERNEL.replace("            offset += this->tile;\n", "")


def split(kernel: str, host: str = HOST, by: str = "turn", work: str = "4096") -> tuple[str, str]:
    """(kernel, host) afterwards; ('', '') where nothing is split."""
    find = JOINT_TRANSFORMS["split_over_cores"]
    sources = {"h.cpp": parse(host)}, {"k.cpp": parse(kernel)}
    found = list(find(*sources, {"by": by, "work": work}))
    if not found:
        return "", ""
    (matches,) = found
    after = apply_matches(sources[1]["k.cpp"], [matches["k.cpp"]])
    other = matches.get("h.cpp")
    return after or "", (apply_matches(sources[0]["h.cpp"], [other]) or "") if other else host


def test_each_core_takes_its_turns_and_all_of_them_count() -> None:
    kernel, host = split(KERNEL)
    guard = "if (coreTurn++ % GetBlockNum() == GetBlockIdx()) {\n"
    assert (
        f"            {guard}"
        "                CopyIn(offset, this->tile);\n"
        "                CopyOut(offset, this->tile);\n"
        "            }\n"
        "            offset += this->tile;\n"
    ) in kernel
    assert kernel.count(guard) == 2
    assert kernel.count("uint32_t coreTurn = 0;") == 1
    platform = "platform_ascendc::PlatformAscendC(context->GetPlatformInfo())"
    assert f"SetBlockDim(std::max<int64_t>(1, std::min<int64_t>({platform}.GetCoreNumAiv()," in host
    assert '#include "tiling/platform/platform_ascendc.h"\n' in host


def test_a_loop_whose_turns_stand_alone_steps_by_the_number_of_cores() -> None:
    kernel, _ = split(INDEXED, by="loop")
    assert "for (int32_t i = GetBlockIdx(); i < this->tileNum - 1; i += GetBlockNum()) {" in kernel
    assert kernel.count("GetBlockIdx") == 1  # the loop inside of a tile's work is no loop of tiles
    assert split(KERNEL, by="loop") == ("", "")  # the offset is counted up from turn to turn


def test_the_number_of_cores_follows_the_root_of_the_work() -> None:
    host = split(KERNEL)[1]
    assert "context->GetOutputShape(0)->GetStorageShape().GetShapeSize()) / CORE_START)))" in host
    assert "std::sqrt(std::max<int64_t>(context->GetInputShape(0)" in host
    assert "#include <cmath>" in host
    assert host.count("\nconstexpr int64_t CORE_START = 4096;") == 1


def test_a_host_that_asks_for_many_cores_stays_as_it_is() -> None:
    host = HOST.replace("= 1;", "= platform.GetCoreNum();")
    assert split(KERNEL, host)[1] == host


def test_a_path_of_single_elements_stays_with_one_core() -> None:
    naive = (
        "    void Naive()\n    {\n"
        "        for (int32_t i = 0; i < n; i++) { yGm.SetValue(i, xGm.GetValue(i)); }\n    }\n"
        "    void Init() { xGm.SetGlobalBuffer(x); yGm.SetGlobalBuffer(y); }\n};\n"
    )
    chosen = "uint32_t offset = 0;\n        if (naive) { Naive(); }"
    kernel, _ = split(KERNEL.replace("uint32_t offset = 0;", chosen).replace("};\n", naive))
    guarded = (
        "        if (GetBlockIdx() != 0) {\n            return;\n        }\n        for (int32_t i"
    )
    assert kernel.count("GetBlockIdx() != 0") == 1
    assert guarded in kernel


@pytest.mark.parametrize(
    "kernel",
    [
        KERNEL.replace("offset = 0;", "offset = GetBlockIdx() * this->tile; SyncAll();"),
        KERNEL.replace("Adds(x, x, 1.0f, n);", "Adds(this->sum, this->sum, 1.0f, n);"),
        KERNEL.replace("CopyIn(", "Read(").replace("DataCopy(", "Do(").replace("Que", "It"),
    ],
    ids=[
        "its cores wait for each other",
        "a tile builds on the last one",
        "it moves no tiles by calls",
    ],
)
def test_what_must_not_be_split_is_left_alone(kernel: str) -> None:
    assert kernel != KERNEL
    if "Read(" in kernel:
        kernel = kernel.replace("AllocTensor", "Take").replace("FreeTensor", "Give")
    assert split(kernel) == ("", "")


PARTS = """using namespace AscendC;
class Kernel {
    void Init()
    {
        xGm.SetGlobalBuffer(x + this->length * AscendC::GetBlockIdx(), this->length);
    }
    void Process()
    {
        int32_t tiles = GetBlockIdx() == GetBlockNum() - 1 ? this->last : this->tiles;
        if (this->whole) {
            for (int32_t i = 0; i < tiles; i++) {
                CopyIn(i);
                CopyOut(i);
            }
        } else {
            LocalTensor<float> sums = sumBuffer.Get<float>();
            for (int32_t i = 0; i < tiles; i++) {
                CopyIn(i);
                Reduce(i);
            }
            yGm.SetValue(0, sums.GetValue(0));
        }
    }
    void CopyIn(int32_t i)
    {
        LocalTensor<float> x = queue.AllocTensor<float>();
        DataCopy(x, xGm[i * this->tile], this->tile);
        queue.EnQue(x);
    }
    void Reduce(int32_t i)
    {
        LocalTensor<float> x = queue.DeQue<float>();
        LocalTensor<float> partial = sumBuffer.Get<float>();
        partial.SetValue(i, x.GetValue(0));
        queue.FreeTensor(x);
    }
    void CopyOut(int32_t i)
    {
        LocalTensor<float> x = queue.DeQue<float>();
        DataCopy(yGm[i * this->tile], x, this->tile);
        queue.FreeTensor(x);
    }
};
"""


def test_several_cores_share_each_part_of_a_kernel_that_has_a_fixed_number_of_them() -> None:
    kernel, host = split(PARTS, HOST.replace("= 1;", "= 8;"), by="loop")
    part = "(GetBlockIdx() / (GetBlockNum() / 8))"
    assert f"xGm.SetGlobalBuffer(x + this->length * {part}, this->length);" in kernel
    assert f"int32_t tiles = {part} == 8 - 1 ? this->last" in kernel
    crew = "(GetBlockNum() / 8)"
    head = f"for (int32_t i = (GetBlockIdx() % {crew}); i < tiles; i += {crew}) {{\n"
    assert kernel.count(head) == 1
    assert f"{head}                CopyIn(i);\n                CopyOut(i);" in kernel
    assert "SetBlockDim(8 * std::max<int64_t>(1, std::min<int64_t>(platform_ascendc::" in host
    assert ".GetCoreNumAiv() / 8," in host
    assert ".GetShapeSize()) / CORE_START) / 8))" in host
    assert "#include <algorithm>" in host


def test_names_of_the_api_are_written_as_the_kernel_writes_them() -> None:
    plain = PARTS.replace("using namespace AscendC;\n", "")
    kernel, _ = split(plain, HOST.replace("= 1;", "= 8;"), by="loop")
    assert kernel.count("AscendC::GetBlock") == kernel.count("GetBlock") > 4


def test_what_a_loop_gathers_in_a_buffer_stays_with_the_first_core_of_a_part() -> None:
    kernel, _ = split(PARTS, by="loop")
    leave = (
        "} else {\n            if (GetBlockIdx() != 0) {\n                return;\n            }\n"
    )
    assert leave in kernel
    assert kernel.count("return;") == 1
    assert "x + this->length * 0, this->length" in kernel
    assert split(PARTS, by="turn") == ("", "")


def test_a_host_that_asks_how_many_cores_it_asked_for_is_told_the_parts() -> None:
    asking = HOST.replace(
        "    context->S", "    auto cores = context->GetBlockDim();\n    context->S"
    )
    assert "auto cores = 1;" in split(PARTS, asking, by="loop")[1]


def test_parts_as_many_as_the_device_has_cores_are_left_alone() -> None:
    assert split(PARTS, HOST.replace("= 1;", "= platform.GetCoreNum();"), by="loop") == ("", "")
    assert split(PARTS, HOST.replace("= 1;", "= 40;"), by="loop") == ("", "")


def test_turns_that_write_where_data_says_are_not_dealt_out() -> None:
    by_data = INDEXED.replace(
        "DataCopy(yGm[offset]", "int at = iGm.GetValue(n);\n DataCopy(yGm[at]"
    )
    assert by_data != INDEXED
    assert split(by_data, by="loop") == ("", "")
    assert split(by_data, by="turn") == ("", "")
