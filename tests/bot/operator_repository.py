"""A real bare repository with two small operators, a shared header and merge requests on it.

The operators only have to be found and read; what runs candidates is tested with real ones.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from bot.events.model import Event
from bot.forge.local import LocalForge
from bot.forge.model import MergeRequest
from bot.repository.connection import Connection
from bot.server.plan_model import Plan
from bot.server.planner import plan
from bot.server.queue import Queue
from tests.bot.make import OPERATOR_PATH, SOURCES, git, published, written

FILES = {
    "src/math/scale/op_host/scale.cpp": '#include "../../../common/cut.h"\nint tile = 1;\n',
    "src/math/scale/op_kernel/scale.cpp": '#include "scale_impl.h"\nint kernel = 1;\n',
    "src/math/scale/op_kernel/scale_impl.h": "int scale_impl = 1;\n",
    "src/math/scale/workload.yaml": "operator: Scale\n",
    "src/math/scale/golden.py": "def scale(x):\n    return x\n",
    "src/math/shift/op_host/shift.cpp": '#include "../../../common/cut.h"\nint tile = 2;\n',
    "src/math/shift/op_kernel/shift.cpp": "int kernel = 2;\n",
    "src/math/shift/workload.yaml": "operator: Shift\n",
    "src/common/cut.h": "int cut = 1;\n",
    **{f"{OPERATOR_PATH}/{name}": text for name, text in SOURCES.items()},
    f"{OPERATOR_PATH}/workload.yaml": "operator: ScaleAdd\n",
    "README.md": "operators\n",
}
KERNEL = "src/math/scale/op_kernel/scale.cpp"


@dataclass
class Repository:
    """The forge as the bot sees it, a checkout to change it with, and a queue."""

    folder: Path
    bot: LocalForge
    checkout: Path
    queue: Queue
    deliveries: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.bot.repository().name

    def connection(self) -> Connection:
        return Connection.mirrored("local", self.name, self.bot, self.folder / "data")

    def as_user(self, user: str, access: str = "write") -> LocalForge:
        """The forge as another person, who has `access`."""
        self.bot.set_permission(user, access)  # type: ignore[arg-type]
        return LocalForge(self.folder / "ops.git", user=user)

    def commit(self, branch: str, files: dict[str, str], message: str = "Change") -> str:
        """Commit files to a branch, new ones from main, and push it; the commit."""
        known = git(self.checkout, "branch", "--list", branch)
        git(self.checkout, "checkout", "-q", *([branch] if known else ["-b", branch, "main"]))
        written(self.checkout, files)
        git(self.checkout, "add", "-A")
        git(self.checkout, "commit", "-q", "--allow-empty", "-m", message)
        git(self.checkout, "push", "-q", "origin", branch)
        return git(self.checkout, "rev-parse", "HEAD")

    def request(
        self, files: dict[str, str] | None = None, branch: str = "feature", user: str = "alice"
    ) -> MergeRequest:
        """A merge request of `user` that changes `files`."""
        self.commit(branch, files or {KERNEL: "int kernel = 7;\n"})
        return self.as_user(user).open("Change", "", branch, "main")

    def comment(self, number: int, text: str, user: str = "alice", access: str = "write") -> Plan:
        """What the bot plans when `user` writes `text`."""
        made = self.as_user(user, access).comment(number, text)
        return self.plan(
            kind="comment", action="created", number=number, comment_id=made.id, text=text
        )

    def plan(self, **values: object) -> Plan:
        """What the bot plans for an event."""
        return plan(self.event(**values), self.connection(), self.queue)

    def event(self, **values: object) -> Event:
        self.deliveries.append("")
        given = {"forge": "local", "delivery": str(len(self.deliveries)), "repository": self.name}
        return Event.model_validate(given | values)

    def queue_up(self, made: Plan) -> None:
        """Put the jobs of a plan into the queue."""
        for job in made.jobs:
            assert self.queue.add(job, time.time())


@cache
def _template(config: str | None) -> tempfile.TemporaryDirectory[str]:
    """The bare repository and its checkout, made once by git, then copied."""
    made = tempfile.TemporaryDirectory(prefix="ascendopt-test-")
    folder = Path(made.name)
    written(folder / "ops", FILES | ({} if config is None else {".ascendopt.yml": config}))
    published(folder / "ops", folder / "ops.git", "../ops.git")
    return made


def operator_repository(folder: Path, config: str | None = None) -> Repository:
    """A fresh one; `config` is the text of .ascendopt.yml."""
    shutil.copytree(_template(config).name, folder, dirs_exist_ok=True)
    bare, queue = folder / "ops.git", Queue(folder / "data" / "queue.sqlite")
    return Repository(folder, LocalForge(bare), folder / "ops", queue)
