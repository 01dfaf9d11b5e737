"""The CI steps with a token run with the packages of plan.lock and no others."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.places import TOP

PLAN, WHOLE = (TOP / "bot" / "setup" / name for name in ("plan.lock", "requirements.lock"))

# A finder that hides what plan.lock does not name, then both steps on a local forge.
STORY = """
import importlib.metadata, sys
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

lines = [line.split(" \\\\")[0] for line in open(sys.argv[2]) if not line.startswith(" ")]
allowed = {*(canonicalize_name(Requirement(line).name) for line in lines), "ascendopt"}
owners = importlib.metadata.packages_distributions()


class Hidden:
    def find_spec(self, name, path=None, target=None):
        owned = {canonicalize_name(d) for d in owners.get(name.partition(".")[0], ())}
        if owned and not owned & allowed:
            raise ModuleNotFoundError(f"{name} is not in plan.lock", name=name)


for name in [n for n in sys.modules if n.partition(".")[0] in ("packaging", "yaml")]:
    del sys.modules[name]
sys.meta_path.insert(0, Hidden())
import bot.cli.commands.ci, bot.cli.main
import bot.forge.gitcode, bot.forge.github, bot.forge.gitlab
from bot.events import from_ci, receiver
from tests.bot.make import result
from tests.bot.operator_repository import operator_repository
from tests.bot.server.ci_runs import Ci, asked, the_merge_request

ci = Ci(operator_repository(Path(sys.argv[1])))
number, job = asked(ci)
ci.report(job, result())
ci.write(number, "/optimize status")
ci.follow_up()
print(the_merge_request(ci).number)
"""


def test_plan_lock_is_a_small_part_of_the_whole_lock() -> None:
    few = [line for line in PLAN.read_text().splitlines() if not line.startswith(" ")]
    whole = [line for line in WHOLE.read_text().splitlines() if not line.startswith(" ")]
    assert len(few) < len(whole) / 2
    assert not [line for line in few if line.startswith(("numpy=", "scipy=", "duckdb=", "openai="))]


@pytest.mark.long
def test_plan_and_report_run_with_nothing_else(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", STORY, str(tmp_path), str(PLAN)],
        cwd=TOP,
        env={**os.environ, "PYTHONPATH": str(TOP)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == "2", done.stderr
