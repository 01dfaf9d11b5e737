"""Values stored at even distances by one copy: what is rewritten, what stays, that it runs."""

import numpy as np
import pytest

from ci.proposer.motifs.match import apply_matches
from ci.proposer.motifs.transforms import TRANSFORMS
from ci.source.cpp_source import parse
from tests.ci.simulator.ascendc_harness import AscendCHarness

KERNEL = """using namespace AscendC;
class Kernel {
public:
    __aicore__ inline void Init(GM_ADDR y, int32_t rows, int32_t columns)
    {
        this->rows = rows;
        this->columns = columns;
        yGm.SetGlobalBuffer((__gm__ float*)y);
    }
    __aicore__ inline void Process()
    {
        int32_t index, part;
        for (int32_t batch = 0; batch < 2; batch++) {
            for (int32_t i = 0; i < rows; i++) {
                if (i < columns) {
                    part = i * columns + i;
                    index = batch * rows * columns + part;
                    yGm.SetValue(index, 3);
                }
            }
        }
    }
private:
    TPipe pipe;
    GlobalTensor<float> yGm;
    int32_t rows, columns;
};
"""

RUN = """
__aicore__ inline void kernel(GM_ADDR* a)
{
    Kernel op;
    GlobalTensor<int32_t> sizes = global<int32_t>(a[0]);
    op.Init(a[1], sizes.GetValue(0), sizes.GetValue(1));
    op.Process();
}
"""


def strided(kernel: str, most: int = 4) -> str:
    """The kernel afterwards; '' where nothing is changed."""
    source = parse(kernel)
    found = list(TRANSFORMS["strided_stores"](source, {"most": str(most)}))
    return apply_matches(source, found) or "" if found else ""


def test_a_loop_of_stores_becomes_one_copy_with_a_stride() -> None:
    after = strided(KERNEL)
    assert "SetValue" not in after
    assert "for (int32_t batch = 0; batch < 2; batch++) {\n            StoreStrided(yGm," in after
    assert "pipe.InitBuffer(stridedStores, 1, 4 * 32);" in after


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (9, 11), (11, 9), (4, 4)])
def test_the_same_elements_are_stored(kernels: AscendCHarness, rows: int, columns: int) -> None:
    sizes = np.array([rows, columns], np.int32)
    diagonal = np.where(np.eye(rows, columns), np.float32(3), np.float32(np.nan))  # else unwritten
    expected = np.ascontiguousarray(np.broadcast_to(diagonal, (2, rows, columns)))
    kernels.equals(strided(KERNEL) + RUN, [sizes], [expected])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("i * columns + i", "i * i"),
        ("i * columns + i", "i / 2"),
        ("(index, 3)", "(index, i)"),
        ("(index, 3)", "(index, rows)"),
        ("(index, 3)", "(index, yGm.GetValue(0))"),
        ("i < columns", "i % 2"),
        ("i < columns", "part < columns"),
        ("int32_t index, part;", "int32_t index, part; yGm.SetValue(0, 1);"),
        ("            }\n        }\n    }\n", "            }\n        rows = index; }\n    }\n"),
    ],
)
def test_what_is_no_even_row_of_stores_is_left_alone(old: str, new: str) -> None:
    assert old in KERNEL
    assert strided(KERNEL.replace(old, new)) == ""
