"""What an operator takes for something else is named where its outputs are right for that."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.model.finding import CheckSettings
from ci.model.settings import EvaluationSetup
from ci.session.session import open_session
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
from tests.places import OPERATORS

SIZE = "tiling.set_total(context->GetInputShape(0)->GetStorageShape().GetShapeSize());"


def affine(
    folder: Path, places: tuple[int, int] = (0, 1), attrs: str = "scale: 3.0, shift: 0.5"
) -> Path:
    """y = scale x + shift, for which the host side asks at two `places`."""
    step = f"Muls(a, a, scale, m); {ordered('V_S')} PipeBarrier<PIPE_V>(); Adds(a, a, shift, m);"
    write_operator(
        folder,
        in_tiles(step),
        golden="(x * np.float32(scale) + np.float32(shift)).astype(np.float32)",
        members="public:\n    float scale, shift;",
    )
    asked = "\n    ".join(
        f"tiling.set_{name}(*context->GetAttrs()->GetFloat({place}));"
        for name, place in zip(("scale", "shift"), places, strict=True)
    )
    field = "TILING_DATA_FIELD_DEF(float, {});".format
    return edited(
        folder,
        ("golden.py", "small(x)", "small(x, scale, shift)"),
        ("workload.yaml", "range: [-4, 4]}}", f"range: [-4, 4]}}}}\n    attrs: {{{attrs}}}"),
        ("op_host/small.cpp", SIZE, f"{SIZE}\n    {asked}"),
        (
            "op_host/small.cpp",
            "this->AICore().SetTiling",
            'this->Attr("scale").Float();\n        this->Attr("shift").Float();\n'
            "        this->AICore().SetTiling",
        ),
        (
            "op_host/small_tiling.h",
            "uint32_t, total);",
            f"uint32_t, total);\n  {field('scale')}\n  {field('shift')}",
        ),
        (
            "op_kernel/small.cpp",
            "Small op;",
            "Small op;\n    op.scale = data.scale;\n    op.shift = data.shift;",
        ),
    )


def test_attributes_that_are_exchanged_are_named_where_the_host_side_asks(tmp_path: Path) -> None:
    wrong = affine(tmp_path / "wrong", (1, 0))
    (one,) = found(checked(wrong), "exchanged")
    assert one.place.source == line_with(wrong, "GetFloat(0)") and one.place.case == "own"
    assert "scale=0.5 and shift=3.0" in one.text


@pytest.mark.long
def test_attributes_of_their_own_places_are_clean(tmp_path: Path) -> None:
    assert not checked(affine(tmp_path / "right"), varied=16).fails


@pytest.mark.long
def test_an_attribute_that_is_asked_for_twice_is_named(tmp_path: Path) -> None:
    (one,) = found(checked(affine(tmp_path / "twice", (0, 0))), "exchanged")
    assert "scale is taken for shift" in one.text


@pytest.mark.long
def test_attributes_that_are_equal_in_the_workload_are_varied_each_by_itself(
    tmp_path: Path,
) -> None:
    folder = affine(tmp_path / "alike", (1, 0), "scale: 2.0, shift: 2.0")
    assert not checked(folder).fails
    (one,) = found(checked(folder, varied=16), "exchanged")
    assert one.varied and one.fails


@pytest.mark.long
def test_an_attribute_whose_fraction_is_lost_is_named(tmp_path: Path) -> None:
    folder = affine(tmp_path / "whole", attrs="scale: 2.5, shift: 1.0")
    whole = "int32_t scale = *context->GetAttrs()->GetFloat(0);\n    tiling.set_scale(scale);"
    edited(
        folder,
        ("op_host/small.cpp", "tiling.set_scale(*context->GetAttrs()->GetFloat(0));", whole),
    )
    (one,) = found(checked(folder), "lost_fraction")
    assert one.place.source == line_with(folder, "GetFloat(0)")


DOUBLED = f"""
        pipe.InitBuffer(first, n * sizeof(TYPE));
        LocalTensor<TYPE> a = first.Get<TYPE>();
        DataCopy(a, x, n);
        {ordered("MTE2_V")}
        Muls(a, a, TYPE(2), n);
        {ordered("V_MTE3")}
        DataCopy(y, a, n);
"""


@pytest.mark.long
@pytest.mark.parametrize("declared", ["BF16", "FLOAT16"])
def test_half_that_is_taken_for_bfloat16_is_named(tmp_path: Path, declared: str) -> None:
    wrong = write_operator(
        tmp_path / "wrong",
        DOUBLED,
        golden="(x.astype(np.float32) * 2).astype(x.dtype) + x.dtype.type(0)",
        types=("half", "BF16", "bfloat16"),
    )
    host = wrong / "op_host/small.cpp"
    both = host.read_text().replace("{ge::DT_BF16}", f"{{ge::DT_BF16, ge::DT_{declared}}}")
    host.write_text(both.replace("{ge::FORMAT_ND}", "{ge::FORMAT_ND, ge::FORMAT_ND}"))
    (one,) = found(checked(wrong), "element_type")
    assert one.place.source == f"op_kernel/small.cpp:{line_of(wrong, '<half>')}"
    assert "bfloat16 elements are taken for float16" in one.text


@pytest.mark.long
def test_another_wrong_result_is_taken_for_nothing_else(tmp_path: Path) -> None:
    folder = write_operator(
        tmp_path / "wrong",
        DOUBLED.replace("TYPE(2)", "TYPE(3)"),
        golden="x * 2",
        types=("int32_t", "INT32", "int32"),
    )
    assert [one.kind for one in checked(folder).findings] == ["wrong_result"]


def test_an_attribute_that_the_workload_shows_to_count_is_not_said_to_be_ignored() -> None:
    """Beyond the range of half all rounding modes give infinity."""
    wide = (
        "{name: wide, varied: magnitude, attrs: {round_mode: trunc},"
        " inputs: {x: {shape: [512], dtype: float32, range: [-1.0e+10, 1.0e+10]}}}"
    )
    session = open_session(OPERATORS / "src/conversion/cast_half", EvaluationSetup())
    report = session.check(CheckSettings(case=wide, seconds=600))
    assert found(report, "wrong_result") and not found(report, "ignored")
