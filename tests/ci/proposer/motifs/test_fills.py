"""Fills by the first core that all of them share: what is rewritten, what stays, that it runs."""

import numpy as np
import pytest

from ci.proposer.motifs.match import apply_matches
from ci.proposer.motifs.transforms import TRANSFORMS
from ci.source.cpp_source import parse
from tests.ci.simulator.ascendc_harness import AscendCHarness

KERNEL = """using namespace AscendC;
class Kernel {
public:
    __aicore__ inline void Init(GM_ADDR y, int64_t length)
    {
        pipe.InitBuffer(zeros, 64);
        yGm.SetGlobalBuffer((__gm__ float*)y);
        if (GetBlockIdx() == 0) {
            Clear(yGm, length);
        }
        SyncAll();
    }
    __aicore__ inline void Write(GlobalTensor<float>& target, int64_t count, int64_t offset)
    {
        LocalTensor<float> zero = zeros.Get<float>();
        Duplicate(zero, 0.0f, 16);
        PipeBarrier<PIPE_ALL>();
        DataCopyPad(target[offset], zero, DataCopyExtParams{1, (uint32_t)(count * 4), 0, 0, 0});
        PipeBarrier<PIPE_ALL>();
    }
    __aicore__ inline void Clear(GlobalTensor<float>& target, int64_t count)
    {
        int64_t piece = 16;
        int64_t pieces = count / piece;
        int64_t offset = 0;
        for (int64_t i = 0; i < pieces; i++) {
            Write(target, piece, offset);
            offset += piece;
        }
        if (count % piece > 0) {
            Write(target, count % piece, offset);
        }
    }
private:
    TPipe pipe;
    TBuf<TPosition::VECCALC> zeros;
    GlobalTensor<float> yGm;
};
"""

RUN = """
__aicore__ inline void kernel(GM_ADDR* a)
{
    Kernel op;
    op.Init(a[1], global<int64_t>(a[0]).GetValue(0));
}
"""


def shared(kernel: str) -> str:
    """The kernel afterwards; '' where nothing is changed."""
    source = parse(kernel)
    found = list(TRANSFORMS["share_fills"](source, {}))
    return apply_matches(source, found) or "" if found else ""


def test_each_core_takes_every_nth_copy_and_the_first_one_the_rest() -> None:
    after = shared(KERNEL)
    assert "if (GetBlockIdx() == 0) {\n            Clear" not in after
    assert "        Clear(yGm, length);\n        SyncAll();" in after
    cores = "(GetBlockNum() * GetTaskRation())"
    assert (
        f"        for (int64_t i = GetBlockIdx(); i < pieces; i += {cores}) {{\n"
        "            Write(target, piece, (offset + static_cast<int64_t>(i) * piece));\n"
        "        }\n"
        "        offset += pieces * piece;\n"
    ) in after
    assert "if (GetBlockIdx() == 0) {\n                Write(target, count % piece" in after


@pytest.mark.parametrize("length", [7, 48, 165])
def test_all_of_it_is_filled(kernels: AscendCHarness, length: int) -> None:
    sizes = np.array([length], np.int64)
    kernels.equals(shared(KERNEL) + RUN, [sizes], [np.zeros(length, np.float32)], block_dim=3)


LIBRARY = """using namespace AscendC;
__aicore__ inline void kernel(GM_ADDR* a)
{
    TPipe pipe;
    GlobalTensor<float> yGm;
    yGm.SetGlobalBuffer((__gm__ float*)a[1]);
    int64_t length = global<int64_t>(a[0]).GetValue(0);
    InitGlobalMemory<float>(yGm, length, 2.0f);
    SyncAll();
}
"""


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("length", [7, 256, 900])
def test_the_apis_fills_are_cut_into_pieces(
    kernels: AscendCHarness, length: int, first: bool
) -> None:
    fill = "InitGlobalMemory<float>(yGm, length, 2.0f);"
    guarded = f"if (GetBlockIdx() == 0) {{\n        {fill}\n    }}"
    after = shared(LIBRARY.replace(fill, guarded) if first else LIBRARY)
    assert "fillPart = yGm[fillStart];" in after and "== 0" not in after
    sizes = np.array([length], np.int64)
    kernels.equals(after, [sizes], [np.full(length, 2, np.float32)], block_dim=3)


def test_a_fill_of_each_cores_own_part_is_left_alone() -> None:
    part = "int64_t from = GetBlockIdx() * 4;\n    int64_t start = from + 1;\n    yGm.S"
    own = LIBRARY.replace("yGm.S", part).replace("a[1]", "a[1] + start")
    assert part in own and shared(own) == ""
    assert shared(LIBRARY.replace("SyncAll", "Done")) == ""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("SyncAll();", "Done();"),
        ("GetBlockIdx() == 0", "GetBlockIdx() == 1"),
        ("SyncAll();", "SyncAll(); Clear(yGm, length);"),
        ("offset += piece;", "offset += piece + i;"),
        ("offset += piece;", "offset = Next(offset);"),
        (
            "Write(target, piece, offset);\n            o",
            "Write(zeros, piece, offset);\n            o",
        ),
        ("int64_t piece = 16;", "int64_t piece = target.GetValue(0);"),
    ],
    ids=[
        "none waits",
        "not the first",
        "called elsewhere",
        "unevenly",
        "by a call",
        "not outside",
        "it reads",
    ],
)
def test_what_is_no_fill_that_all_wait_for_is_left_alone(old: str, new: str) -> None:
    assert old in KERNEL
    assert shared(KERNEL.replace(old, new, 1)) == ""
