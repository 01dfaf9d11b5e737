from pathlib import Path

import pytest

from bot.repository.judge import judge_files, lay_out
from bot.repository.mirror import Commit
from ci.model.errors import InputError
from tests.bot.operator_repository import KERNEL, Repository, operator_repository

WORKLOAD = "src/math/scale/workload.yaml"
SHARED = {
    WORKLOAD: "operator: Scale\ngolden: ../padding.py:pad\n",
    "src/math/padding.py": "from pads import pad\n",
    "src/math/pads/__init__.py": "",
    "src/math/pads/deep/table.txt": "1 2\n",
}


@pytest.fixture
def ops(tmp_path: Path) -> Repository:
    return operator_repository(tmp_path)


def main(ops: Repository) -> Commit:
    mirror = ops.connection().mirror
    return mirror.commit(mirror.fetch(ops.bot, "refs/heads/main"))


def test_a_workload_is_judged_by_its_folder_and_its_goldens_but_no_source(ops: Repository) -> None:
    assert set(judge_files(main(ops), WORKLOAD)) == {WORKLOAD, "src/math/scale/golden.py"}
    ops.commit("main", SHARED | {"src/nn/other.py": ""})
    found = judge_files(main(ops), WORKLOAD)
    assert set(SHARED) < set(found)
    assert not [p for p in found if p.endswith((".cpp", ".h")) or p.startswith("src/nn")]


def test_links_are_followed_inside_the_repository_only(ops: Repository, tmp_path: Path) -> None:
    home = ops.checkout / "src/math/scale"
    (home / "golden.py").unlink()
    (home / "golden.py").symlink_to("../../../lib/goldens/scale.py")
    (home / "tables").symlink_to("../../../tables")
    (home / "secret").symlink_to("/etc/passwd")
    (home / "up").symlink_to("../../../../up")
    ops.commit(
        "main",
        {
            WORKLOAD: "operator: Scale\ngolden: golden.py:scale\n",
            "lib/goldens/scale.py": "import beside\n",
            "lib/goldens/beside.py": "",
            "lib/other.py": "",
            "tables/one.txt": "1\n",
        },
    )
    job = ops.comment(ops.request().number, "/optimize").jobs[0]
    into = tmp_path / "judge"
    lay_out(ops.connection().mirror.folder, job, into)
    assert (into / "src/math/scale/golden.py").resolve() == into / "lib/goldens/scale.py"
    assert (into / "src/math/scale/tables/one.txt").read_text() == "1\n"
    assert (into / "lib/goldens/beside.py").is_file()
    names = {p.name for p in into.rglob("*")}
    assert names.isdisjoint({"secret", "up", "other.py", "scale.cpp"})


def test_what_judges_holds_nothing_of_the_merge_request(ops: Repository, tmp_path: Path) -> None:
    ops.commit("main", SHARED)
    hostile = dict.fromkeys((*SHARED, "src/math/cheat.py", KERNEL), "raise SystemExit\n")
    job = ops.comment(ops.request(hostile).number, "/optimize").jobs[0]
    into = tmp_path / "judge"
    (into / "left").mkdir(parents=True)
    lay_out(ops.connection().mirror.folder, job, into)
    assert not [p for p in into.rglob("*") if p.is_file() and "SystemExit" in p.read_text()]
    assert not (into / "left").exists()


@pytest.mark.parametrize(
    "path", ["src/math/padding.py", "src/math/pads/deep/table.txt", "src/math/scale/workload.yaml"]
)
def test_whatever_judges_is_part_of_the_jobs_key(ops: Repository, path: str) -> None:
    ops.commit("main", SHARED)
    number = ops.request().number
    before = ops.comment(number, "/optimize").jobs[0].key
    assert ops.comment(number, "/optimize").jobs[0].key == before
    ops.commit("main", {path: SHARED[path] + "\n"})
    assert ops.comment(number, "/optimize").jobs[0].key != before


def test_a_workload_that_is_not_on_the_default_branch_is_told(
    ops: Repository, tmp_path: Path
) -> None:
    job = ops.comment(ops.request().number, "/optimize").jobs[0]
    lost = job.model_copy(update={"workload": "src/math/scale/lost.yaml"})
    with pytest.raises(InputError, match="not on the default branch"):
        lay_out(ops.connection().mirror.folder, lost, tmp_path / "judge")
