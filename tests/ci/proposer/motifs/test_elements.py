"""Single elements of global memory moved as tiles: what is rewritten, what stays, that it runs."""

import numpy as np
import pytest

from ci.proposer.motifs.match import apply_matches
from ci.proposer.motifs.transforms import JOINT_TRANSFORMS
from ci.source.cpp_source import parse
from tests.ci.simulator.ascendc_harness import AscendCHarness

KERNEL = """using namespace AscendC;
class Kernel {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y)
    {
        xGm.SetGlobalBuffer((__gm__ float*)x);
        yGm.SetGlobalBuffer((__gm__ float*)y);
        if (true) {
            pipe.InitBuffer(other, 64);
        }
    }
    __aicore__ inline void Process(int32_t rows, int32_t columns, int32_t diagonal)
    {
        int32_t place = 0;
        for (int32_t j = 0; j < rows; j++) {
            int32_t k = 0;
            while (k < columns && k - j <= diagonal) {
                float value = xGm.GetValue(place);
                yGm.SetValue(place, value);
                k++;
                place++;
            }
            for (; k < columns; k++, ++place) {
                yGm.SetValue(place, (float)0);
            }
        }
    }
private:
    TPipe pipe;
    TBuf<TPosition::VECCALC> other;
    GlobalTensor<float> xGm, yGm;
};
"""

RUN = """
__aicore__ inline void kernel(GM_ADDR* a)
{
    Kernel op;
    op.Init(a[0], a[2]);
    GlobalTensor<int32_t> sizes = global<int32_t>(a[1]);
    op.Process(sizes.GetValue(0), sizes.GetValue(1), sizes.GetValue(2));
}
"""

HOST = """static ge::graphStatus TilingFunc(gert::TilingContext* context)
{
    platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, ubSize);
}
"""


def tiled(kernel: str, host: str = "", tile: int = 256) -> tuple[str, str]:
    """(kernel, host) afterwards; ('', '') where nothing is changed."""
    find = JOINT_TRANSFORMS["elements_to_tiles"]
    found = list(find({"h.cpp": parse(host)}, {"k.cpp": parse(kernel)}, {"tile": str(tile)}))
    if not found:
        return "", ""
    (matches,) = found
    half = matches.get("h.cpp")
    return (
        apply_matches(parse(kernel), [matches["k.cpp"]]) or "",
        (apply_matches(parse(host), [half]) or "") if half else host,
    )


def process(kernel: str) -> str:
    """The body of Process afterwards."""
    return tiled(kernel)[0].partition("void Process")[2].partition("private:")[0]


@pytest.mark.parametrize(
    ("rows", "columns", "diagonal"),
    [(5, 333, -2), (3, 3, 0), (2, 128, 70), (3, 65, -9), (2, 9, 30)],
    ids=["several tiles, rows left empty", "less than a block", "whole blocks", "none", "all"],
)
def test_tiles_move_what_the_loops_moved(
    kernels: AscendCHarness, rows: int, columns: int, diagonal: int
) -> None:
    x = np.random.default_rng(3).uniform(1, 2, (rows, columns)).astype(np.float32)
    sizes = np.array([rows, columns, diagonal], np.int32)
    kernels.equals(tiled(KERNEL)[0] + RUN, [x, sizes], [np.tril(x, diagonal)])


def test_no_scalar_access_is_left() -> None:
    text, _ = tiled(KERNEL)
    assert "SetValue" not in text
    assert "GetValue" not in text


def test_counters_end_where_the_loops_left_them() -> None:
    body = process(KERNEL)
    assert "k += elements1;" in body
    assert "place += elements1;" in body
    assert "place += elements2;" in body


def test_a_counter_of_the_loops_own_begins_where_the_loop_did() -> None:
    loop = "for (int32_t k = 2; k < n; k++) { yGm.SetValue(4 + k, xGm.GetValue(k)); }"
    kernel = KERNEL.replace("int32_t place = 0;", f"{loop}\n        int32_t place = 0;")
    body = process(kernel)
    assert "static_cast<int64_t>(n) - static_cast<int64_t>((2))" in body
    assert "CopyElements(yGm, 4+(2), xGm, (2), elements1);" in body
    assert "k += elements1;" not in body


def test_a_loop_that_is_all_of_a_branch_stays_all_of_it() -> None:
    loop = "for (int32_t k = 0; k < n; k++) yGm.SetValue(k, 1.0f);"
    kernel = KERNEL.replace("int32_t place = 0;", f"if (n > 3)\n    {loop}\nint32_t place = 0;")
    branch = process(kernel).partition("if (n > 3)")[2].partition("int32_t place")[0].strip()
    assert branch.startswith("{")
    assert branch.endswith("elements1);\n    }")


def test_the_queues_are_made_on_every_path() -> None:
    text, _ = tiled(KERNEL)
    assert text.index("InitBuffer(elementCopies, 2, 256)") < text.index("if (true)")
    assert text.index("InitBuffer(elementFills, 2, 256)") < text.index("if (true)")


def test_methods_defined_outside_their_class_get_the_helpers_inside_it() -> None:
    head, _, rest = KERNEL.partition("    __aicore__ inline void Process")
    body, _, members = rest.partition("private:")
    kernel = f"{head}    void Process(int32_t, int32_t, int32_t);\nprivate:{members}"
    kernel += f"__aicore__ inline void Kernel::Process{body}"
    text, _ = tiled(kernel)
    assert text.index("void CopyElements") < text.index("Kernel::Process")
    assert "SetValue" not in text


def test_the_host_leaves_room_for_the_queues() -> None:
    assert tiled(KERNEL, HOST)[1] == HOST.replace("ubSize);\n", "ubSize);\n    ubSize -= 1024;\n")
    assert tiled(KERNEL, "int ubSize;")[1] == "int ubSize;"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("GetValue(place)", "GetValue(place * 2)"),
        ("yGm.SetValue(place, value)", "yGm.SetValue(columns - place, value)"),
        ("yGm.SetValue(place, value)", "yGm.SetValue(place, value + 1)"),
        ("float value", "int32_t value"),
        ("GlobalTensor<float> xGm, yGm", "GlobalTensor<half> xGm; GlobalTensor<float> yGm"),
        ("yGm.SetValue(place, value);", "yGm.SetValue(place, value); total += value;"),
        ("float value =", "place++; float value ="),
        ("xGm.GetValue(place)", "yGm.GetValue(place + 1)"),
        ("k < columns &&", "k < columns ||"),
        ("k - j <= diagonal", "k * j <= diagonal"),
        ("k - j <= diagonal", "k - j != diagonal"),
    ],
)
def test_loops_that_do_more_than_move_neighbours_stay(old: str, new: str) -> None:
    # The second loop writes the same tensor: with the first one left, it stays too.
    assert tiled(KERNEL) != ("", "")
    assert tiled(KERNEL.replace(old, new)) == ("", "")


def test_differences_of_unsigned_counters_stay() -> None:
    assert tiled(KERNEL.replace("int32_t k = 0", "uint32_t k = 0")) == ("", "")


@pytest.mark.parametrize(
    "statement",
    [
        "yGm.SetValue(0, yGm.GetValue(1));",
        "float first = yGm.GetValue(0);",
        "DataCopy(local, yGm, 8);",
        "DataCopy(xGm, local, 8);",
        "xGm.SetValue(0, 1.0f);",
    ],
)
def test_tensors_that_are_touched_in_other_ways_stay(statement: str) -> None:
    begin = "        int32_t place = 0;\n"
    assert tiled(KERNEL.replace(begin, f"{begin}        {statement}\n")) == ("", "")


def test_a_class_without_buffers_stays() -> None:
    assert tiled(KERNEL.replace("pipe.InitBuffer(other, 64);", "")) == ("", "")
