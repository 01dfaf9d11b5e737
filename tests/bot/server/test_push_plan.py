"""What follows from a push where the one before was lost, taken back or met a broken
configuration; and what is passed over is said on the dashboard."""

from __future__ import annotations

import time

import pytest

from bot.repository.job import Job
from bot.server.queue import POSTPONED_S
from tests.bot.make import git
from tests.bot.operator_repository import KERNEL
from tests.bot.server.ci_runs import Ci
from tests.bot.server.test_one_queue import SCALE, SHIFT

SHIFTS = "src/math/shift/op_kernel/shift.cpp"


def begun(ci: Ci) -> None:
    ci.plan(ci.ops.event(kind="other"))


def dashboard(ci: Ci) -> str:
    return (ci.ops.folder / "ops.git/merge-requests/dashboard-of-ascendopt.md").read_text()


def operators(jobs: list[Job]) -> list[str]:
    return sorted(job.operator for job in jobs)


def test_what_is_pushed_under_a_broken_configuration_is_searched_once_it_is_mended(ci: Ci) -> None:
    begun(ci)
    ci.push({"README.md": "more\n"})
    assert ci.push({".ascendopt.yml": "budgte: 3\n", KERNEL: "int kernel = 9;\n"}) == []
    assert "**The configuration has an error" in dashboard(ci) and "budgte" in dashboard(ci)
    assert ci.follow_up() == []
    assert operators(ci.push({".ascendopt.yml": "budget: 9\n"})) == [SCALE]
    assert "has an error" not in dashboard(ci)


def test_a_merge_request_that_met_a_broken_configuration_is_measured_once_it_is_mended(
    ci: Ci, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun(ci)
    ci.push({".ascendopt.yml": "budgte: 3\n"})
    request = ci.ops.request()
    opened = {"action": "opened", "number": request.number, "head": request.head}
    assert ci.plan(ci.ops.event(kind="merge_request", **opened)) == []
    ci.push({".ascendopt.yml": "budget: 9\n"})
    later = time.time() + POSTPONED_S + 1
    monkeypatch.setattr(time, "time", lambda: later)
    assert [job.kind for job in ci.follow_up()] == ["measure"]


def test_what_is_pushed_while_the_bot_is_switched_off_is_not_searched_afterwards(ci: Ci) -> None:
    begun(ci)
    ci.push({".ascendopt.yml": "enabled: false\n"})
    ci.push({KERNEL: "int kernel = 9;\n"})
    assert ci.push({".ascendopt.yml": "enabled: true\n"}) == []


def rewritten(ci: Ci, before: str) -> list[Job]:
    """Somebody pushes another history by force."""
    git(ci.ops.checkout, "reset", "-q", "--hard", "HEAD~1")
    (ci.ops.checkout / SHIFTS).write_text("int kernel = 5;\n")
    git(ci.ops.checkout, "commit", "-q", "-a", "-m", "Another history")
    git(ci.ops.checkout, "push", "-q", "--force", "origin", "HEAD:main")
    after = git(ci.ops.checkout, "rev-parse", "HEAD")
    return ci.plan(ci.ops.event(kind="push", ref="refs/heads/main", before=before, after=after))


def test_a_default_branch_that_was_rewritten_is_compared_with_what_it_was(ci: Ci) -> None:
    begun(ci)
    ci.push({KERNEL: "int kernel = 9;\n"})
    before = git(ci.ops.checkout, "rev-parse", "HEAD")
    assert SHIFT in operators(rewritten(ci, before))


def test_a_push_whose_base_the_forge_has_no_more_is_said_to_be_passed_over(ci: Ci) -> None:
    git(ci.ops.checkout, "commit", "-q", "--allow-empty", "-m", "One more")
    assert rewritten(ci, "1" * 40) == []
    assert "### Skipped (1)" in dashboard(ci) and "was not compared" in dashboard(ci)
    ci.push({"README.md": "more\n"})
    ci.follow_up()
    assert "### Skipped" not in dashboard(ci)


def test_an_operator_that_nothing_can_judge_is_named_until_something_can(ci: Ci) -> None:
    begun(ci)
    missing = "operators: {shift: {workload: tests/shift.yaml}}\n"
    assert ci.push({".ascendopt.yml": missing, SHIFTS: "int kernel = 9;\n"}) == []
    assert "### Skipped (1)" in dashboard(ci) and "has no workload on" in dashboard(ci)
    jobs = ci.push({"tests/shift.yaml": "operator: Shift\n"})
    assert operators(jobs) == [SHIFT]
    assert "### Skipped" not in dashboard(ci)
