"""How findings are collected and ordered."""

from __future__ import annotations

from dataclasses import replace

from ci.judge.check.findings import Findings
from ci.judge.compare_outputs import Compared
from ci.judge.launch_record import Launched
from ci.model.errors import TrialFailure
from ci.model.finding import Severity
from ci.model.launch import CaseRun
from ci.model.trial import MachineWarning, Outcome, PipeTime, Place, Refusal
from ci.model.workload import WorkloadCase


def wrong_launch(*, overflown: bool = False) -> Launched:
    """A launch whose outputs are wrong, or hold no numbers."""
    pipes = PipeTime(total_cycles=1, block_dim=1, busy_cycles={})
    run = CaseRun(outputs=[], samples_us=(1.0,), pipes=pipes, tiling_key=0)
    compared = Compared(1, worst_error=9.0, message="y is wrong", overflown=overflown)
    return Launched(WorkloadCase(name="own", inputs=()), run, compared, b"")


def cut(line: int) -> MachineWarning:
    """A cast that cuts a number, on a line."""
    return MachineWarning(kind="cut", place=Place(file="op_kernel/a.cpp", line=line), text="cut")


def test_a_wrong_result_that_rounding_may_give_is_a_note_and_else_an_error() -> None:
    loose, strict, over = Findings(), Findings(), Findings()
    loose.launched(wrong_launch(), 1, "range", rounding=True)
    over.launched(wrong_launch(overflown=True), 1, "range", rounding=True)
    strict.launched(wrong_launch(), 1)
    assert [one.severity for one in loose.ordered()] == [Severity.NOTE]
    assert [one.severity for one in strict.ordered()] == [Severity.ERROR]
    assert [one.severity for one in over.ordered()] == [Severity.ERROR]


def test_a_cast_that_cuts_is_found_only_with_a_wrong_result_which_names_it() -> None:
    findings = Findings()
    findings.warnings([cut(7)], "own")
    assert findings.ordered() == ()
    findings.launched(wrong_launch(), 1)
    cause, wrong = findings.ordered()
    assert cause.kind == "cut" and cause.severity is Severity.ERROR
    assert "op_kernel/a.cpp:7" in wrong.advice


def test_a_division_by_zero_is_the_cause_of_a_wrong_result() -> None:
    findings = Findings()
    place = Place(file="op_kernel/a.cpp", line=7)
    findings.warnings([MachineWarning(kind="division", place=place, text="by zero")], "own")
    assert [one.severity for one in findings.ordered()] == [Severity.WARNING]
    findings.launched(wrong_launch(), 1)
    cause, wrong = sorted(findings.ordered(), key=lambda one: one.kind)
    assert cause.severity is Severity.ERROR
    assert place.source in wrong.advice


def test_a_line_of_the_host_side_that_ends_a_launch_is_told_once() -> None:
    findings, place = Findings(), Place(file="op_host/a.cpp", line=7)
    refusal = Refusal(sentence="SIGFPE", place=place)
    findings.failure(TrialFailure(Outcome.LAUNCH_ERROR, refusal))
    findings.told("host_crash", place, "SIGFPE")
    assert [one.kind for one in findings.ordered()] == ["launch_error"]


def test_a_line_has_a_fault_of_a_kind_once_whatever_case_shows_it() -> None:
    findings = Findings()
    other = MachineWarning(kind="overrun", place=Place(file="op_kernel/a.cpp", line=3), text="x")
    findings.warnings([other], "first")
    findings.warnings([other], "second")
    (one,) = findings.ordered()
    assert (one.place.case, one.more) == ("first", 1)


def test_what_a_doubtful_case_shows_is_a_note_until_another_case_shows_it() -> None:
    findings, place = Findings(doubtful={"parted"}), Place(file="op_kernel/a.cpp", line=3)
    overrun = MachineWarning(kind="overrun", place=place, text="beyond")
    findings.warnings([overrun], "parted")
    findings.launched(wrong_launch(), 1)
    (note,) = (one for one in findings.ordered() if one.kind == "overrun")
    assert note.severity is Severity.NOTE
    assert "No golden function" in note.advice
    findings.warnings([overrun], "own")
    (error,) = (one for one in findings.ordered() if one.kind == "overrun")
    assert (error.severity, error.place.case, error.more) == (Severity.ERROR, "own", 1)


def test_of_a_case_with_an_input_of_a_guessed_length_only_races_are_more_than_notes() -> None:
    findings, place = Findings(guessed={"longer"}), Place(file="op_kernel/a.cpp", line=3)
    for kind in ("overrun", "compiler_order"):
        findings.warnings([MachineWarning(kind=kind, place=place, text="x")], "longer")
    fails = {one.kind: one.fails for one in findings.found.values()}
    assert fails == {"overrun": False, "compiler_order": True}


def test_a_case_that_shows_a_fault_in_two_builds_is_counted_once() -> None:
    findings, place = Findings(), Place(file="op_kernel/a.cpp", line=3)
    for case in ("first", "second", "first", "second"):
        findings.warnings([MachineWarning(kind="limit", place=place, text="x")], case)
    assert [one.more for one in findings.ordered()] == [1]


def test_a_failure_without_a_line_is_one_whatever_numbers_it_has_but_not_whatever_tensor() -> None:
    findings = Findings()
    for case, text in enumerate(("9 bytes of output 0", "5 bytes of output 0", "5 of output 1")):
        refusal = Refusal(sentence=f"Unwritten {text}.", place=Place(case=f"case {case}"))
        findings.failure(TrialFailure(Outcome.MEMORY_ERROR, refusal), "length")
    assert [one.more for one in findings.ordered()] == [1, 0]
    for case in ("of rows", "of columns"):
        refusal = Refusal(sentence=f"No blocks for '{case}'.", place=Place(case=case))
        findings.failure(TrialFailure(Outcome.LAUNCH_ERROR, refusal))
    assert [one.more for one in findings.ordered() if one.kind == "launch_error"] == [1]


def test_a_difference_below_zero_is_named_where_a_launch_fails_at_another_line() -> None:
    below = MachineWarning(
        kind="below_zero", place=Place(file="op_kernel/a.cpp", line=3), text="It is -1."
    )
    failing, right = Findings(), Findings()
    place = Place(case="own", file="op_kernel/a.cpp", line=9)
    refusal = Refusal(place=place, sentence="It reads out of bounds.")
    failing.failure(TrialFailure(Outcome.MEMORY_ERROR, refusal, warnings=(below,)))
    error, note = failing.ordered()
    assert (error.advice, note.kind) == ("Look first at op_kernel/a.cpp:3.", "below_zero")
    assert not note.fails
    right.warnings([below], "own")
    assert right.ordered() == ()


def test_what_an_overrun_leads_to_is_left_out_and_what_else_conflicts_is_not() -> None:
    over, far = (Place(file="op_kernel/a.cpp", line=line) for line in (3, 9))
    stored = Place(file="op_kernel/a.cpp", line=5)
    findings = Findings()
    overrun = MachineWarning(kind="overrun", place=over, text="beyond")
    findings.warnings([overrun], "first")
    findings.warnings([overrun], "third")
    neighbour = MachineWarning(kind="own_source", place=far, text="over its source")
    findings.warnings([neighbour], "third")
    for place, other in ((over, stored), (stored, over), (far, stored)):
        order = MachineWarning(kind="compiler_order", place=place, other=other, text="unordered")
        findings.warnings([order], "second")
    assert {(one.kind, one.place.line) for one in findings.ordered()} == {
        ("overrun", 3),
        ("compiler_order", 9),
    }


def test_a_line_that_races_is_not_said_to_rely_on_the_compiler_too() -> None:
    findings = Findings()
    for line in (3, 9):
        place = Place(file="op_kernel/a.cpp", line=line)
        findings.warnings([MachineWarning(kind="compiler_order", place=place, text="x")], "first")
    racing = Refusal(sentence="It races.", place=Place(file="op_kernel/a.cpp", line=3))
    findings.failure(TrialFailure(Outcome.RACE, racing))
    assert [(one.kind, one.place.line) for one in findings.ordered()] == [
        ("race", 3),
        ("compiler_order", 9),
    ]


def test_a_warning_without_a_line_is_one_whatever_numbers_and_variation_it_has() -> None:
    findings = Findings()
    for varied, number in (("", 3), ("length", 4), ("range", 5)):
        text = f"vadd reads 0x{number:x}0, of which {number} bytes nothing has written."
        findings.warnings(
            [MachineWarning(kind="uninitialised", text=text)], f"case {number}", varied
        )
    findings.warnings([MachineWarning(kind="uninitialised", text="vmul reads.")], "case 3")
    assert [one.more for one in findings.ordered()] == [2, 0]


def test_a_hint_is_shown_only_where_a_result_is_wrong_and_nothing_else_says_why() -> None:
    place = Place(file="op_kernel/a.cpp", line=4)
    findings = Findings()
    findings.warnings([MachineWarning(kind="views", place=place, text="overlap")], "own")
    assert findings.ordered() == ()
    findings.launched(wrong_launch(), 1)
    wrong, _ = findings.ordered()
    assert place.source in wrong.advice
    findings.warnings([MachineWarning(kind="narrowed", place=place, text="becomes 0")], "own")
    assert [one.kind for one in findings.ordered()] == ["narrowed", "wrong_result"]


def test_bytes_that_nothing_wrote_explain_no_result_that_other_bytes_leave_as_it_is() -> None:
    place = Place(file="op_kernel/a.cpp", line=4)
    findings = Findings()
    findings.launched(wrong_launch(), 1)
    findings.warnings([MachineWarning(kind="uninitialised", place=place, text="reads")], "own")
    assert place.source in findings.ordered()[0].advice
    findings.steady.add("own")
    assert findings.ordered()[0].advice == ""


def test_errors_of_memory_are_notes_where_the_outputs_length_is_a_guess() -> None:
    findings = Findings(outputs_guessed={"long"})
    for case in ("long", "own"):
        place = Place(case=case, file="op_kernel/a.cpp", line=len(case))
        for outcome in (Outcome.MEMORY_ERROR, Outcome.RACE):
            findings.failure(TrialFailure(outcome, Refusal(place=place, sentence="It fails.")))
    failing = {(one.kind, one.place.case) for one in findings.ordered() if one.fails}
    assert failing == {("memory_error", "own"), ("race", "own"), ("race", "long")}


def test_what_is_read_does_not_hang_on_outputs_whose_length_the_host_side_does_not_read() -> None:
    said = (
        "copy_gm_to_ubuf reads global memory out of bounds: 124 bytes past the end of input 0.",
        "vadd writes UB bytes 0x0..0xff, beyond the unified buffer.",
        "copy_ubuf_to_gm writes global memory out of bounds: 4 bytes past the end of output 0.",
        "copy_gm_to_ubuf reads global memory out of bounds: 8 bytes past the end of output 0.",
        "The kernel leaves 4 bytes of output 0 unwritten.",
    )
    for unread, failing in ((set(), 0), ({"long"}, 2)):
        findings = Findings(outputs_guessed={"long"}, outputs_unread=unread)
        for line, sentence in enumerate(said, 1):
            place = Place(case="long", file="op_kernel/a.cpp", line=line)
            refusal = Refusal(place=place, sentence=sentence)
            findings.failure(TrialFailure(Outcome.MEMORY_ERROR, refusal))
        assert [one.place.line for one in findings.ordered() if one.fails] == [1, 2][:failing]


def test_an_output_that_nobody_asks_for_is_a_note() -> None:
    place = Place(case="without", file="op_kernel/a.cpp", line=7)
    failure = TrialFailure(Outcome.MEMORY_ERROR, Refusal(place=place, sentence="It leaves one."))
    findings = Findings()
    findings.failure(failure, "regime", unasked=True)
    (one,) = findings.ordered()
    assert not one.fails
    assert "such an output" in one.advice


def test_what_only_cases_show_that_nobody_launches_is_a_note() -> None:
    findings = Findings(unlaunched={"empty"})
    findings.warnings([cut(4)], "empty")
    place = Place(case="empty", file="op_kernel/a.cpp", line=7)
    refusal = Refusal(place=place, sentence="It ends.")
    findings.failure(TrialFailure(Outcome.MEMORY_ERROR, refusal), "empty input")
    assert not any(one.fails for one in findings.ordered())
    assert "empty outputs" in findings.ordered()[0].advice
    own = refusal.model_copy(update={"place": place.model_copy(update={"case": "own"})})
    findings.failure(TrialFailure(Outcome.MEMORY_ERROR, own))
    assert [one.place.case for one in findings.ordered() if one.fails] == ["own"]


def test_what_other_values_do_not_show_is_a_note_unless_these_show_more() -> None:
    def shown(*lines: int, case: str) -> Findings:
        findings = Findings()
        for line in lines:
            place = Place(case=case, file="op_kernel/a.cpp", line=line)
            refusal = Refusal(place=place, sentence="It races.")
            findings.failure(TrialFailure(Outcome.RACE, refusal))
        return findings

    first = shown(1, 2, case="own")
    first.hold_against("own", shown(2, 3, case="other"), "other")
    assert all(one.fails for one in first.ordered())
    first.hold_against("own", shown(2, case="other"), "other")
    assert [one.place.line for one in first.ordered() if one.fails] == [2]


def test_what_one_case_explains_hides_nothing_of_another() -> None:
    unset, end = (Place(file="op_kernel/a.cpp", line=line) for line in (7, 9))
    findings = Findings()
    findings.together("unset", unset.model_copy(update={"case": "own"}), "It reads a member.")
    findings.warnings([cut(4)], "own")
    findings.together("behind", end.model_copy(update={"case": "long"}), "Bytes behind.", "length")
    refusal = Refusal(place=Place(case="long"), sentence="It leaves bytes unwritten.")
    findings.failure(TrialFailure(Outcome.MEMORY_ERROR, refusal), "length")
    assert {one.kind for one in findings.ordered()} == {"unset", "behind", "memory_error"}
    findings.together("unset", unset.model_copy(update={"case": "long"}), "It reads a member.")
    assert "unset" in {one.kind for one in findings.ordered()}
    explained = Findings()
    for kind in ("unset", "behind"):
        explained.together(kind, end.model_copy(update={"case": "long"}), "It reads.")
    explained.failure(TrialFailure(Outcome.MEMORY_ERROR, refusal))
    assert {one.kind for one in explained.ordered()} == {"behind", "memory_error"}


def test_a_wrong_result_names_the_causes_of_its_own_case() -> None:
    findings = Findings()
    findings.warnings([cut(4)], "another")
    findings.warnings([cut(7)], "own")
    findings.launched(wrong_launch(), 1)
    cause, wrong = findings.ordered()
    assert cause.place.line == 7
    assert "op_kernel/a.cpp:7" in wrong.advice and ":4" not in wrong.advice


def test_a_wrong_result_that_several_cases_show_names_the_causes_of_the_case_it_shows() -> None:
    findings = Findings()
    for case in ("own", "another"):
        launched = wrong_launch()
        shown = launched.case.model_copy(update={"name": case})
        findings.launched(replace(launched, case=shown), 1)
    findings.warnings([cut(4)], "another")
    assert [one.advice for one in findings.ordered() if one.kind == "wrong_result"] == [""]
