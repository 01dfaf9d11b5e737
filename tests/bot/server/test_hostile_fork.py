"""A fork with all hostile names and files at once, from its push to the bot's last comment.

No search is run: what one would hand in is made up here, of the same hostile words.
"""

from __future__ import annotations

import hashlib
import re
import time
from pathlib import Path

import pytest

from bot.repository.connection import Connection
from bot.repository.job import Job
from bot.repository.judge import lay_out
from bot.repository.mirror import check_out
from bot.server.comments.posting import tell_run
from bot.server.comments.wording import failed
from bot.server.delivery import deliver
from bot.server.plan_model import Plan
from bot.server.verify_again import look_again
from ci.model.result import Result
from ci.source.source_diff import git_diff
from tests.bot.base.test_text import IN_A_COMMIT
from tests.bot.hostile_fork import NAME, hostile_fork
from tests.bot.make import git, result
from tests.bot.operator_repository import Repository
from tests.bot.server.test_planner import carry
from tests.bot.server.test_walls import OPERATOR, sample

SECRET = "s3cret"
KERNEL = "op_kernel/affine_clamp.cpp"


def carried(ops: Repository, made: Plan) -> Plan:
    """A plan after the bot has done what it says."""
    carry(ops, made)
    return made


def praised(job: Job, connection: Connection) -> Result:
    """What a run of the job could hand in, with the hostile name wherever words are free."""
    commit = connection.mirror.commit(job.source_commit)
    own = [p for p in commit.built_from(OPERATOR) if p.startswith(f"{OPERATOR}/op_")]
    texts = {path.removeprefix(f"{OPERATOR}/"): commit.read(path) or b"" for path in own}
    kernel = texts[KERNEL].decode()
    path = f"{OPERATOR}/{KERNEL}"
    told = result(base_commit=job.source_commit).model_dump_json()
    told = told.replace("fp16_2048", NAME).replace("MTE2 waits for", NAME)
    return Result.model_validate_json(told).model_copy(
        update={
            "run": job.run,
            "operator": "affine_clamp",
            "op_type": "AffineClamp",
            "operator_path": OPERATOR,
            "base_hashes": {name: hashlib.sha256(text).hexdigest() for name, text in texts.items()},
            "diff": git_diff({path: kernel}, {path: kernel + f"// {NAME}\n"}),
            "settings": {"workload": job.workload},
            "verdict_reason": NAME,
            "bottleneck_before": NAME,
        }
    )


def test_no_word_and_no_file_of_a_hostile_fork_has_effect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    ops = sample(tmp_path, "../padding.py")
    secret, ran = tmp_path / "secret.py", tmp_path / "ran"
    secret.write_text(f"# {SECRET}\ndef f(*x):\n    return x\n")
    stranger = ops.as_user("mallory", "none")
    fork = hostile_fork(tmp_path, ops.checkout, OPERATOR, KERNEL, stranger, secret, ran)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("GIT_CONFIG_GLOBAL", raising=False)
    (tmp_path / ".gitconfig").write_text(
        f'[filter "lfs"]\nsmudge = touch {ran}; cat\nclean = touch {ran}; cat\nrequired = true\n'
        f'[diff "lfs"]\ntextconv = touch {ran}; cat\n[diff]\nnoprefix = true\n'
    )
    main = ops.bot.branch_head("main")

    allowing = f"/ok-to-optimize {fork.head}"
    assert not carried(ops, ops.comment(fork.number, "/optimize", "mallory", "none")).jobs
    carried(ops, ops.comment(fork.number, allowing, "mallory", "none"))
    assert not carried(ops, ops.comment(fork.number, "/optimize")).jobs
    carried(ops, ops.comment(fork.number, allowing))
    carried(ops, ops.comment(fork.number, "/optimize"))
    connection = ops.connection()
    jobs = [record.job for record in ops.queue.jobs()]
    assert OPERATOR in [job.operator for job in jobs]
    for job in jobs:
        assert job.budget <= 3, "the fork's configuration counts for nothing"
        for commit, ref in ((job.source_commit, job.source_ref), (job.judge_commit, job.judge_ref)):
            connection.mirror.ensure(connection.forge, ref, commit)
        tree, judge = tmp_path / f"tree-{job.run}", tmp_path / f"judge-{job.run}"
        check_out(connection.mirror.folder, job, tree)
        for link in (path for path in tree.rglob("*") if path.is_symlink()):
            assert link.resolve().is_relative_to(tree)
        if job.workload:
            lay_out(connection.mirror.folder, job, judge)
            assert not [p for p in judge.rglob("*.py") if "of the fork" in p.read_text()]
        if job.operator == OPERATOR:
            deliver(job, praised(job, connection), connection, 0)
        else:
            tell_run(job, ops.bot, failed(job, "failed", NAME), failed=True)
    look_again(connection, ops.queue, time.time())

    assert not ran.exists(), "a program that an attribute names ran"
    assert ops.bot.branch_head("main") == main
    stands = ops.bot.merge_request(fork.number)
    assert (stands.title, stands.body, stands.state) == (NAME, fork.body, "open")
    said = [c.body for c in ops.bot.comments(fork.number) if c.author == ops.bot.viewer()]
    ours = [m for m in ops.bot.merge_requests() if m.author == ops.bot.viewer()]
    assert any("2.00" in text for text in said)
    for one in ours:
        git(ops.checkout, "fetch", "-q", "origin", one.source_branch)
        message = git(ops.checkout, "log", "-1", "--format=%B", "FETCH_HEAD")
        said += [one.title, one.body, message.replace("ascendopt@localhost", "")]
    for text in said:
        prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
        assert not IN_A_COMMIT.search(prose), prose
        assert "<b>" not in re.sub(r"`[^`]*`", "", prose)
        assert SECRET not in text and "\u202e" not in text and "\x1b" not in text
    assert not list(tmp_path.rglob("leaked"))
    logged = [line for line in caplog.text.splitlines() if re.match(r"\s*(::|##)", line)]
    assert not logged, "an order to a CI's runner"
