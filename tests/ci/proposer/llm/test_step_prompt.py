"""A step's prompt: one for all stages, short, the same from step to step as far as can be."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.model.operator import Operator
from ci.model.trial import Candidate, Outcome, Refusal, Trial
from ci.model.workload import Workload
from ci.proposer.base import Step
from ci.proposer.llm.first_prompt import SEAM, first_prompt
from ci.proposer.llm.knob_lines import knob_lines
from ci.proposer.llm.prompts import messages
from ci.proposer.llm.step_prompt import Shown, step_facts
from ci.proposer.llm.trial_history import near_misses, told
from ci.proposer.llm.view import View, view_of
from ci.source.discovery import load_operator
from ci.source.workload_file import load_workload
from ci.testing.proposer import BASELINE, profiled
from ci.testing.scale_shift import KERNEL, OPERATOR, WORKLOAD
from ci.tiling.regions import tiling_regions
from tests.places import OPERATORS

MOST_TOKENS = 12_000
NAMES = sorted(p.parents[0].name for p in OPERATORS.glob("src/*/*/op_kernel"))[::5]


def _prompt(step: Step, stage: str, operator: Operator, workload: Workload) -> str:
    template, _ = tiling_regions(operator, "910B4")
    view = view_of(operator, step.history[0], template, {})
    shown = Shown(view, template, workload, None, (), knob_lines(template))
    return messages("rewriting", "910B4", **step_facts(stage, step, shown))[1].content


def _after(parent: Trial, number: int, cycles: int, text: str, why: str) -> Trial:
    made = Candidate(
        files={KERNEL: text}, stage="kernel", parent=parent.candidate.hash, rationale=why
    )
    return profiled(cycles, made).model_copy(update={"number": number})


@pytest.mark.parametrize("name", NAMES)
def test_the_first_prompt_is_short_and_mostly_stable(name: str) -> None:
    (root,) = (p for p in OPERATORS.glob(f"src/*/{name}"))
    operator = load_operator(root)
    workload = load_workload(operator, None)
    found = first_prompt(operator, workload, BASELINE, None)
    assert found.tokens <= MOST_TOKENS
    assert found.stable >= 0.5
    for path in operator.kernel_sources:
        assert f"`{path}`" in found.user


def test_stages_and_later_steps_share_the_first_half() -> None:
    text = OPERATOR.read(KERNEL)
    idle = _after(BASELINE, 1, 9001, text + "\n// idle\n", "A comment.")
    first = _prompt(Step(OPERATOR, BASELINE, [BASELINE]), "tiling", OPERATOR, WORKLOAD)
    later = _prompt(Step(OPERATOR, idle, [BASELINE, idle]), "joint", OPERATOR, WORKLOAD)
    head = first.index(SEAM)
    assert first[:head] == later[:head]
    assert head > len(first) / 2
    assert "Propose one change of the host tiling" in first
    assert "together with its host tiling" in later
    assert "+// idle" in later[head:] and "with these changes" not in first


def test_what_became_of_a_trial_is_said_truthfully() -> None:
    better = _after(BASELINE, 1, 8000, "int better;\n", "It waits less.")
    worse = _after(better, 2, 8400, "int worse;\n", "It waits more.")
    same = _after(better, 3, 8000, "int same;\n", "It changes nothing.")
    refused = _after(better, 4, 7000, "int fast;\n", "It skips a flag.").model_copy(
        update={
            "outcome": Outcome.UNFIT,
            "refusal": Refusal(gate="unordered", sentence="A wait is gone."),
        }
    )
    broken = Trial(
        number=5,
        candidate=Candidate(files={KERNEL: "x"}, stage="kernel", rationale="It cannot be built."),
        outcome=Outcome.COMPILE_ERROR,
        refusal=Refusal(gate="build", sentence="x is no type."),
    )
    best = _after(better, 6, 7500, "int best;\n", "It waits least.")
    history = [BASELINE, better, worse, same, refused, broken, best]
    assert "kept: the present program holds it" in told(better, best, history)
    assert "1.050 times slower than trial 1" in told(worse, best, history)
    assert "no gain, so not built on" in told(worse, best, history)
    assert "to the cycle as trial 1" in told(same, best, history)
    assert "refused by the gate 'unordered', so not built on: A wait" in told(
        refused, best, history
    )
    assert "compile error: x is no type." in told(broken, best, history)
    assert "this is the present program" in told(best, best, history)
    (near, *rest) = near_misses(OPERATOR, history, best)
    assert "Trial 4" in near and "+int fast;" in near
    assert all("int same" not in one for one in rest)


def test_why_a_gain_is_not_built_on_is_said_truthfully() -> None:
    little = _after(BASELINE, 1, 8960, "int little;\n", "It gains half a percent.")
    unsure = _after(BASELINE, 2, 8000, "int unsure;\n", "It gains, and is not taken.")
    mixed = _after(BASELINE, 3, 8000, "int mixed;\n", "It gains, but not everywhere.")
    mixed = _with_cases(mixed, 8000, 1100)
    start = _with_cases(BASELINE, 9000, 1000)
    other = _after(start, 4, 7900, "int other;\n", "It was taken.")
    assert "less than 1%, so not built on yet" in told(little, BASELINE, [BASELINE, little])
    assert "not in all of the ensemble" in told(unsure, BASELINE, [BASELINE, unsure])
    assert "against trial 0 case second became 10.0% slower" in told(mixed, start, [start, mixed])
    assert "that the present program lacks" in told(unsure, other, [BASELINE, unsure, other])


def _with_cases(trial: Trial, *cycles: int) -> Trial:
    """The trial as if its case had been measured with these cycles, under two names."""
    assert trial.measurement is not None
    case = trial.measurement.cases[0]
    made = []
    for name, count in zip(("first", "second"), cycles, strict=True):
        took = dict.fromkeys(("median_us", "low_us", "high_us"), count / 1650)
        made.append(case.model_copy(update={"case": name, **took}))
    measured = trial.measurement.model_copy(update={"cases": tuple(made)})
    return trial.model_copy(update={"measurement": measured})


def test_a_near_miss_stands_between_fences_of_its_own() -> None:
    near = _after(BASELINE, 1, 9050, OPERATOR.read(KERNEL) + "\n// near\n", "A comment.")
    prompt = _prompt(Step(OPERATOR, BASELINE, [BASELINE, near]), "kernel", OPERATOR, WORKLOAD)
    assert "or with something else:\n```diff\nTrial 1" in prompt


GUARDED = """/* Copyright (c) nobody. License: none. */
#include "kernel_operator.h"
#define RUN(name) Kernel##name op; op.Process()
class KernelActive {
public:
    __aicore__ inline void Process()
    {
        Work();
    }
    __aicore__ inline void Work()
    {
        int shown;
    }
    __aicore__ inline void Never()
    {
        int hidden_one;
        int hidden_two;
        int hidden_three;
    }
};
class KernelOther {
public:
    __aicore__ inline void Process()
    {
        int other_one;
        int other_two;
        int other_three;
    }
};
extern "C" __global__ __aicore__ void entry(GM_ADDR x)
{
    if (TILING_KEY_IS(1)) {
        RUN(Active);
    } else if (TILING_KEY_IS(2)) {
        RUN(Other);
    }
}
"""


def _viewed(tmp_path: Path, key: int) -> str:
    (tmp_path / "op_kernel").mkdir()
    (tmp_path / "op_kernel" / "k.cpp").write_text(GUARDED)
    operator = OPERATOR.model_copy(
        update={
            "root": tmp_path,
            "repository": None,
            "kernel_sources": ("op_kernel/k.cpp",),
            "kernel_entry": "op_kernel/k.cpp",
            "tiling_sources": (),
            "host_sources": (),
        }
    )
    measured = BASELINE.measurement
    assert measured is not None
    cases = tuple(c.model_copy(update={"tiling_key": key}) for c in measured.cases)
    trial = BASELINE.model_copy(
        update={"measurement": measured.model_copy(update={"cases": cases})}
    )
    template, _ = tiling_regions(operator, "910B4")
    return view_of(operator, trial, template, {}).shown("op_kernel/k.cpp", GUARDED)


def test_only_what_the_cases_tiling_keys_reach_is_shown(tmp_path: Path) -> None:
    shown = _viewed(tmp_path, 1)
    assert "int shown;" in shown and "Copyright" not in shown
    assert "hidden_one" not in shown  # nothing calls it
    assert "other_one" not in shown  # the class of another tiling key, which a macro names
    assert "not shown: Never" in shown


def test_another_tiling_key_shows_another_class(tmp_path: Path) -> None:
    shown = _viewed(tmp_path, 2)
    assert "other_one" in shown and "int shown;" not in shown


def test_a_view_that_hides_nothing_gives_the_text_back() -> None:
    text = OPERATOR.read(KERNEL)
    assert View(frozenset(), frozenset()).shown(KERNEL, text) == text
