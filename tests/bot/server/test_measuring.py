"""Every merge request is measured: jobs, comment and check on a real repository of the local
forge; figures are made up here, and measured in test_run_measure."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.repository.job import Job
from bot.server.ci_mode import report
from bot.server.measuring import MEASURED
from bot.server.run_folder import FAILURE, Failure
from ci.model.measured_change import ComparedCase, MeasuredChange
from tests.bot.make import SIMULATED
from tests.bot.operator_repository import KERNEL, operator_repository
from tests.bot.server.ci_runs import Ci

SCALE = "src/math/scale"
HEADER = "src/common/cut.h"
FASTER = ComparedCase(case="a", before_us=10.0, after_us=8.0, low=1.2, high=1.3)
SLOWER = ComparedCase(case="b", before_us=10.0, after_us=12.0, low=0.8, high=0.85)
BROKEN = ComparedCase(case="c", before_us=10.0, after_fault="y[3] is 0, not 1")


def opened(ci: Ci, files: dict[str, str]) -> tuple[int, list[Job]]:
    request = ci.ops.request(files)
    event = ci.ops.event(
        kind="merge_request", action="opened", number=request.number, head=request.head
    )
    return request.number, ci.plan(event)


def told(ci: Ci, job: Job, *cases: ComparedCase, **changed: object) -> list[str]:
    folder = ci._folder()
    (folder / job.key).mkdir(parents=True)
    made = MeasuredChange(
        run=job.run,
        operator=job.operator,
        base_commit=job.base_commit,
        head_commit=job.source_commit,
        fingerprint=SIMULATED,
        derived=False,
        cases=cases,
    ).model_copy(update=changed)
    (folder / job.key / MEASURED).write_text(made.model_dump_json())
    return report(ci.connection(), [job], folder)


def check(ci: Ci, job: Job) -> tuple[str, str]:
    (found,) = (s for s in ci.ops.bot.statuses(job.source_commit) if "measure" in s.context)
    return found.state, found.description


def test_a_merge_request_that_changes_a_kernel_is_timed_against_where_it_left(ci: Ci) -> None:
    base = ci.ops.bot.branch_head("main")
    _, (job,) = opened(ci, {KERNEL: "int kernel = 7;\n"})
    assert (job.kind, job.operator, job.base_commit) == ("measure", SCALE, base)
    assert base in job.commits and job.budget == 3


def test_it_is_told_in_one_comment_a_case_a_line_and_in_a_check(ci: Ci) -> None:
    number, (job,) = opened(ci, {KERNEL: "int kernel = 7;\n"})
    told(ci, job, FASTER)
    said = ci.answers(number)
    assert "| `a` | 10.00 | 8.000 | 1.25× | 1.20 to 1.30 | faster |" in said
    assert "1.25 times the base's speed on 1 case (simulated, 910B4)\n" in said
    assert "Times of a launch from a cold start." in said
    assert check(ci, job) == ("success", "1.25 times the base's speed on 1 case")


def test_the_worst_cases_come_first(ci: Ci) -> None:
    number, (job,) = opened(ci, {KERNEL: "int kernel = 7;\n"})
    told(ci, job, FASTER, SLOWER, BROKEN)
    rows = [line for line in ci.answers(number).splitlines() if line.startswith("| `")]
    assert [row[3] for row in rows] == ["c", "b", "a"]


@pytest.mark.parametrize(
    ("case", "words"),
    [(SLOWER, "1 of 1 case slower"), (BROKEN, "1 of 1 case no longer passes")],
)
def test_what_is_slower_than_the_threshold_or_broken_fails_the_check(
    ci: Ci, case: ComparedCase, words: str
) -> None:
    number, (job,) = opened(ci, {KERNEL: "int kernel = 7;\n"})
    told(ci, job, case)
    state, description = check(ci, job)
    assert state == "failure" and words in description and words in ci.answers(number)


def test_a_case_is_named_once_with_its_fault(ci: Ci) -> None:
    number, (job,) = opened(ci, {KERNEL: "int kernel = 7;\n"})
    named = ComparedCase(case="d", before_us=9.0, after_fault="case d, seed 1: y[3] is 0, not 1")
    told(ci, job, BROKEN, named)
    assert "- `c`: y" in ci.answers(number) and "- case d, seed 1: y" in ci.answers(number)


def test_a_slowdown_below_the_threshold_passes(tmp_path: Path) -> None:
    ci = Ci(operator_repository(tmp_path, "slowdown_threshold: 1.5\n"))
    _, (job,) = opened(ci, {KERNEL: "int kernel = 7;\n"})
    told(ci, job, SLOWER)
    assert check(ci, job)[0] == "success"


def test_a_new_race_fails_the_check_although_everything_is_faster(ci: Ci) -> None:
    number, (job,) = opened(ci, {KERNEL: "int kernel = 7;\n"})
    told(ci, job, FASTER, new_faults=("a: VECTOR reads what MTE2 writes",))
    assert check(ci, job)[0] == "failure"
    assert "New: a: VECTOR reads what MTE2 writes" in ci.answers(number)


def test_several_operators_and_later_commits_share_one_comment(ci: Ci) -> None:
    number, jobs = opened(ci, {HEADER: "int cut = 3;\n"})
    for job in jobs:
        told(ci, job, FASTER)
    ci.ops.commit("feature", {KERNEL: "int kernel = 8;\n"})
    head = ci.ops.bot.merge_request(number).head
    again = ci.plan(ci.ops.event(kind="merge_request", action="updated", number=number, head=head))
    (scale,) = (j for j in again if j.operator == SCALE)
    told(ci, scale, SLOWER)
    (comment,) = (c for c in ci.ops.bot.comments(number) if "ascendopt-measured" in c.body)
    assert comment.body.count("### `") == 2
    assert f"Commit `{head[:12]}`" in comment.body and "| `b` |" in comment.body


def test_a_run_that_fails_says_why_in_the_same_comment(ci: Ci) -> None:
    number, (job,) = opened(ci, {KERNEL: "int kernel = 7;\n"})
    folder = ci._folder()
    (folder / job.key).mkdir(parents=True)
    left = Failure(sentence="No workload could be derived.", lasting=True)
    (folder / job.key / FAILURE).write_text(left.model_dump_json())
    report(ci.connection(), [job], folder)
    (comment,) = (c for c in ci.ops.bot.comments(number) if "ascendopt-measured" in c.body)
    assert "No workload could be derived." in comment.body


def test_figures_of_another_commit_are_not_taken(ci: Ci) -> None:
    number, (job,) = opened(ci, {KERNEL: "int kernel = 7;\n"})
    (said,) = told(ci, job, FASTER, head_commit="1" * 40)
    assert "not of this job: its commit" in said and "| `a` |" not in ci.answers(number)


def test_measure_on_demand_and_not_twice_for_one_commit(ci: Ci) -> None:
    ci.ops.commit("main", {".ascendopt.yml": "triggers: {measure: false}\n"})
    number, jobs = opened(ci, {KERNEL: "int kernel = 7;\n"})
    assert jobs == []
    (job,) = ci.write(number, "/measure")
    assert (job.kind, job.requested_by) == ("measure", "alice")
    told(ci, job, FASTER)
    assert ci.write(number, "/measure") == []
    assert f"run `{job.run}` of this commit is done" in ci.answers(number)


@pytest.mark.parametrize("words", ["/measure stage=kernel", "/measure dry-run"])
def test_measure_takes_an_operator_alone(ci: Ci, words: str) -> None:
    number, _ = opened(ci, {"README.md": "words\n"})
    assert ci.write(number, words) == []
    assert "I did not understand this" in ci.answers(number)


def test_a_new_operator_has_nothing_to_be_measured_against(ci: Ci) -> None:
    number, jobs = opened(
        ci,
        {
            "src/math/fresh/op_host/fresh.cpp": "int tile = 1;\n",
            "src/math/fresh/op_kernel/fresh.cpp": "int kernel = 1;\n",
        },
    )
    assert jobs == [] and ci.answers(number) == ""
