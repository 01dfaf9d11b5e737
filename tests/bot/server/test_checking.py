"""A merge request is checked where its repository asks for it: jobs, comment and check, on each
forge; findings are made up here, and found in test_run_check."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.base.language import language
from bot.forge.base import Forge
from bot.forge.gitcode import GitCodeForge
from bot.forge.local import LocalForge
from bot.repository.job import Job
from bot.server.checking import CHECKED, read_checked, section, summary, tell_checked
from bot.server.ci_mode import report
from ci.model.checked_change import CheckedChange
from ci.model.errors import InputError
from ci.model.finding import Finding, Severity
from ci.model.trial import Place
from rules.findings import finding_rule
from tests.bot.make import SIMULATED, git, job, repository
from tests.bot.operator_repository import KERNEL, operator_repository
from tests.bot.server.ci_runs import Ci
from tests.bot.server.test_own_requests import FORGES

SCALE = "src/math/scale"


def finding(line: int, case: str = "own") -> Finding:
    """An overrun at a line of the kernel."""
    return Finding(
        kind="overrun",
        severity=Severity.ERROR,
        title="buffer overrun",
        place=Place(case=case, file="op_kernel/scale.cpp", line=line),
        text="vmuls writes 64 bytes beyond its buffer.",
    )


def found(job: Job, **findings: tuple[Finding, ...]) -> CheckedChange:
    """What a run of the job leaves."""
    return CheckedChange(
        run=job.run,
        operator=job.operator,
        base_commit=job.base_commit,
        head_commit=job.source_commit,
        fingerprint=SIMULATED,
        cases=9,
    ).model_copy(update=dict(findings))


def opened(ci: Ci) -> tuple[int, list[Job]]:
    request = ci.ops.request({KERNEL: "int kernel = 7;\n"})
    event = ci.ops.event(
        kind="merge_request", action="opened", number=request.number, head=request.head
    )
    return request.number, [one for one in ci.plan(event) if one.kind == "check"]


def test_merge_requests_are_checked_only_where_the_repository_asks_for_it(
    ci: Ci, tmp_path: Path
) -> None:
    assert opened(ci)[1] == []
    asked = Ci(operator_repository(tmp_path / "asked", "triggers: {check: true}\n"))
    base = asked.ops.bot.branch_head("main")
    (made,) = opened(asked)[1]
    assert (made.operator, made.base_commit) == (SCALE, base)


def test_what_a_run_found_is_told_and_fails_the_check(tmp_path: Path) -> None:
    ci = Ci(operator_repository(tmp_path, "triggers: {check: true, measure: false}\n"))
    number, (made,) = opened(ci)
    folder = tmp_path / "results"
    (folder / made.key).mkdir(parents=True)
    left = found(made, new=(finding(7),))
    (folder / made.key / CHECKED).write_text(left.model_dump_json())
    report(ci.connection(), [made], folder)
    assert f"{SCALE}/op_kernel/scale.cpp:7" in ci.answers(number)
    (status,) = (s for s in ci.ops.bot.statuses(made.source_commit) if "check" in s.context)
    assert (status.state, status.description) == ("failure", "findings: 1 new")


def test_a_fault_in_a_source_that_operators_share_is_named_from_the_top() -> None:
    made = job(kind="check", operator=SCALE)
    shared = finding(7).model_copy(update={"place": Place(file="../../common/inc/a.h", line=7)})
    assert "`src/common/inc/a.h:7`" in section(made, found(made, new=(shared,)))


def test_a_fault_of_one_of_several_in_a_folder_is_named_from_the_top() -> None:
    made = job(kind="check", operator=f"{SCALE}/scale_grad")
    left = found(made, new=(finding(7),)).model_copy(update={"folder": ".."})
    assert f"`{SCALE}/op_kernel/scale.cpp:7`" in section(made, left)


def test_findings_of_another_commit_are_not_taken(tmp_path: Path) -> None:
    ci = Ci(operator_repository(tmp_path, "triggers: {check: true, measure: false}\n"))
    number, (made,) = opened(ci)
    folder = tmp_path / "results"
    (folder / made.key).mkdir(parents=True)
    other = found(made, new=(finding(7),)).model_copy(update={"head_commit": "1" * 40})
    (folder / made.key / CHECKED).write_text(other.model_dump_json())
    (said,) = report(ci.connection(), [made], folder)
    assert "not of this job: its commit" in said and "scale.cpp:7" not in ci.answers(number)


@pytest.fixture(params=["local", *FORGES])
def forge(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Forge]:
    """The bot on each forge, with merge request 1 open."""
    checkout = repository(tmp_path)
    git(checkout, "checkout", "-q", "-b", "work")
    (checkout / "README.md").write_text("changed\n")
    git(checkout, "commit", "-q", "-am", "Change")
    git(checkout, "push", "-q", "origin", "work")
    if request.param == "local":
        yield LocalForge.of_remote(checkout, "origin")
        return
    module = FORGES[request.param]
    server = module.SERVER(tmp_path / "origin.git", module.TOKENS)
    yield module.connected(server, next(iter(module.TOKENS)))
    server.stop()


def test_a_fault_is_one_comment_with_its_line_and_when_it_is_mended_that_says_so(
    forge: Forge,
) -> None:
    request = forge.open("Change", "", "work", "main")
    made = job(kind="check", operator=SCALE, number=request.number, source_commit=request.head)
    tell_checked(made, found(made, new=(finding(7),), old=(finding(3),)), forge)
    (first,) = forge.comments(request.number)
    assert first.body.index("scale.cpp:7") < first.body.index("scale.cpp:3")
    tell_checked(made, found(made, gone=(finding(7),)), forge)
    (second,) = forge.comments(request.number)
    assert second.id == first.id
    assert "No longer found" in second.body and "findings: 1 gone" in second.body
    states = [(status.context, status.state) for status in forge.statuses(request.head)]
    none = isinstance(forge, GitCodeForge)  # it shows no statuses
    assert states == ([] if none else [("ascendopt/check/scale", "success")])


def test_words_of_a_run_are_no_markup(forge: Forge) -> None:
    request = forge.open("Change", "", "work", "main")
    made = job(kind="check", operator=SCALE, number=request.number, source_commit=request.head)
    hostile = finding(7).model_copy(update={"text": "<img src=x> @alice [a](http://b) | `c`"})
    tell_checked(made, found(made, new=(hostile,)), forge)
    (comment,) = forge.comments(request.number)
    assert "<img" not in comment.body and " @alice" not in comment.body


def test_a_new_finding_has_a_command_that_shows_it_alone_unless_it_is_long() -> None:
    one = job(kind="check", operator=SCALE)
    short, long = (
        finding(line).model_copy(update={"alone": f"{{name: tail, inputs: {{x: {said}}}}}"})
        for line, said in ((3, "{shape: [7]}"), (4, [*range(500)]))
    )
    text = section(one, found(one, new=(short, long), old=(short,)))
    command = f"`ascendopt check {SCALE} --case '{{name: tail, inputs: {{x: {{shape: [7]}}}}}}'`"
    assert text.count("--case") == text.count(command) == 1


def test_the_comment_is_in_the_repositorys_language() -> None:
    asked = job(kind="check", operator=SCALE)
    seen = {"varied": "length", "more": 2, "advice": finding_rule("overrun").advice}
    made = found(asked, new=(finding(7).model_copy(update=seen),), old=(finding(8), finding(9)))
    with language("zh"):
        assert summary(made) == "检查结果：新引入 1 项, 与之前相同 2 项"
        (line, _, _) = [one for one in section(asked, made).splitlines() if one.startswith("- ")]
    assert "**错误：缓冲区越界**：" in line and "请增大缓冲区" in line
    assert line.endswith("(用例 own（与工作负载的长度不同），以及另外 2 个)")


def test_a_pipe_in_place_of_what_a_run_leaves_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / CHECKED)
    with pytest.raises(InputError, match="the run left nothing"):
        read_checked(job(), tmp_path)
