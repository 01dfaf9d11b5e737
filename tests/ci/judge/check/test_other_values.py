"""What only some values of a case's integers show is a note."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.judge.check.other_values import other_values
from ci.model.finding import CheckSettings, Severity
from ci.model.settings import EvaluationSetup
from ci.model.workload import TensorCase, WorkloadCase
from ci.session.session import open_session
from tests.ci.judge.check.small_operator import checked, found, ordered, write_operator

ROWS = f"""
        pipe.InitBuffer(first, 32);
        LocalTensor<int32_t> a = first.Get<int32_t>();
        DataCopy(a, x[GetBlockIdx() * 8], 8);
        {ordered("MTE2_S")}
        uint32_t row = PLACE;
        {ordered("S_MTE3")}
        DataCopy(y[row * 8], a, 8);
"""


def indexed(folder: Path, place: str) -> Path:
    """An operator of two blocks, each of which copies its numbers to the row that `place` says,
    without a golden function."""
    int32 = ("int32_t", "INT32", "int32")
    body = ROWS.replace("PLACE", place)
    write_operator(folder, body, golden="x", shape=(16,), output=(16,), blocks=2, types=int32)
    file = folder / "workload.yaml"
    text = file.read_text().replace("golden: golden.py:small\n", "initial: {y: 0}\n")
    file.write_text(text.replace("range: [-4, 4]", "range: [0, 1]"))
    return folder


@pytest.mark.long
def test_rows_that_meet_for_some_indices_alone_are_a_note(tmp_path: Path) -> None:
    report = checked(indexed(tmp_path, "a.GetValue(GetBlockIdx() * 7)"))
    (race,) = found(report, "race")
    assert race.severity is Severity.NOTE
    assert "Other integers" in race.advice


@pytest.mark.long
def test_what_other_indices_were_not_tried_for_is_a_note(tmp_path: Path) -> None:
    """Time may be up before."""
    folder = indexed(tmp_path, "0 * a.GetValue(1)")
    settings = CheckSettings(varied=0, seconds=0.01)
    report = open_session(folder, EvaluationSetup()).check(settings)
    (race,) = found(report, "race")
    assert race.severity is Severity.NOTE
    assert "Time was up" in race.advice


@pytest.mark.long
def test_rows_that_meet_whatever_the_indices_are_stay_an_error(tmp_path: Path) -> None:
    (race,) = found(checked(indexed(tmp_path, "0 * a.GetValue(1)")), "race")
    assert race.severity is Severity.ERROR


@pytest.mark.parametrize("dtype", ["int32", "uint8", "int64"])
def test_other_values_are_equal_ascending_and_different(dtype: str) -> None:
    floats = TensorCase(shape=(4,), dtype="float32")
    places = TensorCase(shape=(4,), dtype=dtype, range=(-2, 5))
    case = WorkloadCase(name="own", inputs=(floats, places))
    made = [one.inputs for one in other_values(case, varied=False)]
    assert [one.range for _, one in made] == [(0, 0), (-2, 5), (-2, 5), (-2, 5)]
    drawn = ["uniform", "sorted", "counted", "permutation"]
    assert [one.distribution for _, one in made] == drawn
    assert all(first == floats for first, _ in made)


def test_inputs_without_drawn_integers_have_no_other_values() -> None:
    floats = TensorCase(shape=(4,), dtype="float32")
    given = TensorCase(shape=(2,), dtype="int64", values=(0, 1))
    own = WorkloadCase(name="own", inputs=(floats, given))
    assert not list(other_values(own, varied=False))


def test_given_integers_count_as_drawn_where_the_case_is_varied() -> None:
    """They were given for other lengths; a number alone stays."""
    places = TensorCase(shape=(3,), dtype="int64", values=(4, 0, 2))
    alone = TensorCase(shape=(), dtype="int64", values=(3,))
    case = WorkloadCase(name="own", inputs=(places, alone))
    made = [one.inputs for one in other_values(case, varied=True)]
    assert [(one.range, one.distribution) for one, _ in made] == [
        ((0, 0), "uniform"), ((0, 4), "sorted"), ((0, 4), "counted"), ((0, 4), "permutation"),
    ]  # fmt: skip
    assert all(one.values is None and number == alone for one, number in made)


@pytest.mark.long
def test_errors_of_global_memory_are_notes_where_nothing_says_how_long_the_outputs_are(
    tmp_path: Path,
) -> None:
    body = f"""
        pipe.InitBuffer(first, n * sizeof(float));
        LocalTensor<float> a = first.Get<float>();
        DataCopy(a, x, n);
        {ordered("MTE2_MTE3")}
        DataCopy(y, a, n / 64);
"""
    write_operator(tmp_path, body, golden="x", shape=(1024,), output=(16,))
    file = tmp_path / "workload.yaml"
    file.write_text(file.read_text().replace("golden: golden.py:small\n", ""))
    report = checked(tmp_path, varied=4)
    errors = found(report, "memory_error")
    beyond = [one for one in errors if "UB bytes" in one.text]
    errors = [one for one in errors if one not in beyond]
    assert errors and all(one.severity is Severity.NOTE for one in errors)
    assert any("InferShape" in one.advice for one in errors)
    assert [one.severity for one in beyond] == [Severity.ERROR]  # however long the outputs are
