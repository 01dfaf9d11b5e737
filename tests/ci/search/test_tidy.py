"""What is still done to the best before it is handed in, on the model of a search."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ci.model.budget import Budget
from ci.model.trial import Candidate, Trial
from ci.search.ending import BudgetSpent
from ci.search.run import Run
from ci.search.tidy import tidied
from ci.system.trial_store import TRIALS_FILE, TrialStore
from ci.testing.model_operator import HOST_FILE, KERNEL, KERNEL_FILE, ModelEvaluator, write
from ci.tiling.synthesize import synthesize

TOP, END = "using namespace AscendC;\n", 'extern "C" __global__'
_A_CORE = re.compile(r"GetShapeSize\(\) / (\d+) \+ 1")


class Limited(ModelEvaluator):
    """Of several limits the least counts."""

    def program(self, candidate: Candidate) -> str:
        lines = candidate.files.get(KERNEL_FILE, KERNEL).splitlines()
        limits = [int(line.split()[-1]) for line in lines if line.startswith("// limit")]
        limits += [-int(most) for most in _A_CORE.findall(candidate.files.get(HOST_FILE, ""))]
        rest = [line for line in lines if not line.startswith("// limit")]
        return f"{min(limits, default=0)} {rest}"


class Earning(ModelEvaluator):
    """A thousand µs, less what its lines say that they earn, some only beside a line `// base`."""

    def evaluate(self, candidate: Candidate, number: int, *, profile: bool = False) -> Trial:
        trial = super().evaluate(candidate, number)
        assert trial.measurement is not None
        lines = candidate.files.get(KERNEL_FILE, KERNEL).splitlines()
        earned = [x.split()[2:] for x in lines if x.startswith("// earns")]
        count = [float(e[0]) for e in earned if len(e) == 1 or "// base" in lines]
        time = 1000.0 - sum(count)
        same = {"samples_us": (time,), "median_us": time, "low_us": time, "high_us": time}
        case = trial.measurement.cases[0].model_copy(update=same)
        measured = trial.measurement.model_copy(update={"cases": (case,)})
        return trial.model_copy(update={"measurement": measured})


def earning(folder: Path, budget: int) -> Run:
    """A run of programs that take as long as they say."""
    store = TrialStore(folder / TRIALS_FILE)
    run = Run(Earning(write(folder)), Budget(budget), store, lambda notice: None)
    run.measure_baseline()
    return run


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    with TrialStore(tmp_path / TRIALS_FILE) as store:
        run = Run(Limited(write(tmp_path)), Budget(7), store, lambda notice: None)
        run.measure_baseline()
        yield run


def stepped(run: Run, *edits: tuple[str, str]) -> Trial:
    """The last of trials that are made one from the other, each by a line before another."""
    trial = run.baseline
    for number, (line, place) in enumerate(edits, 1):
        text = trial.candidate.files.get(KERNEL_FILE, KERNEL).replace(place, f"{line}\n{place}")
        trial = run.evaluate(
            Candidate(
                files={KERNEL_FILE: text},
                parent=trial.candidate.hash,
                rationale=f"Step {number}.",
                motif_ids=(f"m{number}",),
            )
        )
    return trial


def tidy(run: Run, best: Trial) -> Trial:
    assert isinstance(run.evaluator, ModelEvaluator)
    return tidied(run, run.evaluator.operator, best)


def test_a_step_that_a_later_one_made_idle_is_taken_out_at_no_cost(run: Run) -> None:
    best = stepped(run, ("// limit 8", TOP), ("int a;", END), ("// limit 4", END))
    left = run.budget.left
    made = tidy(run, best)
    text = made.candidate.files[KERNEL_FILE]
    assert "// limit 4" in text and "int a;" in text and "// limit 8" not in text
    assert (made.candidate.rationale, made.candidate.motif_ids) == ("Step 2. Step 3.", ("m2", "m3"))
    assert run.parent(made) is run.baseline and run.budget.left == left


def test_steps_that_each_count_stay(run: Run) -> None:
    best = stepped(run, ("int a;", TOP), ("// limit 4", END))
    assert tidy(run, best) is best


def test_several_idle_steps_are_taken_out(run: Run) -> None:
    best = stepped(run, ("// limit 9", TOP), ("// limit 8", "private:\n"), ("// limit 4", END))
    made = tidy(run, best)
    limits = [w for w in made.candidate.files[KERNEL_FILE].splitlines() if "// limit" in w]
    assert limits == ["// limit 4"]


def test_a_limit_that_a_tighter_one_beside_it_made_idle_is_taken_out(run: Run) -> None:
    assert isinstance(run.evaluator, Limited)
    operator = run.evaluator.operator
    template = synthesize(operator, "910B4")
    trial = run.baseline
    for knob, value in (("coreNum.work", 512), ("coreNum.output", 8192)):
        template = template.at({knob: value})
        files = {HOST_FILE: template.plain()[HOST_FILE]}
        said = {"parent": trial.candidate.hash, "rationale": knob, "knobs": template.values}
        trial = run.evaluate(Candidate(files=files, **said))
    text = tidy(run, trial).candidate.files[HOST_FILE]
    assert "GetShapeSize() / 8192 + 1" in text and "/ 512 + 1" not in text


PLACES = (TOP, "class KernelScaleRows", "private:\n", END)
"""Where lines may be put that do not meet."""


def test_steps_that_earn_less_than_the_minimum_effect_are_taken_out_by_one_evaluation(
    tmp_path: Path,
) -> None:
    run = earning(tmp_path, 8)
    earned = ("// earns 300", "// earns 2", "// earns 100", "// earns 1")
    best = stepped(run, *zip(earned, PLACES, strict=True))
    left = run.budget.left
    made = tidy(run, best)
    lines = made.candidate.files[KERNEL_FILE].splitlines()
    assert [x for x in lines if x.startswith("// earns")] == ["// earns 300", "// earns 100"]
    assert (made.candidate.rationale, run.budget.left) == ("Step 3.", left - 1)
    assert [step.candidate.rationale for step in run.line(made)] == ["Step 1.", "Step 3."]


def test_the_budget_keeps_what_dropping_weak_steps_of_the_best_takes(tmp_path: Path) -> None:
    run = earning(tmp_path, 7)
    best = stepped(run, *zip(("// earns 300", "// earns 2", "// earns 100"), PLACES, strict=False))
    other = {KERNEL_FILE: f"{best.candidate.files[KERNEL_FILE]}// other\n"}
    run.evaluate(Candidate(files=other, parent=best.candidate.hash))
    with pytest.raises(BudgetSpent):  # two are left: one for it, and one to be kept
        for number in range(2):
            more = {KERNEL_FILE: f"{best.candidate.files[KERNEL_FILE]}// {number}\n"}
            run.evaluate(Candidate(files=more, parent=best.candidate.hash))
    assert run.budget.left == 1
    lines = tidy(run, best).candidate.files[KERNEL_FILE].splitlines()
    assert [x for x in lines if x.startswith("// earns")] == ["// earns 300", "// earns 100"]


def test_a_step_that_others_rest_on_stays_although_it_earned_little_by_itself(
    tmp_path: Path,
) -> None:
    run = earning(tmp_path, 8)
    steps = ("// base", "// earns 300 on it", "// earns 5", "// earns 100")
    best = stepped(run, *zip(steps, PLACES, strict=True))
    made = tidy(run, best)
    lines = made.candidate.files[KERNEL_FILE].splitlines()
    found = [x for x in lines if x in steps]
    assert found == ["// base", "// earns 300 on it", "// earns 100"]


def test_steps_of_which_all_earn_little_stay_together(tmp_path: Path) -> None:
    run = earning(tmp_path, 8)
    best = stepped(run, ("// earns 8", TOP), ("// earns 9", END))
    assert tidy(run, best) is best
