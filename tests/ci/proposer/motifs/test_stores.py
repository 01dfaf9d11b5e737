"""Loads that wait for the store of the tile before: what is rewritten, what stays, that it runs."""

import numpy as np
import pytest

from ci.proposer.motifs.match import apply_matches
from ci.proposer.motifs.transforms import TRANSFORMS
from ci.source.cpp_source import parse
from tests.ci.simulator.ascendc_harness import AscendCHarness

KERNEL = """using namespace AscendC;
class Kernel {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, bool wide);
    __aicore__ inline void Process(int32_t tiles)
    {
        for (int32_t i = 0; i < tiles; i++) {
            LocalTensor<float> tile = inQueue.AllocTensor<float>();
            DataCopy(tile, xGm[i * 64], 64);
            inQueue.EnQue(tile);
            Compute(i);
        }
    }
private:
    __aicore__ inline void Compute(int32_t i)
    {
        LocalTensor<float> tile = inQueue.DeQue<float>();
        Muls(tile, tile, 2.0f, 64);
        event_t out = static_cast<event_t>(GetTPipePtr()->FetchEventID(HardEvent::V_MTE3));
        SetFlag<HardEvent::V_MTE3>(out);
        WaitFlag<HardEvent::V_MTE3>(out);
        DataCopy(yGm[i * 64], tile, 64);
        event_t back = static_cast<event_t>(GetTPipePtr()->FetchEventID(HardEvent::MTE3_MTE2));
        SetFlag<HardEvent::MTE3_MTE2>(back);
        WaitFlag<HardEvent::MTE3_MTE2>(back);
        inQueue.FreeTensor(tile);
    }
    TPipe pipe;
    TQue<QuePosition::VECIN, 2> inQueue;
    GlobalTensor<float> xGm, yGm;
};
__aicore__ inline void Kernel::Init(GM_ADDR x, GM_ADDR y, bool wide)
{
    xGm.SetGlobalBuffer((__gm__ float*)x);
    yGm.SetGlobalBuffer((__gm__ float*)y);
    if (wide) {
        pipe.InitBuffer(inQueue, 2, 512);
    } else {
        pipe.InitBuffer(inQueue, 2, 256);
    }
}
"""

RUN = """
__aicore__ inline void kernel(GM_ADDR* a)
{
    Kernel op;
    op.Init(a[0], a[1], false);
    op.Process(9);
}
"""


def late(kernel: str) -> str:
    """The kernel afterwards; '' where nothing is changed."""
    source = parse(kernel)
    found = list(TRANSFORMS["late_store_wait"](source, {}))
    return apply_matches(source, found) or "" if found else ""


def test_the_wait_becomes_the_turn_of_a_queue_that_every_branch_initialises() -> None:
    after = late(KERNEL)
    assert "MTE3_MTE2" not in after and after.count("V_MTE3") == KERNEL.count("V_MTE3")
    assert "    pipe.InitBuffer(storeTurn0, 1, 32);\n    if (wide) {" in after
    assert "TPosition::VECOUT, 1> storeTurn0;\n    TQue<" in after
    assert (
        "tile, 64);\n        {\n            LocalTensor<uint8_t> token = storeTurn0.Alloc" in after
    )


def test_all_waits_of_a_class_take_turns_together_or_each_alone() -> None:
    again = KERNEL.replace(
        "    TPipe pipe;", KERNEL[KERNEL.index("    __aicore__ inline void Comp") :]
    )
    again = again.partition("    TPipe pipe;")[0].replace("void Compute", "void Again", 1)
    source = parse(again + KERNEL[KERNEL.index("    TPipe pipe;") :])
    found = [apply_matches(source, [match]) for match in TRANSFORMS["late_store_wait"](source, {})]
    assert [text and text.count("storeTurn0.Alloc") for text in found] == [2, 1, 1]


def test_a_tile_is_loaded_before_the_last_one_is_stored(kernels: AscendCHarness) -> None:
    data = np.random.default_rng(1).normal(size=9 * 64).astype(np.float32)
    before, after = (
        kernels.equals(kernel + RUN, [data], [2 * data]) for kernel in (KERNEL, late(KERNEL))
    )
    assert after.cycles < before.cycles


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("MTE3_MTE2", "V_MTE2"),  # another pair of pipes
        ("(back);\n        Wait", "(back);\n        tile.SetValue(0, 1);\n        Wait"),
        ("TQue<QuePosition::VECIN, 2>", "Own"),  # no member of a kind that is known
        ("pipe.InitBuffer", "pipe.Reset"),  # no place to initialise the queue
    ],
)
def test_other_waits_are_left_alone(old: str, new: str) -> None:
    assert old in KERNEL
    assert late(KERNEL.replace(old, new)) == ""
