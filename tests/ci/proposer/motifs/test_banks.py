"""Parting operands by bank groups: which buffers are shifted, and what the host leaves free."""

import pytest

from ci.proposer.motifs.match import apply_matches
from ci.proposer.motifs.transforms import JOINT_TRANSFORMS, TRANSFORMS
from ci.source.cpp_source import parse

KERNEL = """using namespace AscendC;
class Kernel {
    void Init()
    {
        pipe.InitBuffer(inX, 2, n);
        pipe.InitBuffer(inY, 2, n);
        pipe.InitBuffer(scratch, n);
        pipe.InitBuffer(outZ, 2, n);
    }
    void Compute()
    {
        LocalTensor<float> x = inX.DeQue<float>();
        LocalTensor<float> y = inY.DeQue<float>();
        LocalTensor<float> z = outZ.AllocTensor<float>();
        LocalTensor<float> t = scratch.Get<float>();
        Mul(t, x, y, n);
        Add(z, t, x, n);
        Muls(z, z, 2.0f, n);
    }
    TQue<QuePosition::VECIN, 2> inX, inY;
    TQue<QuePosition::VECOUT, 2> outZ;
    TBuf<QuePosition::VECCALC> scratch;
};
"""

HOST = """static ge::graphStatus TilingFunc(gert::TilingContext* context)
{
    platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, ubSize);
    uint64_t tile = ubSize / 7;
}
"""


def shifted(kernel: str) -> list[str]:
    """The buffers in front of which a shift is put."""
    source = parse(kernel)
    text = apply_matches(source, TRANSFORMS["part_operands"](source, {})) or kernel
    lines = [line.strip() for line in text.splitlines() if "InitBuffer" in line]
    return [
        after.split("(")[1].split(",")[0]
        for line, after in zip(lines, lines[1:], strict=False)
        if "bankShift" in line
    ]


def test_one_shift_parts_the_operands_of_all_instructions() -> None:
    # x meets y and t: only x must lie in another group than those two.
    assert shifted(KERNEL) == ["inY"]


def test_tensors_are_followed_into_the_functions_that_they_are_given_to() -> None:
    call = "Step(x, y, t);"
    step = (
        "void Step(const LocalTensor<float>& a, const LocalTensor<float>& b, LocalTensor<float> c)"
    )
    kernel = KERNEL.replace("Mul(t, x, y, n);", call).replace("        Add(z, t, x, n);\n", "")
    assert shifted(kernel) == []
    assert shifted(
        kernel.replace("    TQue<", f"    {step} {{ Mul(c, a, b, n); }}\n    TQue<", 1)
    ) == ["inY"]


def test_two_pairs_in_turn_need_two_shifts() -> None:
    assert shifted(KERNEL.replace("Add(z, t, x, n)", "Add(z, t, y, n)")) == ["inY", "scratch"]


@pytest.mark.parametrize("call", ["Mul(t, x, x, n)", "Muls(t, x, 2.0f, n)"])
def test_instructions_of_one_operand_shift_nothing(call: str) -> None:
    kernel = KERNEL.replace("Mul(t, x, y, n)", call).replace("Add(z, t, x, n)", call)
    assert shifted(kernel) == []


def test_the_host_leaves_room_for_the_shifts() -> None:
    find = JOINT_TRANSFORMS["part_operands_with_room"]
    (matches,) = find({"h.cpp": parse(HOST)}, {"k.cpp": parse(KERNEL)}, {})
    host = apply_matches(parse(HOST), [matches["h.cpp"]])
    assert host == HOST.replace("ubSize);\n", "ubSize);\n    ubSize -= 512;\n")
    assert not list(find({"h.cpp": parse("int ubSize;")}, {"k.cpp": parse(KERNEL)}, {}))


def test_a_buffer_is_shifted_once() -> None:
    text = parse(KERNEL)
    once = apply_matches(text, TRANSFORMS["bank_offset"](text, {}))
    assert once is not None and once.count("InitBuffer(bankShift") == 3
    again = parse(once)
    assert list(TRANSFORMS["bank_offset"](again, {})) == []
