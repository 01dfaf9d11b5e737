"""What a patch does in all, on the model of a search."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ci.judge.causes import SCOPE, SCOPE_OF_EACH
from ci.model.budget import Budget
from ci.model.trial import Candidate, Change, Trial
from ci.search.changes import remaining, summed
from ci.search.combine import joined, without
from ci.search.run import Run
from ci.system.trial_store import TRIALS_FILE, TrialStore
from ci.testing.model_operator import KERNEL, KERNEL_FILE, ModelEvaluator, write
from ci.tiling.knob_words import knob_changes
from ci.tiling.synthesize import synthesize
from ci.tiling.template import TilingTemplate

DEVICE = "910B4"


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    with TrialStore(tmp_path / TRIALS_FILE) as store:
        run = Run(ModelEvaluator(write(tmp_path)), Budget(9), store, lambda notice: None)
        run.measure_baseline()
        yield run


def total(run: Run, best: Trial) -> list[str]:
    assert isinstance(run.evaluator, ModelEvaluator)
    return [one.what for one in summed(run, run.evaluator.operator, best)]


def moved(run: Run, parent: Trial, at: TilingTemplate, name: str, value: int) -> Trial:
    """A step that moves one knob, as rules make it."""
    values = at.values | {name: value}
    return run.evaluate(
        Candidate(
            files=parent.candidate.files | at.changes(values),
            stage="tiling",
            parent=parent.candidate.hash,
            rationale="Moves a knob.",
            knobs=dict(values),
            parts=knob_changes(at, values),
        )
    )


def edited(run: Run, parent: Trial, line: str) -> Trial:
    """A step that adds a line to the kernel, at its end."""
    text = parent.candidate.files.get(KERNEL_FILE, KERNEL) + line + "\n"
    files = parent.candidate.files | {KERNEL_FILE: text}
    return run.evaluate(
        Candidate(files=files, parent=parent.candidate.hash, rationale=f"Adds {line}")
    )


def test_a_number_that_several_steps_moved_is_one_change_from_first_to_last(run: Run) -> None:
    assert isinstance(run.evaluator, ModelEvaluator)
    template = synthesize(run.evaluator.operator, DEVICE)
    knob = next(k for k in template.knobs if len(template.choices(k)) > 2)
    first = template.values[knob.name]
    second, third = [v for v in template.choices(knob) if v != first][:2]
    one = moved(run, run.baseline, template, knob.name, second)
    two = moved(run, one, template.at({knob.name: second}), knob.name, third)
    (whole,) = total(run, edited(run, two, "// last"))[:1]
    assert whole == knob_changes(template, {knob.name: third})[0].what
    assert str(second) not in whole.replace(str(third), "").replace(str(first), "")
    back = moved(run, two, template.at({knob.name: third}), knob.name, first)
    assert total(run, back) == []


def test_a_step_that_was_taken_back_is_no_change(run: Run) -> None:
    assert isinstance(run.evaluator, ModelEvaluator)
    one = edited(run, run.baseline, "// one")
    two = edited(run, one, "// two")
    bare = without(run.evaluator.operator, two, one, two)
    assert bare is not None
    assert total(run, two) == ["Adds // one", "Adds // two"]
    assert total(run, run.evaluate(bare)) == ["Adds // one"]


def test_a_change_on_top_of_another_trial_is_told_without_that_trial(run: Run) -> None:
    assert isinstance(run.evaluator, ModelEvaluator)
    operator = run.evaluator.operator
    template = synthesize(operator, DEVICE)
    knob = template.knobs[0]
    value = next(v for v in template.choices(knob) if v != template.values[knob.name])
    tiling = moved(run, run.baseline, template, knob.name, value)
    kernel = edited(run, run.baseline, "// kernel")
    both = joined(operator, tiling, run.baseline, kernel)
    assert both is not None and both.rationale.startswith("With trial")
    words = total(run, run.evaluate(both))
    assert words == [knob_changes(template, {knob.name: value})[0].what, "Adds // kernel"]


def test_only_the_same_words_of_the_same_file_are_undone() -> None:
    parts = [Change(what="a", path="x"), Change(what="a", path="y"), Change(what="b")]
    undone = parts[0].model_copy(update={"undone": True})
    assert remaining([*parts, undone]) == parts[1:]
    assert remaining([*parts, undone, parts[0]]) == [*parts[1:], parts[0]]


def test_the_reason_for_a_number_is_what_it_changed_where_it_alone_was_moved(run: Run) -> None:
    assert isinstance(run.evaluator, ModelEvaluator)
    operator = run.evaluator.operator
    template = synthesize(operator, DEVICE)
    name = "ubParts"
    eight = moved(run, run.baseline, template, name, 8)
    kernel = edited(run, eight, "// kernel")
    last = moved(run, kernel, template.at({name: 8}), name, 16)
    (change,) = [one for one in summed(run, operator, last) if one.knob]
    assert change.why.startswith("UB is divided by this"), "no trial has it alone"
    moved(run, run.baseline, template, name, 16)
    (change,) = [one for one in summed(run, operator, last) if one.knob]
    assert change.why == (
        "MTE2 works for 2,037 instead of 2,057 cycles a core; VECTOR works for 1,222 instead"
        f" of 1,234 cycles a core. {SCOPE}"
    )


def rewritten(run: Run, parent: Trial, before: str, after: str) -> Trial:
    """A step of a motif, with the motif's reason."""
    text = parent.candidate.files.get(KERNEL_FILE, KERNEL)
    assert before in text
    files = parent.candidate.files | {KERNEL_FILE: text.replace(before, after)}
    part = Change(what=f"{before} is {after}", path=KERNEL_FILE, why="The motif says so.")
    return run.evaluate(Candidate(files=files, parent=parent.candidate.hash, parts=(part,)))


def test_the_reason_for_a_rewrite_is_what_it_changed_in_the_profile_if_it_gained(run: Run) -> None:
    assert isinstance(run.evaluator, ModelEvaluator)
    operator = run.evaluator.operator
    room = moved(run, run.baseline, synthesize(operator, DEVICE), "ubParts", 8)
    deeper = rewritten(run, room, "BUFFER_NUM = 1", "BUFFER_NUM = 2")
    last = rewritten(run, deeper, "BUFFER_NUM = 2;", "BUFFER_NUM = 2; // two")
    knob, gained, idle = summed(run, operator, last)
    assert knob.knob and knob.why.endswith("cycles a core.")
    assert gained.why.startswith("MTE2 works for ") and gained.why.endswith(SCOPE_OF_EACH)
    assert idle.why == "The motif says so."
