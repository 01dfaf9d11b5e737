"""SARIF is what its standard asks for, whatever operators, files and findings are named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from jsonschema.validators import Draft7Validator

from bot.report.sarif import FINGERPRINT, check_sarif, sarif, write_check_sarif
from ci.model.finding import CheckReport, Finding, Severity
from ci.model.operator import Operator
from ci.model.trial import Candidate, MachineWarning, Outcome, Place, Refusal, Trial
from ci.source.discovery import load_operator
from tests.bot.report.sarif_schema import LOG
from tests.ci.source.test_placed import above_its_kernel

NAMES = ["plain", "two words", "größe", "100%20", "a#b?c", "内核"]


def operator(top: Path, name: str) -> Path:
    """An operator's folder with a kernel of that name."""
    folder = top / "src" / name
    (folder / "op_kernel").mkdir(parents=True)
    (folder / "op_kernel" / f"{name}.cpp").write_text("first();\n  second();\n\n  second();\n")
    return folder


def finding(file: str = "", line: int = 0, **more: Any) -> Finding:
    """A race at a place."""
    given = {"kind": "race", "severity": Severity.ERROR, "title": "race", "text": "Two accesses."}
    return Finding(**{**given, "place": Place(file=file, line=line), **more})


def results(top: Path, folder: Path, *findings: Finding, notes: tuple[str, ...] = ()) -> Any:
    """The results of a report of findings, whose file is valid."""
    kernel = f"op_kernel/{folder.name}.cpp"
    report = CheckReport(operator="o", folder=folder, kernel=kernel, findings=findings, notes=notes)
    log = check_sarif([report], top)
    Draft7Validator(LOG).validate(log)
    return log["runs"][0]["results"]


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_named_relative_to_the_checkout_as_an_address(tmp_path: Path, name: str) -> None:
    top = tmp_path / name
    folder = operator(top, name)
    file = f"op_kernel/{name}.cpp"
    one, whole = results(top, folder, finding(file, 2), finding())
    for result, line in ((one, 2), (whole, 1)):
        place = result["locations"][0]["physicalLocation"]
        assert (top / unquote(place["artifactLocation"]["uri"])).is_file()
        assert place["region"] == {"startLine": line}
    file_written = tmp_path / "out" / name / "faults.sarif"
    report = CheckReport(operator=name, folder=folder, findings=(finding(file, 2),))
    write_check_sarif([report], top, file_written)
    Draft7Validator(LOG).validate(json.loads(file_written.read_text(encoding="utf-8")))


def test_a_file_above_the_operator_is_named_by_its_way_from_the_top(tmp_path: Path) -> None:
    folder = operator(tmp_path, "a")
    (result,) = results(tmp_path, folder, finding("../common/shared.h", 3))
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "src/common/shared.h", "uriBaseId": "SRCROOT"}


def test_a_file_outside_of_the_checkout_has_a_whole_address(tmp_path: Path) -> None:
    folder = operator(tmp_path / "elsewhere", "a")
    (result,) = results(tmp_path / "checkout", folder, finding("op_kernel/a.cpp", 1))
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": (folder / "op_kernel/a.cpp").as_uri()}


def test_the_earlier_access_of_a_race_is_a_related_place(tmp_path: Path) -> None:
    folder = operator(tmp_path, "a")
    other = Place(file="op_kernel/a.cpp", line=1)
    (result,) = results(tmp_path, folder, finding("op_kernel/a.cpp", 4, other=other))
    (related,) = result["relatedLocations"]
    assert related["physicalLocation"]["region"] == {"startLine": 1}


def prints(top: Path, folder: Path, *findings: Finding) -> list[str]:
    """Fingerprints of a report's results."""
    return [one["partialFingerprints"][FINGERPRINT] for one in results(top, folder, *findings)]


def test_a_fault_keeps_its_fingerprint_when_its_line_moves(tmp_path: Path) -> None:
    folder = operator(tmp_path, "a")
    kernel = folder / "op_kernel/a.cpp"
    before = prints(tmp_path, folder, finding("op_kernel/a.cpp", 2))
    kernel.write_text("// new\n" + kernel.read_text())
    assert prints(tmp_path, folder, finding("op_kernel/a.cpp", 3)) == before
    kernel.write_text(kernel.read_text().replace("second", "third"))
    assert prints(tmp_path, folder, finding("op_kernel/a.cpp", 3)) != before


def test_faults_of_equal_lines_and_of_other_kinds_have_fingerprints_of_their_own(
    tmp_path: Path,
) -> None:
    folder = operator(tmp_path, "a")
    found = [
        finding("op_kernel/a.cpp", 2),
        finding("op_kernel/a.cpp", 4),
        finding("op_kernel/a.cpp", 2, kind="overrun"),
        finding(),
    ]
    assert len(set(prints(tmp_path, folder, *found))) == len(found)


def test_what_was_not_checked_is_a_notification(tmp_path: Path) -> None:
    folder = operator(tmp_path, "a")
    reports = [
        CheckReport(operator="a", folder=folder, unchecked="No workload."),
        CheckReport(operator="b", folder=folder, notes=("Time is up.",)),
    ]
    log = check_sarif(reports, tmp_path)
    Draft7Validator(LOG).validate(log)
    (invocation,) = log["runs"][0]["invocations"]
    assert not invocation["executionSuccessful"]
    texts = [one["message"]["text"] for one in invocation["toolExecutionNotifications"]]
    assert texts == ["a: No workload.", "b: Time is up."]


def test_a_text_that_no_forge_may_show_is_made_harmless(tmp_path: Path) -> None:
    folder = operator(tmp_path, "a")
    (result,) = results(
        tmp_path, folder, finding(text="odd \x1b[31m\udcff\u202e text", evidence="second line")
    )
    assert result["message"]["text"] == "odd [31m text\nsecond line"


def test_a_refused_trial_and_its_warnings_are_results(tmp_path: Path) -> None:
    read = load_operator(above_its_kernel(tmp_path))
    assert [one["ruleId"] for one in refused(read, tmp_path)] == ["race", "padding"]


def test_a_source_in_a_folder_of_another_name_is_named_where_it_lies(tmp_path: Path) -> None:
    read = load_operator(above_its_kernel(tmp_path))
    places = [
        one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        for one in refused(read, tmp_path)
    ]
    assert places == ["ops/scale_shift/scale_shift.cpp"] * 2


def refused(operator: Operator, top: Path) -> Any:
    """The results of a trial with a race in the kernel and a warning that names no source."""
    place = Place(file=operator.kernel_entry, line=2)
    trial = Trial.model_construct(
        number=0,
        candidate=Candidate(),
        outcome=Outcome.RACE,
        refusal=Refusal(place=place, sentence="Two accesses."),
        warnings=(MachineWarning(kind="padding", place=Place(), text="Padding."),),
    )
    log = sarif([(operator, trial)], top)
    Draft7Validator(LOG).validate(log)
    return log["runs"][0]["results"]
