from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bot.events import Event, EventError, from_ci
from bot.events.ci import ci_page
from tests.bot.events.payloads import SHA, gitlab_note, raw
from tests.bot.events.test_parse import recorded


def written(folder: Path, data: Any) -> str:
    path = folder / "event.json"
    path.write_bytes(raw(data))
    return str(path)


def in_job(folder: Path, name: str, data: Any, prefix: str = "GITHUB", **more: str) -> Event:
    """What a job in GitHub's form reads, whose variables begin with `prefix`."""
    variables = {
        "ACTIONS": "true",
        "EVENT_NAME": name,
        "EVENT_PATH": written(folder, data),
        "REPOSITORY": "team/ops",
        **more,
    }
    return from_ci({f"{prefix}_{key}": value for key, value in variables.items()})


@pytest.mark.more_programs
def test_a_comment_in_github_actions(tmp_path: Path) -> None:
    data = recorded("issue_comment", "created")
    data["issue"]["pull_request"] = {}
    run = {"REPOSITORY": data["repository"]["full_name"], "RUN_ID": "12", "RUN_ATTEMPT": "2"}
    event = in_job(tmp_path, "issue_comment", data, **run)
    assert (event.forge, event.kind, event.text) == ("github", "comment", data["comment"]["body"])
    assert event.delivery == "12-2"


@pytest.mark.parametrize("name", ["workflow_dispatch", "schedule"])
def test_jobs_of_github_that_nobody_commented(tmp_path: Path, name: str) -> None:
    inputs = {"inputs": {"command": "op=add", "number": "7"}}
    event = in_job(tmp_path, name, inputs, ACTOR="alice")
    assert (event.repository, event.sender) == ("team/ops", "alice")
    if name == "schedule":
        assert event.kind == "schedule"
    else:
        assert (event.kind, event.text, event.number) == ("dispatch", "op=add", 7)


def test_a_comment_in_gitlab_ci_comes_as_the_triggers_payload(tmp_path: Path) -> None:
    event = from_ci(
        {
            "GITLAB_CI": "true",
            "CI_PROJECT_PATH": "team/ops",
            "CI_PIPELINE_SOURCE": "trigger",
            "CI_PIPELINE_ID": "55",
            "TRIGGER_PAYLOAD": written(tmp_path, gitlab_note("/optimize status")),
        }
    )
    assert (event.kind, event.text, event.delivery) == ("comment", "/optimize status", "55")


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        (
            {
                "CI_PIPELINE_SOURCE": "merge_request_event",
                "CI_MERGE_REQUEST_IID": "7",
                "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA": SHA,
                "CI_MERGE_REQUEST_DRAFT": "true",
            },
            {"kind": "merge_request", "number": 7, "head": SHA, "draft": True},
        ),
        (
            {
                "CI_PIPELINE_SOURCE": "push",
                "CI_COMMIT_BRANCH": "main",
                "CI_COMMIT_SHA": SHA,
                "CI_COMMIT_BEFORE_SHA": "0" * 40,
            },
            {"kind": "push", "ref": "refs/heads/main", "after": SHA, "before": ""},
        ),
        ({"CI_PIPELINE_SOURCE": "schedule"}, {"kind": "schedule"}),
        (
            {
                "CI_PIPELINE_SOURCE": "web",
                "ASCENDOPT_COMMAND": "op=add",
                "ASCENDOPT_NUMBER": "3",
            },
            {"kind": "dispatch", "text": "op=add", "number": 3},
        ),
        ({"CI_PIPELINE_SOURCE": "parent_pipeline"}, {"kind": "other"}),
    ],
)
def test_pipelines_of_gitlab(variables: dict[str, str], expected: dict[str, Any]) -> None:
    base = {"GITLAB_CI": "true", "CI_PROJECT_PATH": "team/ops", "GITLAB_USER_LOGIN": "alice"}
    event = from_ci(base | variables)
    assert {name: getattr(event, name) for name in expected} == expected
    assert (event.repository, event.sender) == ("team/ops", "alice")


@pytest.mark.parametrize("name", ["pull_request_comment", "issue_comment"])
def test_a_comment_in_gitcode_actions(tmp_path: Path, name: str) -> None:
    data: dict[str, Any] = {
        "action": "created",
        "comment": {"id": 5, "body": "/optimize", "user": {"login": "alice"}},
        "issue": {"number": 7, "pull_request": {}},
    }
    event = in_job(tmp_path, name, data, "ATOMGIT")
    assert (event.forge, event.kind, event.action) == ("gitcode", "comment", "created")
    assert (event.number, event.comment_id, event.sender) == (7, 5, "alice")
    assert event.repository == "team/ops"


def test_a_pull_request_in_gitcode_actions(tmp_path: Path) -> None:
    data = {"action": "update", "pull_request": {"number": 7, "head": {"sha": SHA}}}
    event = in_job(tmp_path, "pull_request_target", data, "ATOMGIT")
    assert (event.action, event.number, event.head) == ("updated", 7, SHA)


def test_a_payload_about_another_repository_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EventError, match="another repository"):
        from_ci(
            {
                "GITLAB_CI": "true",
                "CI_PROJECT_PATH": "team/other",
                "TRIGGER_PAYLOAD": written(tmp_path, gitlab_note()),
            }
        )


@pytest.mark.parametrize("path", ["", "none.json", "\0", "."])
def test_a_payload_that_is_not_there_is_a_sentence(path: str) -> None:
    with pytest.raises(EventError, match="GITHUB_EVENT_PATH"):
        from_ci({"GITHUB_ACTIONS": "true", "GITHUB_EVENT_PATH": path})


def test_outside_of_ci_it_says_so() -> None:
    with pytest.raises(EventError, match="no CI job that I know: none of GITHUB_ACTIONS"):
        from_ci({})


@pytest.mark.parametrize(
    ("environ", "page"),
    [
        (
            {
                "GITHUB_SERVER_URL": "https://github.com",
                "GITHUB_REPOSITORY": "o/r",
                "GITHUB_RUN_ID": "7",
            },
            "https://github.com/o/r/actions/runs/7",
        ),
        ({"CI_PIPELINE_URL": "https://h/g/p/-/pipelines/9"}, "https://h/g/p/-/pipelines/9"),
        ({"CI_PIPELINE_URL": "https://h/g/p) [click](https://evil"}, ""),
        ({"ATOMGIT_REPOSITORY": "o/r", "ATOMGIT_RUN_ID": "7"}, ""),
        ({}, ""),
    ],
)
def test_the_page_of_a_run_is_known_where_the_forge_says_enough(
    environ: dict[str, str], page: str
) -> None:
    assert ci_page(environ) == page
