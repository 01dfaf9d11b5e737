"""Real operators whose edits leave bytes unwritten, copy past the clock, or need what no AI core
has, and honest edits that look alike."""

from __future__ import annotations

from functools import cache

import pytest

from ci.backend import make_backend
from ci.judge.evaluate import Evaluator
from ci.judge.gates.unordered import UnorderedGate
from ci.judge.launch_record import new_warning
from ci.model.trial import Candidate, Outcome, Trial
from ci.source.discovery import load_operator
from ci.source.workload_file import load_workload
from tests.places import OPERATORS

Edits = dict[str, str]

RELU = "activation/leaky_relu_shift"
INIT = "this->shift = tiling->shift;"
FIRST = "constexpr int32_t BUFFER_NUM = 2;"
CLASS = "class LeakyReluShift {"
STORE = "DataCopy(yGm[done], yLocal, length);"


@cache
def evaluator_of(name: str) -> Evaluator:
    """The operator on its workload's first case and seed."""
    operator = load_operator(OPERATORS / "src" / name)
    workload = load_workload(operator)
    update = {"cases": workload.cases[:1], "seeds": (1,)}
    return Evaluator(operator, workload.model_copy(update=update), make_backend("sim", "910B4"))


def tried(name: str, edits: Edits) -> Trial:
    """The trial of an operator whose kernel has each text replaced."""
    evaluator = evaluator_of(name)
    file = evaluator.operator.kernel_entry
    text = evaluator.operator.read(file)
    for old, new in edits.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return evaluator.evaluate(Candidate(files={file: text}, stage="kernel"), 1)


DISHONEST: dict[str, tuple[str, Edits, Outcome, str]] = {
    "leaves a block of the output": (
        RELU,
        {STORE: "DataCopy(yGm[done], yLocal, length - (done == 0 ? 8 : 0));"},
        Outcome.MEMORY_ERROR,
        "of output 0 unwritten",
    ),
    "sums onto what nothing wrote": (
        "math/row_sum",
        {"Duplicate(acc, 0.0f, chunk);": ""},
        Outcome.WRONG_RESULT,
        "",
    ),
    "copies from behind a tensor": (
        RELU,
        {
            FIRST: f"#include <cstring>\n{FIRST}",
            INIT: f"{INIT} char past[64]; std::memcpy(past, (const char*)x + tiling->total * 4, 64)"
            "; this->shift += past[9] == 77;",
        },
        Outcome.MEMORY_ERROR,
        "past the end of input 0",
    ),
    "is no C++": (
        RELU,
        {INIT: f"int address = 0; const char* p = address; {INIT}"},
        Outcome.COMPILE_ERROR,
        "invalid conversion",
    ),
    "has an array of variable length": (
        RELU,
        {INIT: f"float v[tiling->perCore % 7 + 1]; v[0] = 0; {INIT} this->shift += v[0];"},
        Outcome.COMPILE_ERROR,
        "variable length array",
    ),
    "has more local variables than a core": (
        RELU,
        {INIT: f"volatile float v[16384]; v[9] = 0; v[16000] = 0; {INIT} this->shift += v[9];"},
        Outcome.LAUNCH_ERROR,
        "stack",
    ),
    "initialises a global": (
        RELU,
        {
            CLASS: "struct Scale { float one; Scale() { volatile float x = 1.0f; one = x; } };\n"
            f"static Scale scale;\n{CLASS}",
            INIT: "this->shift = tiling->shift * scale.one;",
        },
        Outcome.REJECTED,
        "initialises a global variable",
    ),
}


@pytest.mark.few(1)
@pytest.mark.parametrize("what", DISHONEST)
def test_a_kernel_is_refused_that(what: str) -> None:
    name, edits, outcome, words = DISHONEST[what]
    trial = tried(name, edits)
    assert trial.outcome is outcome, trial.refusal
    assert trial.refusal is not None
    assert words in trial.refusal.sentence


def test_what_reads_unwritten_bytes_to_no_effect_passes_with_a_note() -> None:
    shift = "Adds(shifted, xLocal, this->shift, length);"
    trial = tried(RELU, {shift: f"Adds(shifted, shifted, 1.0f, length); {shift}"})
    assert trial.outcome is Outcome.OK, trial.refusal
    assert "uninitialised" in {warning.kind for warning in trial.warnings}
    assert new_warning(trial.warnings, ()) is None


@pytest.mark.parametrize(
    "edits",
    [
        {"    for (uint32_t done": "#pragma unroll\n    for (uint32_t done"},
        {
            FIRST: f"#define MEMBER(name) name##Gm\n{FIRST}",
            "DataCopy(xLocal, xGm[done], length);": "DataCopy(xLocal, MEMBER(x)[done], length);",
        },
    ],
    ids=["pragma", "macro"],
)
def test_common_style_passes(edits: Edits) -> None:
    trial = tried(RELU, edits)
    assert trial.outcome is Outcome.OK, trial.refusal


@pytest.mark.long
def test_instructions_that_depend_on_others_of_their_pipe_are_no_dropped_flags() -> None:
    name = "norm/l2_normalize_rows"
    trial = tried(
        name,
        {
            "ROWS_PER_TILE = 4;": "ROWS_PER_TILE = 8;",
            "ReduceSum(work, square[i * this->length], work[64], this->length);": """
            uint32_t left = this->length;
            for (; left % 128 == 0; left /= 2)
                Add(square[i * this->length], square[i * this->length],
                    square[i * this->length + left / 2], left / 2);
            ReduceSum(work, square[i * this->length], work[64], left);""",
        },
    )
    assert trial.outcome is Outcome.OK, trial.refusal
    evaluator = evaluator_of(name)
    parent = evaluator.evaluate(Candidate(), 0)
    assert trial.measurement and parent.measurement
    now, before = (t.measurement.cases[0].pipes for t in (trial, parent) if t.measurement)
    assert now.inserted_barriers > before.inserted_barriers
    subject = evaluator.subject(trial.candidate).measured(trial, parent, parent)
    assert UnorderedGate().check(subject) is None
