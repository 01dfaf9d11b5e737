"""Python of a merge request, through the bot's own job: planned, run in a process, delivered.

Each way in read the bot's token once. What a merge request brings says so when it is imported, and
the job fails then.
"""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest

from bot.forge.local import LocalForge
from bot.repository.connection import Connection
from bot.server.merge_request import read_result
from bot.server.queue import Queue
from bot.server.worker import Worker, WorkSettings
from tests.bot.make import git
from tests.bot.operator_repository import Repository
from tests.ci.system.levels import needs_hidden_files
from tests.places import SAMPLE

pytestmark = pytest.mark.every_level

OPERATOR = "src/math/affine_clamp"
KERNEL = f"{OPERATOR}/op_kernel/affine_clamp.cpp"
SMALL = """cases:
  - name: small
    inputs:
      x: {shape: [8], dtype: float32}
    attrs: {alpha: 0.5, beta: -0.5, low: -1.0, high: 1.0}
"""
HOSTILE = "raise SystemError('code of the merge request ran')\n"


def sample(folder: Path, golden: str) -> Repository:
    """The sample operator, judged by `golden`, which imports two modules of Python."""
    bare, checkout = folder / "ops.git", folder / "ops"
    git(folder, "init", "-q", "--bare", "-b", "main", str(bare))
    shutil.copytree(SAMPLE / OPERATOR, checkout / OPERATOR)
    home = checkout / OPERATOR
    (checkout / ".ascendopt.yml").write_text("budget: 3\nstage: tiling\n")
    text = (home / "golden.py").read_text()
    (home / "golden.py").unlink()
    (home / golden).write_text("import sched\nimport zipapp\n" + text)
    workload = (home / "workload.yaml").read_text().replace("golden.py:", f"{golden}:")
    # So small that nothing is faster: what is proposed has tests of its own.
    (home / "workload.yaml").write_text(workload.partition("cases:")[0] + SMALL)
    for words in (
        ("init", "-q", "-b", "main"),
        ("config", "user.name", "Alice"),
        ("config", "user.email", "alice@example.org"),
        ("add", "-A"),
        ("commit", "-q", "-m", "Add an operator"),
        ("remote", "add", "origin", str(bare)),
        ("push", "-q", "origin", "main"),
    ):
        git(checkout, *words)
    queue = Queue(folder / "data" / "queue.sqlite")
    return Repository(folder, LocalForge(bare), checkout, queue)


def worked_off(ops: Repository, number: int) -> str:
    """The verdict of the job of `/optimize` on a merge request; else how the job ended and why."""
    ops.queue_up(ops.comment(number, "/optimize"))
    connection = ops.connection()

    def connect(forge: str, repository: str) -> Connection:
        return connection

    worker = Worker("w", ops.queue, WorkSettings(data=ops.folder / "data"), connect)
    record = ops.queue.claim("w", time.time())
    assert record is not None
    state = worker.work(record)
    ended = ops.queue.get(record.job.key)
    assert ended is not None
    if state != "done":
        return f"{state}: {ended.note}"
    return read_result(ops.queue.runs / record.job.key).verdict


@pytest.mark.few(1)
@needs_hidden_files
@pytest.mark.parametrize(
    ("golden", "files", "links"),
    [
        (
            "../padding.py",
            {"src/math/padding.py": HOSTILE, "src/math/sched/__init__.py": HOSTILE},
            {},
        ),
        (
            "golden.py",
            {
                "evil.py": HOSTILE,
                f"{OPERATOR}/golden.py": HOSTILE,
                f"{OPERATOR}/sched/__init__.py": HOSTILE,
                f"{OPERATOR}/workload.yaml": "golden: evil.py:f\n",
            },
            {f"{OPERATOR}/zipapp.py": "../../../evil.py"},
        ),
    ],
)
def test_python_of_a_merge_request_is_never_run(
    tmp_path: Path, golden: str, files: dict[str, str], links: dict[str, str]
) -> None:
    ops = sample(tmp_path, golden)
    git(ops.checkout, "checkout", "-q", "-b", "feature")
    for path, target in links.items():
        (ops.checkout / path).symlink_to(target)
    kernel = (ops.checkout / KERNEL).read_text() + "// touched\n"
    request = ops.request({KERNEL: kernel, **files})
    assert worked_off(ops, request.number) == "not_improved"


def test_a_golden_of_the_default_branch_that_changes_is_other_work(tmp_path: Path) -> None:
    ops = sample(tmp_path, "../padding.py")
    request = ops.request({KERNEL: (ops.checkout / KERNEL).read_text() + "// touched\n"})
    (first,) = ops.comment(request.number, "/optimize").jobs
    shared = ops.checkout / "src/math/padding.py"
    git(ops.checkout, "checkout", "-q", "main")
    ops.commit("main", {"src/math/padding.py": shared.read_text() + "# another\n"})
    (second,) = ops.comment(request.number, "/optimize").jobs
    assert first.key != second.key
