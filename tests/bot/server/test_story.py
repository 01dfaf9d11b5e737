"""The whole story with real processes: webhook, queue, sandboxed run, branch, merge request.

The forges are servers on loopback that speak the forges' REST interfaces over a bare repository;
everything of ours is real: `ascendopt serve` and `ascendopt ci` run as processes, candidates run in
the sandbox on the simulator, git pushes over HTTP.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from bot.forge.local import LocalForge
from bot.report import RESULT
from bot.repository.job import Job
from bot.server.comments.wording import ended_mark
from bot.server.queue import Queue
from ci.model.result import Result
from tests.bot.events.payloads import gitlab_note, hub_comment, hub_headers, raw
from tests.bot.forge.server.base import ForgeServer
from tests.bot.forge.server.gitcode import GitCodeServer
from tests.bot.forge.server.github import GitHubServer
from tests.bot.forge.server.gitlab import GitLabServer
from tests.bot.make import git, published
from tests.ci.system.levels import needs_hidden_files
from tests.places import SAMPLE

KERNEL = "src/math/affine_clamp/op_kernel/affine_clamp.cpp"
TOKEN, SECRET = "t0ken-of-the-bot", "s3cret-of-the-hook"
# A cold cache builds the simulator first; a loaded machine takes its time.
PATIENCE_S = 280


class Ops:
    """The sample repository on a forge, with alice's merge request that touches one kernel."""

    def __init__(self, folder: Path, server: type[ForgeServer]) -> None:
        self.folder = folder
        bare, self.checkout = folder / "ops.git", folder / "ops"
        shutil.copytree(SAMPLE, self.checkout)
        (self.checkout / ".ascendopt.yml").write_text("budget: 4\nstage: tiling\n")
        published(self.checkout, bare)
        git(self.checkout, "checkout", "-q", "-b", "feature")
        kernel = self.checkout / KERNEL
        kernel.write_text(kernel.read_text() + "// touched by alice\n")
        git(self.checkout, "commit", "-q", "-a", "-m", "Touch the kernel")
        git(self.checkout, "push", "-q", "origin", "feature")
        self.server = server(bare, {TOKEN: "robot"})
        self.bot = self.server.forge("robot")
        self.bot.set_permission("robot", "write")
        self.bot.set_permission("alice", "write")
        self.alice: LocalForge = self.server.forge("alice")
        self.number = self.alice.open("Touch the kernel", "", "feature", "main").number

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "ASCENDOPT_TOKEN": TOKEN, "ASCENDOPT_WEBHOOK_SECRET": SECRET}

    def status_comment(self) -> str:
        found = [c.body for c in self.bot.comments(self.number) if "ascendopt-run" in c.body]
        assert len(found) <= 1, "one status comment a run"
        return found[0] if found else ""

    def check_story(self) -> None:
        """Everything that a person would look at after `/optimize`."""
        body = self.status_comment()
        assert ended_mark() in body and "faster" in body and "simulated" in body
        (ours,) = self.bot.merge_requests("open", "optimize/")
        assert ours.author == "robot" and ours.target_branch == "feature"
        assert re.search(r"\d\.\d\d[x×] faster \(simulated\)", ours.title)
        assert "| case | before" in ours.body and "```mermaid" in ours.body
        git(self.checkout, "fetch", "-q", "origin", ours.source_branch)
        message = git(self.checkout, "log", "-1", "--format=%B", "FETCH_HEAD")
        assert "Ascendopt-Operator: src/math/affine_clamp" in message
        changed = git(self.checkout, "diff", "--name-only", "feature", "FETCH_HEAD").split()
        assert changed and all(p.startswith("src/math/affine_clamp/op_host") for p in changed)
        if isinstance(self.server, GitCodeServer):
            return  # it has no commit statuses: docs/forges.md
        head = self.bot.merge_request(self.number).head
        (status,) = until(lambda: [s for s in self.bot.statuses(head) if s.state != "pending"])
        assert (status.context, status.state) == ("ascendopt/affine_clamp", "success")


def until(what: Callable[[], Any], seconds: float = PATIENCE_S) -> Any:
    deadline = time.monotonic() + seconds
    while True:
        found = what()
        if found:
            return found
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.1)


# `serve`


class Serving:
    """`ascendopt serve` as a process."""

    def __init__(self, ops: Ops, more: str = "", **environment: str) -> None:
        """`more`: further keys of the settings, and their `environment`."""
        self.ops = ops
        self.environment = {**ops.environment, **environment}
        self.settings = ops.folder / "bot.yml"
        self.settings.write_text(
            "data: data\nprogress_seconds: 5\nport: 0\nrepositories:\n"
            f"  - {{forge: github, repository: team/ops, url: '{ops.server.url}',"
            f" api: '{ops.server.url}'}}\n{more}"
        )
        self.log = ops.folder / "serve.log"
        self.start()

    def start(self) -> None:
        self.log.unlink(missing_ok=True)
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "ascendopt", "serve", str(self.settings)],
                stderr=log,
                env=self.environment,
            )
        found = until(lambda: re.search(r"listening on http://127.0.0.1:(\d+)", self.words()))
        self.port = int(found.group(1))

    def words(self) -> str:
        assert self.process.poll() is None, self.log.read_text()
        return self.log.read_text()

    def deliver(self, comment: int, delivery: str, secret: str = SECRET) -> int:
        body = raw(hub_comment(self.ops.number, comment))
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        headers = hub_headers(body, secret, delivery)
        connection.request("POST", "/webhook/github", body, headers)
        return connection.getresponse().status

    def kill(self) -> None:
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(timeout=60) in (0, -signal.SIGTERM)


@pytest.fixture
def github(tmp_path: Path) -> Iterator[Ops]:
    made = Ops(tmp_path, GitHubServer)
    yield made
    made.server.stop()


@pytest.fixture
def serving(github: Ops) -> Iterator[Serving]:
    made = Serving(github)
    yield made
    if made.process.poll() is None:
        made.kill()


def test_a_repository_is_spoken_for_by_its_own_secret_alone(github: Ops) -> None:
    other = "  - {forge: github, repository: team/other, secret_env: OTHER, token_env: OTHER}\n"
    serving = Serving(github, other, OTHER="of another repository")
    try:
        comment = github.alice.comment(github.number, "Nice.").id
        assert serving.deliver(comment, "first", "of another repository") == 401
        assert serving.deliver(comment, "first") == 202
    finally:
        serving.kill()


def running_trials(data: Path) -> list[Path]:
    return list(data.glob("runs/*/trials.sqlite"))


@needs_hidden_files
@pytest.mark.nightly
def test_a_webhook_becomes_a_merge_request_although_the_server_is_killed_on_the_way(
    github: Ops, serving: Serving
) -> None:
    comment = github.alice.comment(github.number, "Please\n\n/optimize")
    data = github.folder / "data"
    assert serving.deliver(comment.id, "d1", secret="wrong") == 401
    assert serving.deliver(comment.id, "d1") == 202
    until(lambda: "waits for a runner" in github.status_comment() or running_trials(data))
    until(lambda: running_trials(data))
    serving.kill()
    # What the killed server held is free for the next one when its lease ends.
    with sqlite3.connect(data / "queue.sqlite") as queue:
        queue.execute("UPDATE jobs SET lease_until = 1 WHERE lease_until > 0")
    serving.start()
    assert serving.deliver(comment.id, "d1") == 202
    until(lambda: ended_mark() in github.status_comment())
    github.check_story()
    until(lambda: Queue(data / "queue.sqlite").counts()["jobs"] == {"done": 1})
    log = next(data.glob("runs/*/run.log")).read_text()
    assert TOKEN not in log and TOKEN not in serving.words()
    serving.stop()


@needs_hidden_files
def test_the_process_that_runs_candidates_is_given_no_token(github: Ops, serving: Serving) -> None:
    comment = github.alice.comment(github.number, "/optimize budget=3")
    serving.deliver(comment.id, "d1")
    environment = until(_environment_of_the_run)
    assert "PATH=" in environment
    for hidden in (TOKEN, SECRET, "ASCENDOPT_TOKEN", "WEBHOOK"):
        assert hidden not in environment
    with suppress(PermissionError):  # closed to all but root
        served = Path(f"/proc/{serving.process.pid}/environ").read_text()
        assert "PATH=" in served and TOKEN not in served and SECRET not in served
    github.alice.comment(github.number, "/optimize cancel")
    cancel = github.bot.comments(github.number)[-1]
    serving.deliver(cancel.id, "d2")
    until(lambda: "cancelled" in github.status_comment())
    serving.stop()
    assert not github.bot.merge_requests("open", "optimize/")


def _environment_of_the_run() -> str:
    """The environment of the process `ascendopt ci run`, as the kernel shows it."""
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            if b"ascendopt" in words and b"run" in words and str(os.getpid()).encode() not in words:
                return (folder / "environ").read_bytes().replace(b"\0", b"\n").decode()
        except OSError:
            continue
    return ""


# `ci`


def payload(ops: Ops, forge: str, comment: int) -> tuple[dict[str, str], dict[str, Any]]:
    """What the forge's CI gives a job that a comment started: environment and payload."""
    if forge == "github":
        return (
            {
                "GITHUB_ACTIONS": "true",
                "GITHUB_EVENT_NAME": "issue_comment",
                "GITHUB_REPOSITORY": "team/ops",
                "GITHUB_RUN_ID": "77",
            },
            hub_comment(ops.number, comment),
        )
    note = gitlab_note(id=comment)
    note["merge_request"]["iid"] = ops.number
    if forge == "gitlab":
        return (
            {"GITLAB_CI": "true", "CI_PROJECT_PATH": "team/ops", "CI_PIPELINE_SOURCE": "trigger"},
            note,
        )
    return (
        {
            "ATOMGIT_EVENT_NAME": "pull_request_comment",
            "ATOMGIT_REPOSITORY": "team/ops",
            "ATOMGIT_RUN_ID": "7",
        },
        note,
    )


VARIABLE = {
    "github": "GITHUB_EVENT_PATH",
    "gitlab": "TRIGGER_PAYLOAD",
    "gitcode": "ATOMGIT_EVENT_PATH",
}
SERVERS: dict[str, type[ForgeServer]] = {
    "github": GitHubServer,
    "gitlab": GitLabServer,
    "gitcode": GitCodeServer,
}


def command(*words: str, env: dict[str, str], cwd: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "ascendopt", "ci", *words],
        env=env,
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


LEFT: list[Path] = []
"""What the run of the first forge left."""


def run_planned(folder: Path, env: dict[str, str]) -> None:
    """Run the plan's job; after the first time take what that left, as that of this job: no run
    asks which forge it is for."""
    (file,) = (folder / "plan" / "jobs").glob("*/job.json")
    job = Job.model_validate_json(file.read_text())
    place = folder / "results" / job.key
    if not LEFT:
        command("run", "plan", "--out", "results", env=env, cwd=folder)
        LEFT.append(place)
        return
    shutil.copytree(LEFT[0], place)
    result = Result.model_validate_json((place / RESULT).read_text())
    own = {"run": job.run, "base_commit": job.source_commit}
    (place / RESULT).write_text(result.model_copy(update=own).model_dump_json())


@needs_hidden_files
@pytest.mark.parametrize(
    "forge",
    [
        pytest.param("github", marks=pytest.mark.long),
        *(pytest.param(name, marks=pytest.mark.nightly) for name in ("gitlab", "gitcode")),
    ],
)
def test_three_ci_steps_do_the_same_and_the_middle_one_needs_no_token(
    forge: str, tmp_path: Path
) -> None:
    ops = Ops(tmp_path, SERVERS[forge])
    comment = ops.alice.comment(ops.number, "/optimize")
    variables, body = payload(ops, forge, comment.id)
    bare, trusted = environments(ops, forge, variables, body, tmp_path)
    assert "src/math/affine_clamp" in command("plan", "--out", "plan", env=trusted, cwd=tmp_path)
    assert "waits for a runner" in ops.status_comment()
    calls = len(ops.server.log)
    run_planned(tmp_path, bare)
    assert len(ops.server.log) == calls, "the run asks the forge nothing"
    left = {p.name for p in (tmp_path / "results").glob("*/*")}
    assert "result.json" in left and not left & {"checkout", "judge", "repository.git"}
    said = command("report", "plan", "--results", "results", env=trusted, cwd=tmp_path)
    assert "was opened" in said
    ops.check_story()
    again = command("plan", "--out", "again", env=trusted, cwd=tmp_path)
    assert "Nothing to do." in again, "finished work is answered from the record"
    ops.server.stop()


def environments(
    ops: Ops, forge: str, variables: dict[str, str], body: Any, folder: Path
) -> tuple[dict[str, str], dict[str, str]]:
    """What the step that runs candidates is given, and what those that hold the token are."""
    file = folder / "event.json"
    file.write_text(json.dumps(body))
    bare = {k: v for k, v in os.environ.items() if not k.startswith(("GITHUB", "CI_", "GITLAB"))}
    trusted = {
        **bare,
        **variables,
        VARIABLE[forge]: str(file),
        "ASCENDOPT_TOKEN": TOKEN,
        "ASCENDOPT_FORGE_URL": ops.server.url,
        "ASCENDOPT_FORGE_API": _api(ops, forge),
    }
    return bare, trusted


def _api(ops: Ops, forge: str) -> str:
    return ops.server.url if forge == "github" else ""
