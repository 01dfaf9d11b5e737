"""Each fault is found with its cause and line, and the mended kernel is clean."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ci.model.finding import CheckReport, CheckSettings, Finding
from ci.model.settings import EvaluationSetup
from ci.session import open_session
from tests.ci.judge.check.small_operator import line_of, ordered, write_operator

LOAD = f"""
        pipe.InitBuffer(first, n * sizeof(float));
        LocalTensor<float> a = first.Get<float>();
        DataCopy(a, x, n);
        {ordered("MTE2_V")}
"""
STORE = f"""
        {ordered("V_MTE3")}
        DataCopy(y, a, n);
"""


def checked(folder: Path, varied: int = 0) -> CheckReport:
    """The report of an operator's own case, or of varied ones too."""
    settings = CheckSettings(varied=varied, seconds=600)
    return open_session(folder, EvaluationSetup()).check(settings)


class Fault(NamedTuple):
    """A kernel with a fault, and what mends it."""

    kind: str
    line: str
    """What the line holds that the finding names."""
    body: str
    wrong: str
    right: str
    more: dict[str, Any] = {}
    golden: str = "x * np.float32(2)"


TILES = f"""
        pipe.InitBuffer(first, 256 * sizeof(float));
        pipe.InitBuffer(second, 256 * sizeof(float));
        LocalTensor<float> a = first.Get<float>(), b = second.Get<float>();
        for (uint32_t i = 0; i < n; i += 256) {{
            DataCopy(a, x[i], 256);
            {ordered("MTE2_V")}
            Muls(b, a, 2.0f, 256);
            {ordered("V_MTE2")}
            {ordered("V_MTE3")}
            DataCopy(y[i], b, 256);
            LAST
        }}
"""
AHEAD = """
        pipe.InitBuffer(first, n * sizeof(float));
        LocalTensor<float> a = first.Get<float>();
        DataCopy(a, x, n / 2);
        SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
        DataCopy(a[n / 2], x[n / 2], n / 2);
        SetFlag<HardEvent::MTE2_V>(LAST);
        WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
        WaitFlag<HardEvent::MTE2_V>(LAST);
        Muls(a, a, 2.0f, n);
"""
BEHIND = f"""
        pipe.InitBuffer(first, n * sizeof(float));
        pipe.InitBuffer(second, LAST);
        LocalTensor<float> a = first.Get<float>(), b = second.Get<float>();
        DataCopy(a, x, n);
        {ordered("MTE2_V")}
        Muls(b, a, 2.0f, n);
        {ordered("V_MTE3")}
        DataCopy(y, b, n);
"""
ELEMENTS = f"""{LOAD}
        Muls(a, a, 2.0f, n);
        pipe.InitBuffer(second, LAST);
        LocalTensor<float> b = second.Get<float>();
        {ordered("V_S")}
        for (uint32_t i = 0; i < 16; i++) {{
            b.SetValue(i, a.GetValue(i));
        }}
{STORE}"""
UNSET = f"""{LOAD}
        if (n == 1) {{
            twice = false;
        }}
        LAST
        if (twice) {{
            Muls(a, a, 2.0f, n);
        }}
{STORE}"""
ROWS = f"""
        uint32_t row = GetBlockIdx() * 8;
        pipe.InitBuffer(first, 32);
        LocalTensor<float> a = first.Get<float>();
        DataCopy(a, x[row], 8);
        {ordered("MTE2_V")}
        Muls(a, a, 2.0f, 8);
        {ordered("V_S")}
        for (uint32_t i = 0; i < 8; i++) {{
            y.SetValue(row * LAST + i, a.GetValue(i));
        }}
        DataCacheCleanAndInvalid<float, CacheLine::ENTIRE_DATA_CACHE>(y);
"""
FAULTS = {
    "a wait that only the compiler inserts": Fault(
        "compiler_order", "Muls(b", TILES, "", ordered("MTE3_V"), {"auto_sync": True}
    ),
    "an event that is set twice": Fault(
        "event_reused", "EVENT_ID0 + 0", AHEAD + STORE, "EVENT_ID0 + 0", "EVENT_ID1"
    ),
    "an instruction that leaves the last buffer": Fault(
        "overrun", "Muls(b", BEHIND, "n * 2", "n * 4"
    ),
    "an element behind the last buffer": Fault("overrun", "b.SetValue", ELEMENTS, "32", "64"),
    "a member that nothing sets": Fault(
        "unset", "Muls", UNSET, "", "twice = true;", {"members": "    bool twice;"}
    ),
    "an atomic mode that stays on": Fault(
        "state",
        "SetAtomicMax",
        LOAD
        + "        Muls(a, a, 2.0f, n);\n"
        + STORE
        + "        SetAtomicMax<float>();\n        LAST",
        "",
        "SetAtomicNone();",
    ),
    "a mask that stays set": Fault(
        "state",
        "SetVectorMask",
        LOAD
        + "        SetVectorMask<float>(0, 0xff);\n"
        + "        Muls<float, false>(a, a, 2.0f, MASK_PLACEHOLDER, n / 64, {1, 1, 8, 8});\n"
        + "        LAST"
        + STORE,
        "",
        "ResetMask();",
        golden="np.where(np.arange(x.size) % 64 < 8, x * np.float32(2), x)",
    ),
    "a pipe that vector cores lack": Fault(
        "absent_pipe",
        "PIPE_M>",
        LOAD + "        Muls(a, a, 2.0f, n);\n        LAST" + STORE,
        "PipeBarrier<PIPE_M>();",
        "PipeBarrier<PIPE_V>();",
    ),
}


def found(report: CheckReport, kind: str) -> list[Finding]:
    """The findings of a kind."""
    return [one for one in report.findings if one.kind == kind]


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_a_finding_with_its_line_and_the_mended_kernel_is_clean(
    tmp_path: Path, name: str
) -> None:
    fault = FAULTS[name]
    wrong, right = (
        write_operator(
            tmp_path / part,
            fault.body.replace("LAST", last),
            golden=fault.golden,
            **fault.more,
        )
        for part, last in (("wrong", fault.wrong), ("right", fault.right))
    )
    report = checked(wrong)
    one, *_ = found(report, fault.kind)
    assert report.fails
    assert one.place.source == f"op_kernel/small.cpp:{line_of(wrong, fault.line)}"
    assert one.place.case == "own"
    mended = checked(right)
    assert not mended.fails, mended.findings


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


def test_a_field_that_nobody_reads_harms_nothing(tmp_path: Path) -> None:
    body = f"""{LOAD}
        DataCopyParams unused;
        unused.srcStride = n * 100;
        Muls(a, a, 2.0f, n);
{STORE}"""
    assert not checked(write_operator(tmp_path / "unused", body, golden="x * np.float32(2)")).fails


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
