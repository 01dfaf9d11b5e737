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


def split(kernel: str, host: str = HOST, by: str = "turn", share: str = "1") -> tuple[str, str]:
    """(kernel, host) afterwards; ('', '') where nothing is split."""
    find = JOINT_TRANSFORMS["split_over_cores"]
    sources = {"h.cpp": parse(host)}, {"k.cpp": parse(kernel)}
    found = list(find(*sources, {"by": by, "share": share}))
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
    assert f"SetBlockDim({platform}.GetCoreNumAiv());" in host
    assert host.startswith('#include "tiling/platform/platform_ascendc.h"\n')


def test_a_loop_whose_turns_stand_alone_steps_by_the_number_of_cores() -> None:
    kernel, _ = split(INDEXED, by="loop")
    assert "for (int32_t i = GetBlockIdx(); i < this->tileNum - 1; i += GetBlockNum()) {" in kernel
    assert kernel.count("GetBlockIdx") == 1  # the loop inside of a tile's work is no loop of tiles
    assert split(KERNEL, by="loop") == ("", "")  # the offset is counted up from turn to turn


def test_a_share_of_the_cores_is_asked_for_where_the_host_asked_for_one() -> None:
    assert ".GetCoreNumAiv() / 5);" in split(KERNEL, share="5")[1]


def test_a_host_that_asks_for_many_cores_stays_as_it_is() -> None:
    host = HOST.replace("= 1;", "= platform.GetCoreNum();")
    assert split(KERNEL, host)[1] == host
    assert split(KERNEL, host, share="5") == ("", "")


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
        KERNEL.replace("offset = 0;", "offset = GetBlockIdx() * this->tile;"),
        KERNEL.replace("Adds(x, x, 1.0f, n);", "Adds(this->sum, this->sum, 1.0f, n);"),
        KERNEL.replace("CopyIn(", "Read(").replace("DataCopy(", "Do(").replace("Que", "It"),
    ],
    ids=["it is split already", "a tile builds on the last one", "it moves no tiles by calls"],
)
def test_what_must_not_be_split_is_left_alone(kernel: str) -> None:
    assert kernel != KERNEL
    if "Read(" in kernel:
        kernel = kernel.replace("AllocTensor", "Take").replace("FreeTensor", "Give")
    assert split(kernel) == ("", "")
