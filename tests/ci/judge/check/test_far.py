"""Numbers that only tensors of gibibytes make too large are found without such a tensor."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ci.judge.check.small_operator import (
    checked,
    edited,
    found,
    in_tiles,
    line_of,
    line_with,
    ordered,
    write_operator,
)

SIZE = "tiling.set_total(context->GetInputShape(0)->GetStorageShape().GetShapeSize());"
WIDE = "uint64_t total = 1;"


def doubled(folder: Path, *, total: str = WIDE, offset: str = "uint64_t from = at;") -> Path:
    """y = 2 x in tiles of 64 KiB; a `total` of the host side, and an `offset` in the kernel."""
    body = in_tiles("Muls(a, a, 2.0f, m);", tile=16384).replace("x[at]", "x[from]")
    body = body.replace("uint32_t m =", f"{offset}\n            uint32_t m =")
    folder = write_operator(folder, body, golden="x * np.float32(2)", shape=(64, 256), blocks=8)
    product = f"""{total}
    const auto& shape = context->GetInputShape(0)->GetStorageShape();
    for (size_t i = 0; i < shape.GetDimNum(); i++) {{
        int32_t length = shape.GetDim(i);
        total = total * length;
    }}
    tiling.set_total(total);"""
    return edited(
        folder,
        ("op_host/small.cpp", SIZE, product),
        ("op_host/small_tiling.h", "uint32_t, total", "uint64_t, total"),
        ("op_kernel/small.cpp", "uint32_t n)", "uint64_t n)"),
    )


@pytest.mark.long
def test_a_product_of_the_host_side_that_only_large_tensors_make_wrap_is_named(
    tmp_path: Path,
) -> None:
    folder = doubled(tmp_path / "wrong", total="int32_t total = 1;")
    (one,) = found(checked(folder, varied=1), "narrowed_field")
    assert one.place.source == line_with(folder, "total * length") and one.fails
    assert "GiB" in one.text


@pytest.mark.long
@pytest.mark.parametrize(
    "offset",
    ["int32_t tile = at / 16384; uint64_t from = tile * 16384;",
     "uint32_t tile = at / 16384; uint32_t bytes = tile * 65536u; uint64_t from = bytes / 4;"],
)  # fmt: skip
def test_a_product_of_the_kernel_that_only_large_tensors_make_wrap_is_named(
    tmp_path: Path, offset: str
) -> None:
    folder = doubled(tmp_path / "wrong", offset=offset)
    (one,) = found(checked(folder, varied=1), "wrapped")
    assert one.place.source == f"op_kernel/small.cpp:{line_of(folder, offset)}" and one.fails
    assert "GiB" in one.text


@pytest.mark.long
@pytest.mark.parametrize("counter", ["uint8_t", "uint32_t"])
def test_a_counter_that_only_large_tensors_make_begin_again_is_named(
    tmp_path: Path, counter: str
) -> None:
    folder = doubled(tmp_path / counter)
    loop = "for (uint64_t at = GetBlockIdx() * 16384; at < n; at += GetBlockNum() * 16384) {"
    count = "uint64_t all = (n + 16383) / 16384;"
    line = f"for ({counter} i = 0; i * GetBlockNum() + GetBlockIdx() < all; i++) {{"
    at = "uint64_t at = (uint64_t(i) * GetBlockNum() + GetBlockIdx()) * 16384;"
    edited(folder, ("op_kernel/small.cpp", loop, f"{count}\n{line}\n{at}"))
    said = found(checked(folder, varied=1), "cut")
    assert [one.place.line for one in said] == [line_of(folder, line)] * (counter == "uint8_t")
    assert all(one.fails and "does not end" in one.text for one in said)


@pytest.mark.long
def test_where_products_are_wide_or_the_host_side_refuses_large_tensors_nothing_is_found(
    tmp_path: Path,
) -> None:
    assert not checked(doubled(tmp_path / "right"), varied=1).findings
    refuses = "if (GetSize(context) > INT32_MAX) return ge::GRAPH_FAILED;\n    int32_t total = 1;"
    size = "context->GetInputShape(0)->GetStorageShape().GetShapeSize()"
    folder = doubled(tmp_path / "refuses", total=refuses.replace("GetSize(context)", size))
    assert not checked(folder, varied=1).findings


@pytest.mark.long
def test_an_output_that_grows_with_a_power_of_a_length_is_left_out(tmp_path: Path) -> None:
    """It would have more elements than can be counted."""
    body = f"""
        uint32_t m = n * n * n * n;
        pipe.InitBuffer(first, m * sizeof(float));
        LocalTensor<float> a = first.Get<float>();
        Duplicate(a, 1.0f, m);
        {ordered("V_MTE3")}
        DataCopyPad(y, a, DataCopyExtParams(1, m * sizeof(float), 0, 0, 0));
"""
    golden, shape = "np.ones((len(x),) * 4, np.float32)", (8,)
    folder = write_operator(tmp_path / "power", body, golden=golden, shape=shape, output=(8,) * 4)
    assert not found(checked(folder, varied=1), "narrowed_field")
