"""Each fault is found with its cause and line, and the mended kernel is clean."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.model.finding import CheckSettings
from ci.model.settings import EvaluationSetup
from ci.session.session import open_session
from ci.simulator.toolchain import Toolchain
from tests.ci.judge.check.faults import FAULTS, ROUNDED, ROWS, operator_with
from tests.ci.judge.check.reported_faults import REPORTED
from tests.ci.judge.check.small_operator import (
    LOAD,
    STORE,
    TWICE,
    checked,
    edited,
    found,
    line_of,
    line_with,
    ordered,
    write_operator,
)

EVERY = REPORTED | FAULTS


@pytest.mark.few(1)
@pytest.mark.parametrize("name", EVERY)
def test_a_fault_is_a_finding_with_its_line(tmp_path: Path, name: str) -> None:
    fault = EVERY[name]
    wrong = operator_with(fault, fault.wrong, tmp_path)
    report = checked(wrong)
    one, *_ = found(report, fault.kind)
    assert report.fails
    assert one.place.source == f"op_kernel/small.cpp:{line_of(wrong, fault.line)}"
    assert one.place.case == "own"


def test_an_integer_that_no_float_holds_is_named_where_a_result_is_wrong(tmp_path: Path) -> None:
    wrong, right = (
        write_operator(tmp_path / kind, ROUNDED.replace("LAST", kind), golden="x * np.float32(2)")
        for kind in ("float", "int32_t")
    )
    report = checked(wrong)
    (one,) = found(report, "rounding")
    assert one.place.line == line_of(wrong, "float factor")
    assert "16777217" in one.text
    assert one.place.source in found(report, "wrong_result")[0].advice
    assert not checked(right).findings


SAID = (
    'ascendc_assert(n == {}, "长度 %u of %.2f,\\n%ld at 100%% (%s); %d is left\\n", n, half(1.5f),'
    ' int64_t(-3), "x");'
)


@pytest.mark.long
def test_a_varied_case_that_the_kernel_itself_refuses_says_nothing_and_an_own_case_says_why(
    tmp_path: Path,
) -> None:
    asserted = write_operator(
        tmp_path / "asserted",
        f"        {SAID.format(1024)}\n{TWICE}",
        golden="x * np.float32(2)",
    )
    report = checked(asserted, varied=4)
    assert not [one for one in report.findings if one.kind == "launch_error"]
    own = edited(asserted, ("op_kernel/small.cpp", "n == 1024", "n == 1025"))
    (one,) = found(checked(own), "launch_error")
    assert one.place.line == line_of(own, "ascendc_assert")
    assert one.text == (
        "The kernel's own assertion `n == 1025` fails: 长度 1024 of 1.5, -3 at 100% (x); ? is left."
    )
    bare = edited(own, ("op_kernel/small.cpp", SAID.format(1025), "ascendc_assert(n == 1025);"))
    (one,) = found(checked(bare), "launch_error")
    assert one.text == "The kernel's own assertion `n == 1025` fails."


@pytest.mark.long
def test_an_instruction_of_no_lanes_is_named_where_a_result_is_wrong(tmp_path: Path) -> None:
    body = f"""{LOAD}
        uint32_t whole = (n - LAST) / 64;
        Muls(a, a, 2.0f, uint64_t(64), whole, {{1, 1, 8, 8}});
        Muls(a[whole * 64], a[whole * 64], 2.0f, uint64_t(n % 64), 1, {{1, 1, 8, 8}});
{STORE}"""
    wrong, right = (
        write_operator(tmp_path / last, body.replace("LAST", last), golden="x * np.float32(2)")
        for last in ("1", "0")
    )
    report = checked(wrong)
    (one,) = found(report, "no_lanes")
    assert one.place.line == line_of(wrong, "Muls(a[whole")
    assert one.place.source in found(report, "wrong_result")[0].advice
    assert not checked(right).findings


@pytest.mark.long
@pytest.mark.parametrize(
    "share",
    ["float share = 256 / n;", "float share = 1; share *= 256 / n;", "auto share = 256 / n;"],
)
def test_a_quotient_of_whole_numbers_is_named_where_a_result_is_wrong(
    tmp_path: Path, share: str
) -> None:
    body = f"""{LOAD}
        {share}
        Muls(a, a, 1.0f * share, n);
{STORE}"""
    wrong, right = (
        write_operator(tmp_path / kind, body.replace("256", kind), golden="x * np.float32(0.25)")
        for kind in ("256", "256.0f")
    )
    report = checked(wrong)
    (one,) = found(report, "whole_ratio")
    assert one.place.line == line_of(wrong, "256 / n")
    assert one.place.source in found(report, "wrong_result")[0].advice
    assert not checked(right).findings


@pytest.mark.long
@pytest.mark.parametrize(
    "share",
    ["float share = SHARE;", "auto share = SHARE;", "double share = static_cast<float>(SHARE);"],
)
def test_a_quotient_of_whole_numbers_on_the_host_side_is_named(tmp_path: Path, share: str) -> None:
    size = "context->GetInputShape(0)->GetStorageShape().GetShapeSize()"
    whole = f"tiling.set_total({size});"

    def made(top: str) -> Path:
        body = LOAD + "        Muls(a, a, share, n);\n" + STORE
        folder = write_operator(
            tmp_path / top,
            body,
            golden="x * np.float32(0.25)",
            members="public:\n    float share;",
        )
        field = "uint32_t, total);\n  TILING_DATA_FIELD_DEF(float, share);"
        ratio = share.replace("SHARE", f"{top} / {size}")
        return edited(
            folder,
            ("op_host/small.cpp", whole, f"{whole}\n    {ratio}\n    tiling.set_share(share);"),
            ("op_host/small_tiling.h", "uint32_t, total);", field),
            ("op_kernel/small.cpp", "Small op;", "Small op;\n    op.share = data.share;"),
        )

    wrong = made("256")
    report = checked(wrong)
    (one,) = found(report, "whole_ratio")
    assert one.place.source == line_with(wrong, "256 / ")
    assert one.place.source in found(report, "wrong_result")[0].advice
    assert not checked(made("256.0f")).findings


@pytest.mark.nightly
@pytest.mark.parametrize("name", EVERY)
def test_where_a_fault_is_mended_nothing_is_found(tmp_path: Path, name: str) -> None:
    fault = EVERY[name]
    report = checked(operator_with(fault, fault.right, tmp_path))
    assert not report.fails, report.findings


LEFT_OUT = {
    "that are not stored": ("DataCopy(y, a, n - 8);", "DataCopy(y"),
    "that are not computed": ("DataCopy(y, b, n);", "Muls(b"),
}


@pytest.mark.long
@pytest.mark.parametrize("which", LEFT_OUT)
def test_the_line_that_leaves_out_bytes_of_the_output_is_named(tmp_path: Path, which: str) -> None:
    store, line = LEFT_OUT[which]
    body = f"""{LOAD}
        pipe.InitBuffer(second, n * sizeof(float));
        LocalTensor<float> b = second.Get<float>();
        Muls(b, a, 2.0f, n - 8);
        Muls(a, a, 2.0f, n);
        {ordered("V_MTE3")}
        {store}
"""
    folder = write_operator(tmp_path / "part", body, golden="x * np.float32(2)")
    kind = "memory_error" if "stored" in which else "unset"
    (one,) = found(checked(folder), kind)
    assert one.fails and one.place.source == f"op_kernel/small.cpp:{line_of(folder, line)}"


@pytest.mark.long
def test_scalar_stores_of_two_cores_within_a_cache_line_are_a_finding(tmp_path: Path) -> None:
    wrong = write_operator(
        tmp_path / "wrong",
        ROWS.replace("LAST", "1"),
        golden="x * np.float32(2)",
        shape=(32,),
        blocks=4,
    )
    (one,) = found(checked(wrong), "shared_line")
    assert one.place.line == line_of(wrong, "y.SetValue")


@pytest.mark.long
def test_a_scalar_store_next_to_another_cores_copy_within_a_cache_line_is_a_finding(
    tmp_path: Path,
) -> None:
    body = f"""
        uint32_t own = GetBlockIdx() * LAST;
        pipe.InitBuffer(first, 64);
        LocalTensor<float> a = first.Get<float>();
        DataCopy(a, x[own], LAST);
        {ordered("MTE2_V")}
        Muls(a, a, 2.0f, LAST);
        if (GetBlockIdx() == 0) {{
            {ordered("V_MTE3")}
            DataCopy(y, a, LAST);
            return;
        }}
        {ordered("V_S")}
        for (uint32_t i = 0; i < LAST; i++) {{
            y.SetValue(own + i, a.GetValue(i));
        }}
        DataCacheCleanAndInvalid<float, CacheLine::ENTIRE_DATA_CACHE>(y);
"""
    wrong, right = (
        write_operator(
            tmp_path / each,
            body.replace("LAST", each),
            golden="x * np.float32(2)",
            shape=(2 * int(each),),
            blocks=2,
        )
        for each in ("8", "16")
    )
    (one,) = found(checked(wrong), "shared_line")
    assert one.place.line == line_of(wrong, "DataCopy(y")
    assert one.other.line == line_of(wrong, "y.SetValue")
    assert not checked(right).fails


def test_races_are_all_told_and_those_of_copies_come_first(tmp_path: Path) -> None:
    body = """
        pipe.InitBuffer(first, n * sizeof(float));
        LocalTensor<float> a = first.Get<float>();
        a.SetValue(0, 1.0f);
        DataCopy(a, x, n);
        Muls(a, a, 2.0f, n);
        DataCopy(y, a, n);
"""
    folder = write_operator(tmp_path / "races", body, golden="x * np.float32(2)")
    races = found(checked(folder), "race")
    lines = {line_of(folder, text) for text in ("DataCopy(a", "Muls(a", "DataCopy(y")}
    assert {one.place.line for one in races} == lines
    assert all(one.other.line for one in races)


SCALAR = f"""{LOAD}
        {ordered("MTE2_S")}
        float one = a.GetValue(0);
        BEFORE
        Muls(a, a, 2.0f, n);
        {ordered("V_S")}
        BEHIND
        a.SetValue(0, a.GetValue(0) + one - one);
        {ordered("S_MTE3")}
{STORE}"""


def test_a_value_that_is_used_before_its_place_is_overwritten_is_no_race(tmp_path: Path) -> None:
    used = write_operator(
        tmp_path / "used",
        SCALAR.replace("BEFORE", "if (one > 100.0f) { return; }").replace("BEHIND", ""),
        golden="x * np.float32(2)",
    )
    assert not checked(used).fails


def test_a_value_that_is_used_only_behind_is_a_race(tmp_path: Path) -> None:
    late = write_operator(
        tmp_path / "late",
        SCALAR.replace("BEFORE", "").replace("BEHIND", ""),
        golden="x * np.float32(2)",
    )
    (race,) = found(checked(late), "race")
    assert race.place.line == line_of(late, "Muls(a")
    assert race.other.line == line_of(late, "float one")


@pytest.mark.long
def test_a_number_that_does_not_fit_its_field_is_named(tmp_path: Path) -> None:
    body = f"""
        pipe.InitBuffer(first, 2 * 264 * 32);
        LocalTensor<float> a = first.Get<float>();
        DataCopy(a, x, n);
        {ordered("MTE2_V")}
        UnaryRepeatParams apart;
        uint32_t blocks = n / 16;
        apart.dstRepStride = blocks;
        apart.srcRepStride = blocks;
        Muls(a, a, 2.0f, uint64_t(64), 2, apart);
{STORE}"""
    golden = "x * np.where(np.arange(x.size) % (x.size // 2) < 64, 2, 1).astype(np.float32)"
    wide = write_operator(tmp_path / "wide", body, golden=golden, shape=(2 * 264 * 8,))
    report = checked(wide)
    (one,) = found(report, "narrowed")
    assert one.place.line == line_of(wide, "Muls(a")
    assert "264" in one.text
    (wrong,) = found(report, "wrong_result")
    assert f":{line_of(wide, 'Muls(a')}" in wrong.advice
    narrow = write_operator(tmp_path / "narrow", body, golden=golden, shape=(2 * 128 * 8,))
    assert not checked(narrow).fails


@pytest.mark.long
def test_a_field_that_nobody_reads_harms_nothing(tmp_path: Path) -> None:
    body = f"""{LOAD}
        DataCopyParams unused;
        unused.srcStride = n * 100;
        Muls(a, a, 2.0f, n);
{STORE}"""
    assert not checked(write_operator(tmp_path / "unused", body, golden="x * np.float32(2)")).fails


@pytest.mark.long
def test_an_offset_of_32_bits_in_a_tensor_of_more_elements_is_named(tmp_path: Path) -> None:
    body = f"""
        uint32_t rows = 5;
        INDEX row = 5 << 28;
        pipe.InitBuffer(first, 160);
        LocalTensor<int8_t> a = first.Get<int8_t>();
        for (uint32_t i = 0; i < rows; i++) {{
            INDEX at = i * row;
            DataCopy(a[i * 32], x[at], 32);
        }}
        {ordered("MTE2_MTE3")}
        DataCopy(y, a, 160);
"""
    wrong, right = (
        write_operator(
            tmp_path / part,
            body.replace("INDEX", part),
            golden="x[:, :32]",
            shape=(5, 5 << 28),
            output=(5, 32),
            types=("int8_t", "INT8", "int8"),
        )
        for part in ("uint32_t", "uint64_t")
    )
    (one,) = found(checked(wrong), "narrow_offset")
    assert one.place.line == line_of(wrong, "DataCopy(a[")
    assert not checked(right).fails


@pytest.mark.long
def test_functions_of_the_api_are_passed_as_the_documentation_declares_them(tmp_path: Path) -> None:
    members = """
    template <void (*F)(const LocalTensor<float>&, const LocalTensor<float>&, const int32_t&)>
    __aicore__ inline void Apply(LocalTensor<float>& a, int32_t n)
    {
        F(a, a, n);
    }
"""
    body = f"{LOAD}\n        Apply<Abs>(a, n);\n{STORE}"
    folder = write_operator(tmp_path / "passed", body, golden="np.abs(x)", members=members)
    assert not checked(folder).fails


@pytest.mark.long
def test_a_cast_that_cuts_a_number_is_named_where_the_result_is_wrong(tmp_path: Path) -> None:
    body = f"""{LOAD}
        uint8_t times = static_cast<uint8_t>(n / 64);
        uint8_t low = static_cast<uint8_t>(n);
        Muls(a, a, 2.0f, uint64_t(64), times, {{1, 1, 8, 8}});
        if (low == 1) {{ return; }}
{STORE}"""
    wide = write_operator(tmp_path / "wide", body, golden="x * np.float32(2)", shape=(257 * 64,))
    report = checked(wide)
    assert line_of(wide, "times =") in {one.place.line for one in found(report, "cut")}
    narrow = write_operator(tmp_path / "narrow", body, golden="x * np.float32(2)", shape=(640,))
    assert not checked(narrow).findings


@pytest.mark.long
def test_a_local_that_only_one_branch_sets_is_named(tmp_path: Path) -> None:
    body = f"""{LOAD}
        float weights[4];
        if (n == 7) {{
            weights[2] = 0.0f;
        }}
        Muls(a, a, 2.0f, n);
        PipeBarrier<PIPE_V>();
        Adds(a, a, weights[2], n);
{STORE}"""
    folder = write_operator(tmp_path / "branch", body, golden="x * np.float32(2)")
    assert found(checked(folder), "unset")


@pytest.mark.long
def test_a_wrong_sum_in_half_precision_names_the_addition(tmp_path: Path) -> None:
    body = f"""
        pipe.InitBuffer(first, n * sizeof(TYPE));
        pipe.InitBuffer(second, 256);
        LocalTensor<TYPE> a = first.Get<TYPE>(), sum = second.Get<TYPE>();
        DataCopy(a, x, n);
        Duplicate(sum, TYPE(1000), 128);
        {ordered("MTE2_V")}
        for (uint32_t i = 0; i < n; i += 128) {{
            PipeBarrier<PIPE_V>();
            Add(sum, sum, a[i], 128);
        }}
        {ordered("V_MTE3")}
        DataCopy(y, sum, 128);
"""
    folder = write_operator(
        tmp_path / "sum",
        body,
        golden="x.astype(np.float32).reshape(-1, 128).sum(0) + 1000",
        shape=(128 * 256,),
        output=(128,),
        types=("half", "FLOAT16", "float16"),
    )
    report = checked(folder)
    (one,) = found(report, "half_sum")
    assert one.place.line == line_of(folder, "Add(sum")
    (wrong,) = found(report, "wrong_result")
    assert one.place.source in wrong.advice


@pytest.mark.long
def test_what_is_built_once_on_a_machine_is_built_before_the_checks_time_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said, before, runner = list[str](), list[list[str]](), vars(Toolchain)["machine_runner"]

    def built(toolchain: Toolchain) -> object:
        before.append([*said])
        return runner.__get__(toolchain)

    monkeypatch.setattr(Toolchain, "machine_runner", property(built))
    folder = write_operator(tmp_path / "twice", TWICE, golden="x * np.float32(2)")
    open_session(folder, EvaluationSetup()).check(CheckSettings(varied=0), said.append)
    assert before[0] == [] and said


def test_varied_cases_show_what_the_own_case_does_not(tmp_path: Path) -> None:
    body = f"""
        pipe.InitBuffer(first, (n + 7) / 8 * 32);
        LocalTensor<float> a = first.Get<float>();
        DataCopy(a, x, n);
        {ordered("MTE2_V")}
        Muls(a, a, 2.0f, n);
        {ordered("V_MTE3")}
        DataCopy(y, a, n);
"""
    folder = write_operator(tmp_path / "tail", body, golden="x * np.float32(2)")
    assert not checked(folder).fails
    report = checked(folder, varied=8)
    assert report.fails
    assert all(one.varied for one in report.findings if one.fails)


@pytest.mark.long
def test_a_tail_that_no_length_of_the_tiles_steps_has_is_found(tmp_path: Path) -> None:
    body = f"""
        pipe.InitBuffer(first, 1024);
        LocalTensor<float> a = first.Get<float>();
        for (uint32_t i = 0; i + 256 <= n; i += 256) {{
            DataCopy(a, x[i], 256);
            {ordered("MTE2_V")}
            Muls(a, a, 2.0f, 256);
            {ordered("V_MTE3")}
            DataCopy(y[i], a, 256);
            {ordered("MTE3_MTE2")}
        }}
"""
    folder = write_operator(tmp_path / "tiles", body, golden="x * np.float32(2)")
    left = found(checked(folder, varied=1), "memory_error")[-1]
    assert "own with 1025" in left.place.case and "unwritten" in left.text


@pytest.mark.long
def test_blocks_that_wait_for_all_others_must_start_together_and_fit_the_cores(
    tmp_path: Path,
) -> None:
    body = f"""
        SyncAll();
        if (GetBlockIdx() != 0) {{
            return;
        }}
{TWICE}"""
    golden = "x * np.float32(2)"
    rows = "context->GetInputShape(0)->GetStorageShape().GetShapeSize() / 512"
    folder = write_operator(tmp_path / "wrong", body, golden=golden, blocks=rows)
    host = folder / "op_host/small.cpp"
    host.write_text(host.read_text().replace("context->SetScheduleMode(1);", ""))
    wrong = checked(folder)
    place = f"op_kernel/small.cpp:{line_of(folder, 'SyncAll')}"
    (apart,), (many,) = found(wrong, "schedule_mode"), found(wrong, "many_blocks")
    assert apart.place.source == many.place.source == place
    assert not checked(write_operator(tmp_path / "right", body, golden=golden, blocks=2)).fails


@pytest.mark.long
def test_a_varied_case_without_golden_function_has_the_outputs_that_inference_gives(
    tmp_path: Path,
) -> None:
    body = LOAD + STORE.replace("a, n)", "a, n / 2)")
    folder = write_operator(tmp_path / "half", body, golden="x", output=(512,))
    host, workload = folder / "op_host/small.cpp", folder / "workload.yaml"
    infer = """this->SetInferShape([](gert::InferShapeContext* context) {
            *context->GetOutputShape(0) = gert::Shape({context->GetInputShape(0)->GetDim(0) / 2});
            return ge::GRAPH_SUCCESS;
        });
        this->AICore().SetTiling"""
    host.write_text(host.read_text().replace("this->AICore().SetTiling", infer))
    workload.write_text(workload.read_text().replace("golden: golden.py:small\n", ""))
    faults = found(checked(folder, varied=3), "memory_error")
    assert not [one for one in faults if "output" in one.text]  # it has no tiles for long tensors


@pytest.mark.long
def test_an_attribute_that_makes_outputs_shorter_is_varied_without_golden_function(
    tmp_path: Path,
) -> None:
    """InferShape says how long they are; the kernel takes no notice."""
    folder = write_operator(tmp_path / "cut", TWICE, golden="x", output=(1024,))
    host, workload = folder / "op_host/small.cpp", folder / "workload.yaml"
    infer = """this->Attr("cut").AttrType(OPTIONAL).Int(0);
        this->SetInferShape([](gert::InferShapeContext* context) {
            int64_t cut = *context->GetAttrs()->GetAttrPointer<int64_t>(0);
            int64_t length = context->GetInputShape(0)->GetDim(0) - 64 * cut;
            *context->GetOutputShape(0) = gert::Shape({length});
            return length > 0 ? ge::GRAPH_SUCCESS : ge::GRAPH_FAILED;
        });
        this->AICore().SetTiling"""
    host.write_text(host.read_text().replace("this->AICore().SetTiling", infer))
    workload.write_text(workload.read_text().replace("golden: golden.py:small\n", ""))
    faults = found(checked(folder, varied=30), "memory_error")
    assert any(one.fails and "cut=1" in one.place.case for one in faults)


def test_a_copy_that_leaves_a_part_of_a_block_to_the_scalar_unit_is_a_note(tmp_path: Path) -> None:
    body = f"""
        pipe.InitBuffer(first, (n + 8) * sizeof(float));
        LocalTensor<float> a = first.Get<float>();
        DataCopy(a, x, n);
        for (uint32_t i = n / 8 * 8; i < n; ++i) a.SetValue(i, x.GetValue(i));
        {ordered("MTE2_V")}
        {ordered("S_V")}
        Muls(a, a, 2.0f, n);
        {ordered("V_MTE3")}
        DataCopyPad(y, a, DataCopyExtParams(1, n * 4, 0, 0, 0));
"""
    folder = write_operator(tmp_path / "rest", body, golden="x * np.float32(2)", shape=(1001,))
    report = checked(folder)
    (one,) = found(report, "part_block")
    assert one.place.line == line_of(folder, "DataCopy(a, x")
    assert not report.fails


def test_a_row_that_is_repeated_below_itself_is_no_race(tmp_path: Path) -> None:
    """The first row stays as it is."""
    body = (
        f"""
        pipe.InitBuffer(first, n * sizeof(float));
        pipe.InitBuffer(second, 32);
        LocalTensor<float> a = first.Get<float>();
        DataCopy(a, x, n / 8);
        {ordered("MTE2_V")}
        const uint32_t all[] = {{8, n / 8}}, row[] = {{1, n / 8}};
        BroadCast<float, 2, 0>(a, a, all, row, second.Get<uint8_t>());
"""
        + STORE
    )
    golden = "np.tile(x[:128], 8)"
    for auto_sync in (True, False):
        place = tmp_path / str(auto_sync)
        report = checked(write_operator(place, body, golden=golden, auto_sync=auto_sync))
        assert [one for one in report.findings if one.fails] == []
