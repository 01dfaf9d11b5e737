"""What is found of an operator's host side."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ci.judge.check.small_operator import (
    changed,
    checked,
    edited,
    found,
    line_of,
    line_with,
)
from tests.places import OPERATORS


def test_a_signal_in_the_host_side_names_its_line(tmp_path: Path) -> None:
    size = "context->GetInputShape(0)->GetStorageShape().GetShapeSize()"
    folder = changed(
        tmp_path / "split",
        "op_host/small.cpp",
        f"tiling.set_total({size});",
        f"int64_t left = {size} - 1024;\n    tiling.set_total(1024 / left);",
    )
    (crash,) = found(checked(folder), "launch_error")
    assert crash.place.source == line_with(folder, "1024 / left")
    assert "SIGFPE" in crash.text


@pytest.mark.long
def test_an_attribute_list_that_is_read_behind_its_end_names_the_line(tmp_path: Path) -> None:
    folder = changed(
        tmp_path / "list",
        "op_host/small.cpp",
        "    tiling.set_total(",
        "    const int64_t* sizes = context->GetAttrs()->GetListInt(0)->GetData();\n"
        "    int64_t third = sizes[2];\n"
        "    tiling.set_total(third == 77 ? 1 : ",
    )
    host = folder / "op_host/small.cpp"
    attribute = 'this->Attr("sizes").AttrType(OPTIONAL).ListInt({1, 2});'
    core = "this->AICore().SetTiling"
    host.write_text(host.read_text().replace(core, f"{attribute}\n        {core}"))
    (one,) = checked(folder).findings
    assert (one.kind, one.place.source) == ("launch_error", line_with(folder, "sizes[2]"))
    host.write_text(host.read_text().replace("sizes[2]", "sizes[1]"))
    assert checked(folder).findings == ()


@pytest.mark.long
def test_a_variable_of_the_host_side_that_nothing_sets_names_its_field(tmp_path: Path) -> None:
    folder = changed(
        tmp_path / "local",
        "op_host/small.cpp",
        "tiling.set_total(",
        "uint32_t left;\n    if (context->GetInputShape(0)->GetStorageShape().GetDim(0) == 7)\n"
        "        left = 1;\n    tiling.set_total(left != 0 ? 512 : ",
    )
    (one,) = found(checked(folder), "unset")
    assert one.place.source == line_with(folder, "set_total")
    assert "leaves total to memory" in one.text


@pytest.mark.long
def test_tiling_data_shorter_than_the_kernels_structure_are_named(tmp_path: Path) -> None:
    size = "tiling.GetDataSize()"
    folder = changed(tmp_path / "short", "op_host/small.cpp", size, "sizeof(uint16_t)")
    (one,) = found(checked(folder), "short_tiling")
    assert one.place.source == f"op_kernel/small.cpp:{line_of(folder, 'GET_TILING_DATA')}"
    assert one.fails


@pytest.mark.long
def test_inference_that_contradicts_and_shapes_that_end_the_host_side_are_named(
    tmp_path: Path,
) -> None:
    folder = changed(
        tmp_path / "host",
        "op_host/small.cpp",
        "this->AICore().SetTiling",
        "this->SetInferShape([](gert::InferShapeContext* context) {\n"
        "            int64_t third = 4096 / (context->GetInputShape(0)->GetDim(0) - 3072);\n"
        "            *context->GetOutputShape(0) = gert::Shape({third ? 7 : 8});\n"
        "            return ge::GRAPH_SUCCESS;\n        });\n        this->AICore().SetTiling",
    )
    host = folder / "op_host/small.cpp"
    split = "    int64_t parts = 4096 / (context->GetInputShape(0)->GetOriginShape()[0] % 2048);\n"
    blocks = "context->SetBlockDim("
    host.write_text(host.read_text().replace(blocks, f"{split}    {blocks}parts < 0 ? 1 : "))
    report = checked(folder)
    (inference,) = found(report, "inference")
    assert inference.place.source == line_with(folder, "InferShapeContext")
    assert "the shape [7]; it is [1024]" in inference.text
    inferring, tiling = sorted(found(report, "host_crash"), key=lambda one: -one.place.line)
    assert tiling.place.source == line_with(folder, "parts = 4096")
    assert "SIGFPE" in tiling.text and "2048" in tiling.place.case
    assert tiling.more  # other multiples of 2048 end there, too
    assert inferring.place.source == line_with(folder, "third = 4096")
    assert "3072" in inferring.place.case
    workload = folder / "workload.yaml"
    workload.write_text(workload.read_text().replace("seeds:", "initial: {y: 0}\nseeds:"))
    assert found(checked(folder), "inference") == []  # nothing says that y has no more elements


@pytest.mark.long
def test_a_varied_case_that_inference_turns_down_says_nothing_without_golden_function(
    tmp_path: Path,
) -> None:
    """A tiling need not say again what an operator is made for."""
    refuses = (
        "this->SetInferShape([](gert::InferShapeContext* context) {\n"
        "            *context->GetOutputShape(0) = *context->GetInputShape(0);\n"
        "            return context->GetInputShape(0)->GetDim(0) == 1024 ? ge::GRAPH_SUCCESS\n"
        "                                                                : ge::GRAPH_FAILED;\n"
        "        });\n        this->AICore().SetTiling"
    )
    folder = changed(tmp_path / "host", "op_host/small.cpp", "this->AICore().SetTiling", refuses)
    assert found(checked(folder, varied=4), "inference")  # a golden function takes them
    workload = folder / "workload.yaml"
    workload.write_text(workload.read_text().replace("golden: golden.py:small\n", ""))
    assert not checked(folder, varied=4).fails
    host = folder / "op_host/small.cpp"
    host.write_text(host.read_text().replace("GetDim(0) == 1024", "GetDim(0) == 1025"))
    (own,) = found(checked(folder, varied=4), "inference")
    assert own.place.case == "own"


@pytest.mark.long
def test_inference_that_refuses_values_nobody_chose_is_a_note_without_golden_function(
    tmp_path: Path,
) -> None:
    """Drawn values need not fit together."""
    refuses = (
        "this->SetInferShape([](gert::InferShapeContext*) {\n"
        "            return ge::GRAPH_FAILED;\n"
        "        });\n        this->AICore().SetTiling"
    )
    folder = changed(tmp_path / "host", "op_host/small.cpp", "this->AICore().SetTiling", refuses)
    host, workload = folder / "op_host/small.cpp", folder / "workload.yaml"
    golden = workload.read_text()
    without = golden.replace("golden: golden.py:small\n", "")
    workload.write_text(without)
    (own,) = found(checked(folder), "inference")
    assert own.fails  # it looks at lengths alone
    text = host.read_text()
    host.write_text(text.replace('Input("x")', 'Input("x").ValueDepend(OPTIONAL)'))
    assert host.read_text() != text
    (drawn,) = found(checked(folder), "inference")
    assert not drawn.fails
    assert "reads values of x" in drawn.advice
    workload.write_text(golden)
    (taken,) = found(checked(folder), "inference")
    assert taken.fails


@pytest.mark.long
def test_a_dtype_that_an_attribute_would_have_made_right_is_a_note_without_golden_function(
    tmp_path: Path,
) -> None:
    """Which value of the attribute belongs to the outputs is nowhere said."""
    infer = (
        'this->Attr("kind").AttrType(OPTIONAL).Int(1);\n'
        "        this->SetInferDataType([](gert::InferDataTypeContext* context) {\n"
        "            const int64_t* kind = context->GetAttrs()->GetAttrPointer<int64_t>(0);\n"
        "            context->SetOutputDataType(0, *kind == WANTED ? ge::DT_FLOAT : ge::DT_BF16);\n"
        "            return ge::GRAPH_SUCCESS;\n"
        "        });\n        this->AICore().SetTiling"
    )
    folder = changed(tmp_path / "host", "op_host/small.cpp", "this->AICore().SetTiling", infer)
    host, workload = folder / "op_host/small.cpp", folder / "workload.yaml"
    text, golden = host.read_text(), workload.read_text()
    host.write_text(text.replace("WANTED", "27"))
    (taken,) = found(checked(folder), "inference")
    assert taken.fails
    workload.write_text(golden.replace("golden: golden.py:small\n", ""))
    (open_,) = found(checked(folder), "inference")
    assert not open_.fails
    assert "another value of kind" in open_.advice
    host.write_text(text.replace("WANTED", "-5"))  # none has it give float32
    (wrong,) = found(checked(folder), "inference")
    assert wrong.fails


@pytest.mark.long
def test_a_tiling_that_remembers_calls_is_named(tmp_path: Path) -> None:
    folder = changed(
        tmp_path / "static",
        "op_host/small.cpp",
        "context->SetBlockDim(1);",
        "static int calls = 0;\n    context->SetBlockDim(++calls > 1 ? 2 : 1);",
    )
    (one,) = found(checked(folder), "host_state")
    assert one.place.case == "own"


@pytest.mark.long
def test_an_inference_that_remembers_calls_is_named_with_its_line(tmp_path: Path) -> None:
    folder = changed(
        tmp_path / "static",
        "op_host/small.cpp",
        "this->AICore().SetTiling",
        "this->SetInferShape([](gert::InferShapeContext* context) {\n"
        "            static int calls = 0;\n"
        "            *context->GetOutputShape(0) = gert::Shape({++calls > 1 ? 1024 : 512});\n"
        "            return ge::GRAPH_SUCCESS;\n        });\n        this->AICore().SetTiling",
    )
    (one,) = found(checked(folder), "host_state")
    assert one.place.source == line_with(folder, "InferShapeContext")


@pytest.mark.few(1)
@pytest.mark.parametrize("asked", ["GetListFloat(0)->GetSize()", "GetInt(0)[0]"])
def test_an_attribute_that_inference_reads_as_another_type_is_named(
    tmp_path: Path, asked: str
) -> None:
    folder = changed(
        tmp_path / "typed",
        "op_host/small.cpp",
        "this->AICore().SetTiling",
        'this->Attr("scale").AttrType(OPTIONAL).Float(2.0);\n'
        "        this->SetInferShape([](gert::InferShapeContext* context) {\n"
        f"            if (context->GetAttrs()->{asked} == 7) return ge::GRAPH_FAILED;\n"
        "            *context->GetOutputShape(0) = *context->GetInputShape(0);\n"
        "            return ge::GRAPH_SUCCESS;\n        });\n        this->AICore().SetTiling",
    )
    (folder / "golden.py").write_text("def small(x, scale=2.0):\n    return x * 2\n")
    (one,) = checked(folder).findings
    assert (one.kind, one.place.source) == ("attribute_type", line_with(folder, asked))


@pytest.mark.long
def test_a_plain_structure_that_the_first_call_decides_is_named(tmp_path: Path) -> None:
    """The next calls find its static variable: what nothing sets differs less than they do."""
    size = "context->GetInputShape(0)->GetStorageShape().GetShapeSize()"
    folder = changed(
        tmp_path / "static",
        "op_host/small.cpp",
        f"tiling.set_total({size});",
        f"static uint32_t first = {size};\n    tiling.set_total(first);",
    )
    header = folder / "op_host/small_tiling.h"
    header.write_text(
        header.read_text().replace(
            "total);\n", "total);\n  TILING_DATA_FIELD_DEF_ARR(int, 9, odd);\n"
        )
    )
    again = folder / "workload.yaml"
    one, other = again.read_text().split("  - name: own\n")
    again.write_text(f"{one}  - name: own\n{other}  - name: two\n{other.replace('1024', '512')}")
    assert found(checked(folder), "host_state")


@pytest.mark.long
def test_lists_of_a_definition_that_are_not_as_long_as_others_are_named(tmp_path: Path) -> None:
    folder = changed(
        tmp_path / "lists",
        "op_host/small.cpp",
        'Output("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT})',
        'Output("y").ParamType(REQUIRED).DataType({ge::DT_FLOAT, ge::DT_FLOAT16})',
    )
    (one,) = found(checked(folder), "definition")
    assert one.place.source == line_with(folder, 'Output("y")')
    assert "2 dtypes and 1 format," in one.text


@pytest.mark.long
def test_a_number_too_large_for_its_tiling_field_names_both_and_the_line(tmp_path: Path) -> None:
    folder = changed(
        tmp_path / "short", "op_host/small_tiling.h", "uint32_t, total", "uint8_t, total"
    )
    (one,) = found(checked(folder), "narrowed_field")
    assert one.place.file == "op_host/small.cpp"
    assert one.place.line
    assert "1024" in one.text
    assert "total" in one.text


@pytest.mark.few(1)
@pytest.mark.long
@pytest.mark.parametrize(
    ("before", "name"),
    [
        ("uint16_t rows = SIZE * 64;\n    tiling.set_total(rows ? SIZE : 0);", "rows"),
        ("plain->rows = SIZE * 64;\n    tiling.set_total(SIZE);", "plain->rows"),
        ("int32_t size = SIZE;\n    tiling.set_total(size * size * size * size);", "a product"),
        (
            "uint32_t size = SIZE;\n    tiling.set_total(size * size * size * size + SIZE);",
            "a product",
        ),
    ],
)
def test_a_number_too_large_for_a_variable_of_the_host_side_is_named(
    tmp_path: Path, before: str, name: str
) -> None:
    size = "context->GetInputShape(0)->GetStorageShape().GetShapeSize()"
    folder = changed(
        tmp_path / "short",
        "op_host/small.cpp",
        f"tiling.set_total({size});",
        "struct Plain { uint16_t rows; } kept;\n    Plain* plain = &kept;\n"
        "    size_t more = 0;\n    more += 1;\n    more -= 1;\n    " + before.replace("SIZE", size),
    )
    one, *_ = found(checked(folder), "narrowed_field")
    lines = (folder / "op_host/small.cpp").read_text().splitlines()
    assert one.place.line == next(
        n for n, text in enumerate(lines, 1) if f"{size} * 64" in text or "size * size" in text
    )
    assert name in one.text


def test_a_shape_that_the_kernel_tells_may_be_shorter_than_the_inferred_one() -> None:
    told = checked(OPERATORS / "src/index/take_positive")
    assert found(told, "inference") == []


@pytest.mark.long
@pytest.mark.parametrize("asked", ["null", "{shape: [0], dtype: float32}"])
def test_an_output_that_a_case_does_not_ask_for_is_not_held_against_inference(
    tmp_path: Path, asked: str
) -> None:
    folder = changed(
        tmp_path / "absent",
        "op_host/small.cpp",
        "this->AICore().SetTiling",
        'this->Output("z").ParamType(OPTIONAL).DataType({ge::DT_FLOAT});\n'
        "        this->SetInferShape([](gert::InferShapeContext* context) {\n"
        "            *context->GetOutputShape(0) = *context->GetInputShape(0);\n"
        "            if (auto* z = context->GetOutputShape(1)) *z = *context->GetInputShape(0);\n"
        "            return ge::GRAPH_SUCCESS;\n        });\n        this->AICore().SetTiling",
    )
    own = f"    outputs: {{y: {{shape: [1024], dtype: float32}}, z: {asked}}}\n    inputs:"
    edited(
        folder,
        ("op_kernel/small.cpp", "GM_ADDR y, GM_ADDR w", "GM_ADDR y, GM_ADDR z, GM_ADDR w"),
        ("workload.yaml", "golden: golden.py:small\n", ""),
        ("workload.yaml", "    inputs:", own),
    )
    assert not checked(folder).fails
    shape = "            *context->GetOutputShape(0) = *context->GetInputShape(0);\n"
    other = "            context->GetOutputShape(0)->SetDim(0, 7);\n"
    edited(folder, ("op_host/small.cpp", shape, shape + other))
    assert found(checked(folder), "inference")


_SHAPE = "context->GetInputShape(0)->GetStorageShape()"


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("before", "kind"),
    [
        (f"tiling.set_total({_SHAPE}.GetDim(1) + 1024);", "beyond_rank"),
        ("tiling.set_total(*context->GetAttrs()->GetInt(0) == 2 ? 1024 : 512);", "attribute_type"),
    ],
)
def test_what_the_host_side_asks_that_is_not_there_explains_a_wrong_result(
    tmp_path: Path, before: str, kind: str
) -> None:
    folder = changed(
        tmp_path / "odd",
        "op_host/small.cpp",
        f"tiling.set_total({_SHAPE}.GetShapeSize());",
        before,
    )
    host, then = folder / "op_host/small.cpp", "this->AICore().SetTiling"
    scale = 'this->Attr("scale").AttrType(OPTIONAL).Float(2.0);'
    host.write_text(host.read_text().replace(then, f"{scale}\n        {then}"))
    (folder / "golden.py").write_text("def small(x, scale=2.0):\n    return x * 3\n")
    report = checked(folder)
    (one,) = found(report, kind)
    assert one.place.source == line_with(folder, before)
    led_to = [found for found in report.findings if found.fails and found.kind != kind]
    assert led_to
    assert all(one.place.source in found.advice for found in led_to)


@pytest.mark.few(1)
@pytest.mark.parametrize("handed", [True, False])
def test_an_attribute_that_changes_nothing_is_named(tmp_path: Path, *, handed: bool) -> None:
    given = "tiling.set_scale(*context->GetAttrs()->GetFloat(0));"
    folder = changed(
        tmp_path / "ignored",
        "op_host/small.cpp",
        "context->SetBlockDim(1);",
        f"context->SetBlockDim(1);\n    {given if handed else ''}",
    )
    field = "  TILING_DATA_FIELD_DEF(uint32_t, total);\n"
    declared = 'this->Attr("scale").AttrType(OPTIONAL).Float(2.0);'
    for file, before, after in (
        ("op_host/small_tiling.h", field, f"{field}  TILING_DATA_FIELD_DEF(float, scale);\n"),
        ("op_host/small.cpp", "this->AICore().SetT", f"{declared}\n        this->AICore().SetT"),
        ("workload.yaml", "    inputs:", "    attrs: {scale: 2.0}\n    inputs:"),
        (
            "golden.py",
            "small(x):\n    return x * np.float32(2)",
            "small(x, scale):\n    return x * scale",
        ),
    ):
        text = (folder / file).read_text()
        assert before in text
        (folder / file).write_text(text.replace(before, after))
    report = checked(folder, varied=16)
    (one,) = found(report, "ignored")
    assert one.place.source == line_with(folder, given if handed else declared)
    assert "scale=2.0" in one.text
    assert all(one.place.source in wrong.advice for wrong in found(report, "wrong_result"))


def test_a_block_dim_of_0_is_named_with_its_line(tmp_path: Path) -> None:
    folder = changed(
        tmp_path / "none",
        "op_host/small.cpp",
        "context->SetBlockDim(1);",
        "context->SetBlockDim(0);",
    )
    (one,) = found(checked(folder), "launch_error")
    assert one.place.source == line_with(folder, "SetBlockDim(0)")


def test_a_tiling_key_that_no_branch_takes_is_named(tmp_path: Path) -> None:
    folder = changed(
        tmp_path / "key",
        "op_kernel/small.cpp",
        "op.Process(x, y, data.total);",
        "if (TILING_KEY_IS(4)) { op.Process(x, y, data.total); }",
    )
    (one,) = found(checked(folder), "memory_error")
    assert one.place.line == line_of(folder, "TILING_KEY_IS(4)")
    assert "TILING_KEY_IS(0)" in one.text


@pytest.mark.long
def test_elements_that_share_a_byte_are_counted_as_inference_does() -> None:
    assert not found(checked(OPERATORS / "src/quant/round_to_int4"), "inference")
