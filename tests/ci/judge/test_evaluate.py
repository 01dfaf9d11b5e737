"""A hostile or broken candidate ends as the right named outcome, with its place in the source."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ci.backend.sim import SimulatorBackend
from ci.judge.evaluate import Evaluator
from ci.judge.gate_subject import EvaluationSettings
from ci.judge.gates import gates_of
from ci.model.comparison import compare
from ci.model.errors import InputError, TrialFailure
from ci.model.trial import Candidate, Outcome, Trial
from ci.testing.scale_shift import (
    FOLDER,
    HOST,
    KERNEL,
    OPERATOR,
    WORKLOAD,
    changed,
    line_of,
    with_statement,
)

STORE = "DataCopy(yGm_[offset], out, tileLength_);"
LOAD = "DataCopy(in, xGm_[offset], tileLength_);"
WAIT_FOR_VECTOR = "            WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);\n"

# The whole work through raw pointers, sixteen elements a turn: few instructions of the machine.
RAW_WORK = (
    "        __gm__ float *p = (__gm__ float *)xGm_.GetPhyAddr();\n"
    "        __gm__ float *q = (__gm__ float *)yGm_.GetPhyAddr();\n"
    "        for (uint32_t i = 0; i < coreLength_; i += 16) {\n"
    + "".join(f"            q[i + {n}] = p[i + {n}] * 2.0f + 1.0f;\n" for n in range(16))
    + "        }\n"
)

# Runs while the kernel is loaded, before the clock does.
EARLY = (
    "static volatile float early[4];\n"
    "static int Early() {\n"
    "    for (int i = 0; i < 4; i++) early[i] = ((const float *)0x100000000000ull)[i];\n"
    "    return 1;\n"
    "}\n"
    "static int early_done = Early();\n"
)


@pytest.fixture(scope="module")
def backend() -> SimulatorBackend:
    return SimulatorBackend("910B4", launch_seconds=20)


@pytest.fixture(scope="module")
def evaluator(backend: SimulatorBackend) -> Evaluator:
    return Evaluator(OPERATOR, WORKLOAD, backend)


@pytest.fixture(scope="module")
def baseline(evaluator: Evaluator) -> Trial:
    return evaluator.evaluate(Candidate(), 0)


def refused(trial: Trial, gate: str, outcome: Outcome, candidate: Candidate, part: str) -> None:
    """The trial was refused by that gate, at the line of the kernel that holds `part`."""
    assert trial.outcome is outcome, trial.refusal
    assert trial.refusal
    assert trial.refusal.gate == gate
    assert gate not in trial.gates
    place = trial.refusal.place
    assert (place.file, place.line) == (KERNEL, line_of(candidate, part))


def test_the_unmodified_operator_is_ok_and_measured(baseline: Trial) -> None:
    assert baseline.outcome is Outcome.OK, baseline.refusal
    asked = (*gates_of("sources"), *gates_of("launch"))
    assert baseline.gates == tuple(gate.name for gate in asked)
    assert baseline.measurement
    case = baseline.measurement.cases[0]
    assert case.low_us == case.median_us == case.high_us > 0
    assert case.pipes.block_dim == 4
    assert case.pipes.gm_write_bytes == 16 * 4096 * 4
    # The input, and the tiling data on each core.
    assert 16 * 4096 * 4 <= case.pipes.gm_read_bytes <= 16 * 4096 * 4 + 4 * 64
    assert case.pipes.hot_lines[0][0] == KERNEL
    ran = case.pipes.ran[KERNEL]
    assert {line for _, line, _ in case.pipes.hot_lines} <= set(ran)
    assert len(ran) > len(case.pipes.hot_lines)


def test_evaluating_again_gives_the_same_figure_to_the_cycle(
    baseline: Trial, backend: SimulatorBackend
) -> None:
    again = Evaluator(OPERATOR, WORKLOAD, backend).evaluate(Candidate(), 7)
    assert again.measurement == baseline.measurement
    assert again.number == 7


@pytest.mark.long
def test_what_a_tiling_never_wrote_tells_no_programs_apart(evaluator: Evaluator) -> None:
    header = "op_host/scale_shift_tiling.h"
    field = "TILING_DATA_FIELD_DEF(uint32_t, coreLength);"
    spare = f"{field}\nTILING_DATA_FIELD_DEF_ARR(uint64_t, 2, spare);"
    saved = "tiling.set_tileLength(TILE_LENGTH);"

    def program(second: str, said: str = "") -> str:
        """Of a tiling that fills an array as far as it is needed, and with what is left there."""
        held = f"uint64_t spare[2] = {{7, {second}}};\n    tiling.set_spare(spare);\n    {said}"
        host = changed(saved, f"{saved}\n    {held}", HOST)
        return evaluator.program(
            Candidate(files=host.files | changed(field, spare, header).files, stage="tiling")
        )

    left = "reinterpret_cast<uint64_t>(&tiling)"
    assert program(left) == program(left, "// nothing new") != ""
    assert program("8") != program("9")


def test_an_equal_program_is_answered_from_memory(evaluator: Evaluator, baseline: Trial) -> None:
    same = Candidate(files={KERNEL: OPERATOR.read(KERNEL)}, stage="kernel")
    again = evaluator.evaluate(same, 9)
    assert again.cached
    assert again.candidate == same
    assert again.measurement == baseline.measurement


def test_what_compiles_to_the_same_code_is_one_program(evaluator: Evaluator) -> None:
    own = evaluator.program(Candidate())
    assert own
    assert evaluator.program(changed(STORE, f"// a line of its own\n{STORE}")) == own
    assert evaluator.program(changed("2.0f", "(1.0f + 1.0f)")) == own
    assert evaluator.program(changed("2.0f", "3.0f")) != own
    assert evaluator.program(changed("TILE_LENGTH = 1024", "TILE_LENGTH = 2048", HOST)) != own
    assert evaluator.program(changed("2.0f", "2.0f +")) == ""


def test_a_better_tiling_is_measured_as_faster(evaluator: Evaluator, baseline: Trial) -> None:
    wider = changed("TILE_LENGTH = 1024", "TILE_LENGTH = 4096", HOST)
    trial = evaluator.evaluate(wider, 1)
    assert trial.outcome is Outcome.OK, trial.refusal
    assert trial.measurement and baseline.measurement
    assert compare(baseline.measurement, trial.measurement).verdict == "improved"


def test_a_dropped_wait_is_a_race_with_both_places(evaluator: Evaluator) -> None:
    candidate = changed(WAIT_FOR_VECTOR, "")
    trial = evaluator.evaluate(candidate, 1)
    refused(trial, "run", Outcome.RACE, candidate, STORE)
    assert trial.refusal
    assert f"{KERNEL}:{line_of(candidate, 'Adds(out, out')}" in trial.refusal.evidence


def test_a_dropped_flag_pair_is_a_race(evaluator: Evaluator) -> None:
    both = "            SetFlag<HardEvent::V_MTE3>(EVENT_ID0);\n" + WAIT_FOR_VECTOR
    candidate = changed(both, "")
    trial = evaluator.evaluate(candidate, 1)
    refused(trial, "run", Outcome.RACE, candidate, STORE)
    assert trial.measurement is None
    assert trial.refusal
    other = line_of(candidate, "Adds(out, out")
    assert f"{KERNEL}:{other}" in trial.refusal.evidence


def test_a_dropped_barrier_is_a_race(evaluator: Evaluator) -> None:
    candidate = changed("            PipeBarrier<PIPE_V>();\n", "")
    trial = evaluator.evaluate(candidate, 1)
    refused(trial, "run", Outcome.RACE, candidate, "Adds(out, out")


def test_a_wait_that_nobody_sets_is_a_launch_error(evaluator: Evaluator) -> None:
    candidate = changed("            SetFlag<HardEvent::V_MTE3>(EVENT_ID0);\n", "")
    trial = evaluator.evaluate(candidate, 1)
    refused(trial, "run", Outcome.LAUNCH_ERROR, candidate, WAIT_FOR_VECTOR.strip())


def test_writing_past_an_output_is_a_memory_error(evaluator: Evaluator) -> None:
    candidate = changed(STORE, "DataCopy(yGm_[offset + 8192], out, tileLength_);")
    trial = evaluator.evaluate(candidate, 1)
    refused(trial, "run", Outcome.MEMORY_ERROR, candidate, "offset + 8192")


def test_overflowing_ub_is_a_memory_error(evaluator: Evaluator) -> None:
    candidate = changed(LOAD, "DataCopy(in[60000], xGm_[offset], tileLength_);")
    trial = evaluator.evaluate(candidate, 1)
    refused(trial, "run", Outcome.MEMORY_ERROR, candidate, "in[60000]")


def test_writing_through_a_wild_pointer_is_a_memory_error(evaluator: Evaluator) -> None:
    candidate = with_statement("*(volatile uint64_t *)(uintptr_t)64 = 1;")
    trial = evaluator.evaluate(candidate, 1)
    refused(trial, "run", Outcome.MEMORY_ERROR, candidate, "(uintptr_t)64")


def test_an_endless_loop_is_a_timeout(backend: SimulatorBackend) -> None:
    hasty = Evaluator(OPERATOR, WORKLOAD, SimulatorBackend("910B4", launch_seconds=2))
    candidate = with_statement("volatile int n = 0; while (n == 0) { n = 0; }")
    trial = hasty.evaluate(candidate, 1)
    assert trial.outcome is Outcome.TIMEOUT, trial.refusal


def test_a_wrong_result_names_the_worst_element(evaluator: Evaluator) -> None:
    trial = evaluator.evaluate(changed("Adds(out, out, 1.0f", "Adds(out, out, 1.5f"), 1)
    assert trial.outcome is Outcome.WRONG_RESULT
    assert trial.refusal
    assert "case fp32_16x4096, seed 1: output y (float32) is wrong in 65,536 of 65,536" in (
        trial.refusal.message
    )


def test_skipping_work_leaves_outputs_unwritten(evaluator: Evaluator) -> None:
    candidate = changed("offset < coreLength_", "offset < coreLength_ - tileLength_")
    trial = evaluator.evaluate(candidate, 1)
    assert trial.outcome is Outcome.MEMORY_ERROR
    assert trial.refusal and "output 0" in trial.refusal.message
    left = trial.refusal.unwritten
    assert left is not None and left.output == 0 and 0 < left.count < left.size
    assert f"leaves {left.count:,} of the {left.size:,} bytes" in trial.refusal.message


def test_a_compile_error_is_cut_to_its_first_line(evaluator: Evaluator) -> None:
    candidate = with_statement("LocalTensor<float> q = nowhere;")
    trial = evaluator.evaluate(candidate, 1)
    assert trial.outcome is Outcome.COMPILE_ERROR
    assert trial.refusal
    assert "nowhere" in trial.refusal.message
    assert (trial.refusal.place.file, trial.refusal.place.line) == (
        KERNEL,
        line_of(candidate, "nowhere"),
    )


@pytest.mark.parametrize(
    ("statement", "word"),
    [
        ("fork();", "fork"),
        ("socket(2, 1, 0);", "socket"),
        ('::system("id");', "system"),
        ('asm volatile("nop");', "asm"),
        ("dav_scalar_free();", "dav_scalar_free"),
        ('auto f = fopen("/etc/passwd", "r");', "fopen"),
        ('getenv("GITHUB_TOKEN");', "getenv"),
        ("__sanitizer_cov_trace_pc();", "__sanitizer_cov_trace_pc"),
    ],
)
def test_forbidden_names_are_refused_before_any_build(
    evaluator: Evaluator, statement: str, word: str
) -> None:
    candidate = with_statement(statement)
    trial = evaluator.evaluate(candidate, 1)
    assert trial.outcome is Outcome.REJECTED
    assert trial.refusal
    assert word in trial.refusal.message
    assert trial.refusal.place.line == line_of(candidate, statement)


def test_including_a_secret_is_refused(evaluator: Evaluator) -> None:
    candidate = changed('#include "kernel_operator.h"', '#include "kernel_operator.h"\n'
                        '#include "/etc/passwd"')  # fmt: skip
    trial = evaluator.evaluate(candidate, 1)
    assert trial.outcome is Outcome.REJECTED
    assert trial.refusal
    assert "/etc/passwd" in trial.refusal.message


def test_a_fake_result_on_stdout_changes_nothing(evaluator: Evaluator, baseline: Trial) -> None:
    fake = '{\\"outcome\\": \\"ok\\", \\"total_cycles\\": 1}'
    candidate = with_statement(f'puts("{fake}");')
    text = 'extern "C" int puts(const char *);\n' + candidate.files[KERNEL]
    trial = evaluator.evaluate(Candidate(files={KERNEL: text}, stage="kernel"), 1)
    assert trial.outcome is Outcome.OK, trial.refusal
    assert trial.measurement and baseline.measurement
    assert trial.measurement.score_us >= baseline.measurement.score_us


def test_work_done_past_the_machine_is_never_faster(evaluator: Evaluator, baseline: Trial) -> None:
    start = changed("        for (uint32_t offset", RAW_WORK + "        for (uint32_t offset")
    text = start.files[KERNEL].replace("offset < coreLength_;", "offset < 0;")
    trial = evaluator.evaluate(Candidate(files={KERNEL: text}, stage="kernel"), 1)
    assert trial.outcome is Outcome.OK, trial.refusal
    assert trial.measurement and baseline.measurement
    assert compare(baseline.measurement, trial.measurement).verdict == "worse"


def test_a_name_that_is_pasted_together_is_refused(evaluator: Evaluator) -> None:
    paste = '#define PASTE(a, b) a##b\ninline void Run() { PASTE(sys, tem)("id"); }\n'
    trial = evaluator.evaluate(changed("class ScaleShift {", f"{paste}class ScaleShift {{"), 1)
    assert trial.outcome is Outcome.REJECTED
    assert trial.refusal and trial.refusal.gate == "guard"


def test_a_static_initialiser_is_refused_before_it_runs(evaluator: Evaluator) -> None:
    trial = evaluator.evaluate(changed("class ScaleShift {", EARLY + "class ScaleShift {"), 1)
    assert trial.outcome is Outcome.REJECTED
    assert trial.refusal and trial.refusal.gate == "link"


def test_reaching_into_another_cores_buffer_is_a_memory_error(evaluator: Evaluator) -> None:
    reach = "*((volatile float *)in.GetPhyAddr() - 0x200000 / sizeof(float)) = 1.0f;"
    trial = evaluator.evaluate(with_statement(f"if (GetBlockIdx() == 1) {{ {reach} }}"), 1)
    assert trial.outcome is Outcome.MEMORY_ERROR, trial.refusal
    # A core that runs after another takes over its memory: nothing need lie where that one was.
    assert trial.refusal
    assert re.search("unified buffer of another core|outside every ", trial.refusal.message)


def test_a_block_copy_is_charged_after_a_dropped_access(evaluator: Evaluator) -> None:
    dropped = "(void)xGm_.GetValue(0); memcpy(held, (void *)xGm_.GetPhyAddr(), sizeof(held));"
    kept = "memcpy(held, (void *)xGm_.GetPhyAddr(), sizeof(held));"
    use = "float held[1024]; {} if (held[5] > 1e30f) trap();"
    times = []
    for copy in (kept, dropped):
        trial = evaluator.evaluate(with_statement(use.replace("{}", copy)), 1)
        assert trial.outcome is Outcome.OK, trial.refusal
        assert trial.measurement
        times.append(trial.measurement.score_us)
    assert times[1] > times[0] * 0.99


def test_exhausting_memory_ends_the_run_not_the_machine(evaluator: Evaluator) -> None:
    candidate = changed("    TPipe pipe_;", "    TPipe pipe_;\n    float hoard_[1 << 30];")
    trial = evaluator.evaluate(candidate, 1)
    assert trial.outcome is Outcome.MEMORY_ERROR, trial.refusal


def test_a_template_bomb_ends_the_compilation(evaluator: Evaluator) -> None:
    bomb = "template <int N, int M> struct Deep { using t = typename Deep<N - 1, M + 2>::t; };\n"
    used = f"{bomb}Deep<900000, 1>::t deep_;\nclass ScaleShift {{"
    trial = evaluator.evaluate(changed("class ScaleShift {", used), 1)
    assert trial.outcome is Outcome.COMPILE_ERROR
    assert trial.refusal
    assert "depth" in trial.refusal.message


def wide_and_narrow(backend: SimulatorBackend) -> Evaluator:
    """The fixture's workload with a case of large values between two of small ones."""
    small = WORKLOAD.cases[0]
    large = small.changed("x", lambda t: t.model_copy(update={"range": (-999, 999)}))
    cases = (small, large, small.model_copy(update={"name": "last"}))
    return Evaluator(OPERATOR, WORKLOAD.model_copy(update={"cases": cases}), backend)


def test_every_case_is_launched_and_tells_how_it_ended(backend: SimulatorBackend) -> None:
    judge = wide_and_narrow(backend)
    add = "Adds(out, out, 1.0f, tileLength_);"
    capped = changed(add, f"Mins(out, out, 50.0f, tileLength_); PipeBarrier<PIPE_V>(); {add}")
    trial = judge.evaluate(capped, 1)
    assert [c.outcome for c in trial.cases] == [Outcome.OK, Outcome.WRONG_RESULT, Outcome.OK]
    assert trial.outcome is Outcome.WRONG_RESULT
    assert trial.refusal == trial.cases[1].refusal
    passed = judge.evaluate(Candidate(), 0)
    assert [c.outcome for c in passed.cases] == [Outcome.OK] * 3


def test_what_does_not_compile_is_asked_once(backend: SimulatorBackend) -> None:
    trial = wide_and_narrow(backend).evaluate(changed("class ScaleShift {", "class {"), 1)
    assert [c.outcome for c in trial.cases] == [Outcome.COMPILE_ERROR]


def test_an_absurd_block_dim_is_a_launch_error(evaluator: Evaluator) -> None:
    candidate = changed("SetBlockDim(BLOCK_DIM)", "SetBlockDim(4000000000u)", HOST)
    assert evaluator.evaluate(candidate, 1).outcome is Outcome.LAUNCH_ERROR


@pytest.mark.long
def test_thorough_verification_uses_inputs_that_no_trial_saw(evaluator: Evaluator) -> None:
    found = evaluator.confirm(Trial(number=1, candidate=Candidate(), outcome=Outcome.OK))
    assert found.seeds[:2] == (1, 2)
    assert len(set(found.seeds)) == 5
    assert found.elements == 5 * 16 * 4096
    assert found.reference == "golden"
    assert found.worst_error < 1
    assert sum(found.varied.values()) > 20
    assert not found.shallow
    assert found.gates == (
        "more_seeds",
        "steady",
        "edges",
        "coverage",
        "chips",
        "compilers",
        "addresses",
        "decisions",
        "siblings",
    )


def test_thorough_verification_raises_what_fails(evaluator: Evaluator) -> None:
    with pytest.raises(TrialFailure, match="wrong_result"):
        evaluator.confirm(Trial(number=1, candidate=changed("2.0f", "3.0f"), outcome=Outcome.OK))


def test_without_a_golden_the_unmodified_operator_is_the_reference(
    backend: SimulatorBackend,
) -> None:
    bare = WORKLOAD.model_copy(update={"golden": ""})
    judge = Evaluator(OPERATOR, bare, backend, settings=EvaluationSettings(varied_cases=3))
    assert judge.evaluate(Candidate(), 0).outcome is Outcome.OK
    assert judge.evaluate(changed("2.0f", "3.0f"), 1).outcome is Outcome.WRONG_RESULT
    found = judge.confirm(Trial(number=1, candidate=Candidate(), outcome=Outcome.OK))
    assert found.reference == "unmodified operator"
    assert sum(found.varied.values()) == 3
    assert found.shallow


def test_a_profile_leaves_a_timeline(backend: SimulatorBackend, tmp_path: Path) -> None:
    settings = EvaluationSettings(timelines=tmp_path / "lines")
    judge = Evaluator(OPERATOR, WORKLOAD, backend, settings=settings)
    assert judge.evaluate(Candidate(), 0, profile=True).outcome is Outcome.OK
    text = (tmp_path / "lines" / "0.jsonl").read_text()
    assert "copy_gm_to_ubuf" in text and "vmuls" in text


@pytest.mark.parametrize(
    "change",
    [("2.0f", "2.0f"), ("2.0f", "3.0f"), ("            PipeBarrier<PIPE_V>();\n", "")],
    ids=["ok", "wrong", "race"],
)
def test_a_trial_is_the_same_with_several_jobs(
    backend: SimulatorBackend, change: tuple[str, str]
) -> None:
    candidate = changed(*change)
    again = WORKLOAD.cases[0].model_copy(update={"name": "again"})
    workload = WORKLOAD.model_copy(update={"cases": (*WORKLOAD.cases, again)})
    one, several = (
        Evaluator(OPERATOR, workload, backend, settings=EvaluationSettings(jobs=jobs)).evaluate(
            candidate, 1
        )
        for jobs in (1, 3)
    )
    assert several.model_copy(update={"seconds": one.seconds}) == one


def test_an_unknown_device_is_named_with_the_known_ones() -> None:
    with pytest.raises(InputError, match="910B4"):
        SimulatorBackend("910Z9")


def test_the_fixture_operator_is_the_one_on_disk() -> None:
    assert OPERATOR.root == FOLDER.resolve() or OPERATOR.root == FOLDER
