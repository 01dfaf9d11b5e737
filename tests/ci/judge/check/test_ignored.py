"""What the host side makes nothing of is named where it asks for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ci.judge.check.small_operator import (
    checked,
    edited,
    found,
    in_tiles,
    line_with,
    write_operator,
)

SIZE = "tiling.set_total(context->GetInputShape(0)->GetStorageShape().GetShapeSize());"


def scaled(folder: Path, factor: str) -> Path:
    """y = x times all numbers of a list; `factor` is what the host side makes of the `list`."""
    folder = write_operator(
        folder,
        in_tiles("Muls(a, a, factor, m);"),
        golden="(x * np.prod(np.array(factors, np.float32))).astype(np.float32)",
        members="public:\n    float factor;",
    )
    asked = "const auto& list = *context->GetAttrs()->GetListFloat(0);"
    return edited(
        folder,
        ("golden.py", "small(x)", "small(x, factors)"),
        ("workload.yaml", "range: [-4, 4]}}", "range: [-4, 4]}}\n    attrs: {factors: [2.0]}"),
        ("op_host/small.cpp", SIZE, f"{SIZE}\n    {asked}\n    {factor}"),
        (
            "op_host/small.cpp",
            "this->AICore().SetTiling",
            'this->Attr("factors").ListFloat();\n        this->AICore().SetTiling',
        ),
        (
            "op_host/small_tiling.h",
            "uint32_t, total);",
            "uint32_t, total);\n  TILING_DATA_FIELD_DEF(float, factor);",
        ),
        ("op_kernel/small.cpp", "Small op;", "Small op;\n    op.factor = data.factor;"),
    )


@pytest.mark.long
def test_a_list_attribute_of_which_only_the_first_number_is_used_is_named_where_it_is_asked_for(
    tmp_path: Path,
) -> None:
    wrong = scaled(tmp_path / "wrong", "tiling.set_factor(list.GetData()[0]);")
    (one,) = found(checked(wrong, varied=24), "ignored")
    assert one.place.source == line_with(wrong, "GetListFloat(0)") and one.fails
    product = "for (size_t i = 0; i < list.GetSize(); i++) all *= list.GetData()[i];"
    right = scaled(tmp_path / "right", f"float all = 1; {product} tiling.set_factor(all);")
    assert not checked(right, varied=24).findings


def many(folder: Path, which: str) -> Path:
    """y[i] = 2 x[i] for the tensors of a list, as long as the tensor `which` in the tiling."""
    start, get, tiles = in_tiles("Muls(a, a, 2.0f, m);").partition("Get<float>();")
    each = f"""
        ListTensorDesc from(reinterpret_cast<__gm__ void*>(xa));
        ListTensorDesc to(reinterpret_cast<__gm__ void*>(ya));
        for (uint32_t i = 0; i < count; i++) {{
            uint32_t n = lengths[i];
            x.SetGlobalBuffer(from.GetDataPtr<float>(i));
            y.SetGlobalBuffer(to.GetDataPtr<float>(i));
            {tiles}
        }}
"""
    folder = write_operator(
        folder,
        start + get + each,
        golden="[one * np.float32(2) for one in x]",
        members="public:\n    uint32_t count, lengths[32];",
    )
    lengths = f"""uint32_t lengths[32] = {{}};
    uint32_t count = context->GetComputeNodeInfo()->GetInputInstanceInfo(0)->GetInstanceNum();
    for (size_t i = 0; i < count && i < 32; i++) {{
        lengths[i] = context->GetDynamicInputShape(0, {which})->GetStorageShape().GetShapeSize();
    }}
    tiling.set_count(count);
    tiling.set_lengths(lengths);"""
    tensor = "{shape: [1024], dtype: float32, range: [-4, 4]}"
    host = (folder / "op_host/small.cpp").read_text().replace("REQUIRED", "DYNAMIC")
    (folder / "op_host/small.cpp").write_text(host)
    return edited(
        folder,
        ("workload.yaml", tensor, f"[{tensor}, {tensor}]"),
        ("op_host/small.cpp", SIZE, lengths),
        (
            "op_host/small_tiling.h",
            "TILING_DATA_FIELD_DEF(uint32_t, total);",
            "TILING_DATA_FIELD_DEF(uint32_t, count);\n"
            "  TILING_DATA_FIELD_DEF_ARR(uint32_t, 32, lengths);",
        ),
        (
            "op_kernel/small.cpp",
            "op.Process(x, y, data.total);",
            "op.count = data.count;\n    for (uint32_t i = 0; i < 32; i++)"
            " op.lengths[i] = data.lengths[i];\n    op.Process(x, y, 0);",
        ),
    )


@pytest.mark.long
def test_a_list_of_which_only_the_first_tensors_shape_is_used_is_named_where_it_is_asked_for(
    tmp_path: Path,
) -> None:
    wrong = many(tmp_path / "wrong", "0")
    (one,) = found(checked(wrong, varied=24), "only_first")
    assert one.place.source == line_with(wrong, "GetDynamicInputShape") and one.fails
    assert not checked(many(tmp_path / "right", "i"), varied=24).findings
