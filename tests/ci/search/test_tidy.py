"""What is still done to the best before it is handed in, on the model of a search."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ci.model.budget import Budget
from ci.model.trial import Candidate, Trial
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


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    with TrialStore(tmp_path / TRIALS_FILE) as store:
        run = Run(Limited(write(tmp_path)), Budget(5), store, lambda notice: None)
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
    assert isinstance(run.evaluator, Limited)
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
