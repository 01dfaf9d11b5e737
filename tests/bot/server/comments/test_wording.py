from __future__ import annotations

import ast

from bot.repository.job import Record
from bot.server.comments import wording
from tests.bot.make import job, result
from tests.places import TOP


def test_every_sentence_that_is_asked_for_is_there_with_as_many_values() -> None:
    """And none is there that nobody asks for."""
    macros = vars(wording._macros())
    asked = {"comment"}
    for file in (TOP / "bot" / "server").rglob("*.py"):
        for call in ast.walk(ast.parse(file.read_text())):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "said":
                name, *values = call.args
                assert isinstance(name, ast.Constant), f"{file}:{call.lineno}"
                asked.add(name.value)
                if not any(isinstance(value, ast.Starred) for value in values):
                    assert len(macros[name.value].arguments) == len(values), name.value
    assert asked == {name for name, macro in macros.items() if hasattr(macro, "arguments")}


def test_a_run_without_a_gain_says_so_once_and_counts_its_trials() -> None:
    nothing = result(verdict="not_improved", verdict_reason="No candidate was faster.")
    said = wording.concluded(job(), nothing, wording.said("nothing_to_propose"), show_patch=False)
    assert said.count("No verified improvement") == 1
    assert "no improvement was found" not in said
    trials, spent = len(nothing.trials), nothing.budget.evaluations
    assert f"{trials} trials in {spent} of {nothing.budget.granted} evaluations: " in said
    assert wording.said("dry_run") in wording.concluded(
        job(), result(), wording.said("dry_run"), show_patch=False
    )


def test_a_run_that_is_on_record_has_no_double_blank() -> None:
    record = Record(job=job(), state="done", created=0.0, merge_request=7)
    assert "already. Merge request: 7." in wording.said("on_record", record)
