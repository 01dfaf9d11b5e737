"""Tiles copied through a queue of several buffers: what is rewritten, what stays, that it runs."""

import numpy as np
import pytest

from ci.proposer.motifs.match import apply_matches
from ci.proposer.motifs.transforms import TRANSFORMS
from ci.source.cpp_source import parse
from tests.ci.simulator.ascendc_harness import AscendCHarness

KERNEL = """using namespace AscendC;
constexpr uint32_t ROOM = 512;
class Kernel {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y)
    {
        xGm.SetGlobalBuffer((__gm__ float*)x);
        yGm.SetGlobalBuffer((__gm__ float*)y);
        pipe.InitBuffer(rows, ROOM);
    }
    __aicore__ inline void Process(int32_t tiles, uint32_t width)
    {
        DataCopyExtParams one = {1, static_cast<uint32_t>(width * sizeof(float)), 0, 0, 0};
        DataCopyPadExtParams<float> pad = {false, 0, 0, 0};
        for (int32_t i = 0; i < tiles; i++) {
            LocalTensor<float> row = rows.Get<float>();
            DataCopyPad(row, xGm[i * width], one, pad);
            event_t in = static_cast<event_t>(GetTPipePtr()->FetchEventID(HardEvent::MTE2_MTE3));
            set_flag(PIPE_MTE2, PIPE_MTE3, in);
            wait_flag(PIPE_MTE2, PIPE_MTE3, in);
            DataCopyPad(yGm[i * width], row, one);
            SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID1);
            WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID1);
        }
    }
private:
    TPipe pipe;
    TBuf<TPosition::VECCALC> rows;
    GlobalTensor<float> xGm, yGm;
};
"""

QUEUED = (
    KERNEL.replace("InitBuffer(rows, ROOM)", "InitBuffer(rows, 2, ROOM)")
    .replace("TBuf<TPosition::VECCALC>", "TQue<QuePosition::VECIN, 2>")
    .replace("rows.Get<", "rows.AllocTensor<")
    .replace("one, pad);", "one, pad);\n            rows.EnQue(row);")
    .replace("DataCopyPad(yGm", "auto out = rows.DeQue<float>();\n            DataCopyPad(yGm")
    .replace("row, one);", "out, one);\n            rows.FreeTensor(out);")
)

RUN = """
__aicore__ inline void kernel(GM_ADDR* a)
{
    Kernel op;
    op.Init(a[0], a[1]);
    op.Process(9, 13);
}
"""


def through(kernel: str) -> str:
    """The kernel afterwards; '' where nothing is changed."""
    source = parse(kernel)
    found = list(TRANSFORMS["copies_through"](source, {"depth": "4"}))
    return apply_matches(source, found) or "" if found else ""


def test_a_buffer_becomes_a_queue_of_several_parts_of_it() -> None:
    after = through(KERNEL)
    assert "ROOM = (512) / 4;" in after
    assert "pipe.InitBuffer(rows, 4, ROOM);" in after
    assert "TQueBind<TPosition::VECIN, TPosition::VECOUT, 4> rows;" in after
    assert "rows.EnQue(row);\n            row = rows.DeQue<float>();\n" in after
    assert "one);\n            rows.FreeTensor(row);\n        }" in after
    assert "Flag" not in after and "flag" not in after and "event" not in after


def test_a_queue_of_one_engine_becomes_one_of_both_and_nothing_waits() -> None:
    after = through(QUEUED)
    assert "TQueBind<TPosition::VECIN, TPosition::VECOUT, 2> rows;" in after
    assert "ROOM = 512;" in after and "InitBuffer(rows, 2, ROOM)" in after
    assert [after.count(f"rows.{m}") for m in ("EnQue", "DeQue", "FreeTensor")] == [1, 1, 1]
    assert "Flag" not in after and "flag" not in after


@pytest.mark.parametrize("kernel", [KERNEL, QUEUED], ids=["buffer", "queue"])
def test_the_same_is_copied(kernels: AscendCHarness, kernel: str) -> None:
    data = np.random.default_rng(1).normal(size=9 * 13).astype(np.float32)
    kernels.equals(through(kernel) + RUN, [data], [data])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("DataCopyPad(yGm", "Adds(row, row, 1.0f, 8);\n DataCopyPad(yGm"),  # it computes too
        ("DataCopyPad(yGm[i * width], row, one);", ""),  # nothing is copied out
        ("constexpr uint32_t ROOM = 512;", "uint32_t ROOM;"),  # no part of it can be taken
        ("private:", "void More() { auto row = rows.Get<float>(); row.SetValue(0, 1); }\nprivate:"),
        ("rows;\n    Global", "rows, others;\n    Global"),
    ],
)
def test_a_buffer_that_serves_more_than_copying_is_left_alone(old: str, new: str) -> None:
    assert old in KERNEL
    assert through(KERNEL.replace(old, new)) == ""
