"""An issue asks for an operator: `ascendopt ci` as processes, on a server in each forge's words.

The golden function runs once, in the sandbox on the simulator; what it left is reported on the
other forges too.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bot.repository.job import Job
from bot.server.comments.wording import ended_mark
from bot.server.created_operator import Made, read_made
from bot.server.run_job import left_file
from tests.bot.events.payloads import gitlab_note
from tests.bot.make import git
from tests.bot.server.test_story import SERVERS, Ops, command, environments
from tests.ci.system.levels import needs_hidden_files

GOLDEN = """\
from pathlib import Path

try:
    Path({trap!r}).write_text("imported outside of the sandbox")
except OSError:
    pass


def halved(x):
    return x * 0.5
"""
LEFT: dict[str, Made] = {}


def asking(trap: Path) -> str:
    golden = GOLDEN.format(trap=str(trap))
    return f"/create\n\n```python\n{golden}```\n\n```yaml\nshapes: {{x: [4, 96]}}\n```\n"


def event(forge: str, number: int, comment: int, text: str) -> tuple[dict[str, str], Any]:
    """What the forge's CI gives a job that an issue, or a comment in one, started."""
    said = {"id": comment, "body": text, "user": {"login": "alice"}}
    hub = {
        "repository": {"full_name": "team/ops"},
        "issue": {"number": number, "body": text},
        "sender": {"login": "alice", "type": "User"},
    }
    if forge == "github":
        names = {"ACTIONS": "true", "EVENT_NAME": "issues", "REPOSITORY": "team/ops"}
        return {f"GITHUB_{k}": v for k, v in names.items()}, hub | {"action": "opened"}
    if forge == "gitlab":
        note = gitlab_note(text, id=comment, noteable_type="Issue")
        del note["merge_request"]
        return (
            {"GITLAB_CI": "true", "CI_PROJECT_PATH": "team/ops", "CI_PIPELINE_SOURCE": "trigger"},
            note | {"issue": {"iid": number}},
        )
    names = {"EVENT_NAME": "issue_comment", "REPOSITORY": "team/ops", "RUN_ID": "7"}
    return {f"ATOMGIT_{k}": v for k, v in names.items()}, hub | {"comment": said}


@needs_hidden_files
@pytest.mark.parametrize(
    "forge",
    [
        pytest.param("github", marks=pytest.mark.long),
        *(pytest.param(name, marks=pytest.mark.nightly) for name in ("gitlab", "gitcode")),
    ],
)
def test_an_issue_becomes_a_merge_request_with_a_new_operator(forge: str, tmp_path: Path) -> None:
    ops, trap = Ops(tmp_path, SERVERS[forge]), tmp_path / "trap"
    text = asking(trap)
    number, comment = ops.server.issues.open("alice", "" if forge != "github" else text), 0
    if forge != "github":
        comment = ops.server.issues.say(number, "alice", text).id
    variables, body = event(forge, number, comment, text)
    bare, trusted = environments(ops, forge, variables, body, tmp_path)
    assert "src/activation/halved" in command("plan", "--out", "plan", env=trusted, cwd=tmp_path)
    (told,) = [c for c in ops.server.issues.comments(number) if c.author == "robot"]
    assert "waits for a runner" in told.body
    calls = len(ops.server.log)
    leave(tmp_path, bare)
    assert len(ops.server.log) == calls, "the run asks the forge nothing"
    said = command("report", "plan", "--results", "results", env=trusted, cwd=tmp_path)
    assert "was opened" in said and not trap.exists()
    (told,) = [c for c in ops.server.issues.comments(number) if c.author == "robot"]
    assert ended_mark() in told.body and "Halved was created and is correct" in told.body
    (ours,) = ops.bot.merge_requests("open", "create/")
    assert (ours.author, ours.target_branch) == ("robot", "main")
    assert "return x * 0.5" in ours.body and "Simulated time" in ours.body
    git(ops.checkout, "fetch", "-q", "origin", ours.source_branch)
    changed = git(ops.checkout, "diff", "--name-only", "main", "FETCH_HEAD").split()
    assert changed and all(p.startswith("src/activation/halved/") for p in changed)
    again = command("plan", "--out", "again", env=trusted, cwd=tmp_path)
    assert "Nothing to do." in again, "finished work is answered from the record"
    ops.server.stop()


def leave(folder: Path, env: dict[str, str]) -> None:
    """Run the plan's job; the second time take what the first one left, as that of this job."""
    (file,) = (folder / "plan" / "jobs").glob("*/job.json")
    job = Job.model_validate_json(file.read_text())
    if not LEFT:
        assert "made" in command("run", "plan", "--out", "results", env=env, cwd=folder)
        LEFT["made"] = read_made(folder / "results" / job.key)
        return
    left = LEFT["made"]
    files = {**left.files, "golden.py": job.golden}
    made = left.model_copy(update={"run": job.run, "commit": job.source_commit, "files": files})
    place = left_file(job, folder / "results" / job.key)
    place.parent.mkdir(parents=True)
    place.write_text(made.model_dump_json())
