"""`ascendopt init` on checkouts of repositories whose default branch is not `main`."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Callable
from importlib.metadata import PathDistribution
from pathlib import Path

import pytest
import yaml
from check_jsonschema.builtin_schemas import get_builtin_schema
from jsonschema.validators import validator_for

from bot.cli.main import run
from bot.repository.config import parse_config
from bot.setup.files import included, setup_files
from bot.setup.setup import SetupOptions, look, write
from bot.setup.source import checked_source, own_source
from ci.model.errors import InputError
from tests.bot.make import git, written
from tests.bot.operator_repository import FILES, KERNEL
from tests.ci.source.test_declared import pair
from tests.places import OPERATORS, TOP

BIAS_ADD = OPERATORS / "src" / "math" / "bias_add"

SOURCE = f"git+https://example.org/someone/ascendopt@{'ab' * 20}"
PLACES = {
    "github": ("https://github.com/acme/ops.git", ".github/workflows/ascendopt.yml"),
    "gitlab": ("git@gitlab.example.org:group/ops.git", ".gitlab/ascendopt.yml"),
    "gitcode": ("https://gitcode.com/acme/ops.git", ".gitcode/workflows/ascendopt.yml"),
}
SCHEMAS = {"github": "vendor.github-workflows", "gitlab": "vendor.gitlab-ci"}


def checkout(folder: Path, url: str, branch: str = "master") -> Path:
    """A clone of a repository with two commits on `branch`, whose remote is said to be `url`."""
    made = folder / "made"
    written(made, FILES)
    git(made, "init", "-q", "-b", branch)
    git(made, "add", "-A")
    git(made, "commit", "-q", "-m", "Add operators")
    written(made, {KERNEL: "int kernel = 8;\n"})
    git(made, "commit", "-q", "-a", "-m", "Change a kernel")
    git(folder, "clone", "-q", str(made), "ops")
    git(folder / "ops", "remote", "set-url", "origin", url)
    return folder / "ops"


def texts(folder: Path) -> dict[str, str]:
    found = (p for p in folder.rglob("*") if p.is_file() and ".git" not in p.parts)
    return {p.relative_to(folder).as_posix(): p.read_text() for p in found}


@pytest.mark.parametrize("forge", PLACES)
def test_the_files_of_the_forge_are_written_once(forge: str, tmp_path: Path) -> None:
    url, place = PLACES[forge]
    ops = checkout(tmp_path, url)
    before = texts(ops)
    assert run(["init", str(ops), "--source", SOURCE]) == 0
    after = texts(ops)
    new = {".ascendopt.yml", place} | ({".gitlab-ci.yml"} if forge == "gitlab" else set())
    assert set(after) - set(before) == new
    assert {k: after[k] for k in before} == before
    assert after[place].count(f'ASCENDOPT_SOURCE: "{SOURCE}"') == 1
    assert parse_config(after[".ascendopt.yml"]) == parse_config("")
    found = look(ops, SetupOptions())
    assert (found.branch, found.source) == ("master", SOURCE)
    assert {f.state for f in found.files} == {"there"}
    assert run(["init", str(ops)]) == 0
    assert texts(ops) == after


@pytest.mark.parametrize("forge", SCHEMAS)
def test_what_is_written_fits_the_published_schema(forge: str, tmp_path: Path) -> None:
    url, place = PLACES[forge]
    ops = checkout(tmp_path, url)
    write(ops, look(ops, SetupOptions(source=SOURCE)).files)
    definition = get_builtin_schema(SCHEMAS[forge])
    for file in (place, *([".gitlab-ci.yml"] if forge == "gitlab" else [])):
        text = (ops / file).read_text().replace("\non:", '\n"on":', 1)
        data = list(yaml.safe_load_all(text))[-1]
        assert not list(validator_for(definition)(definition).iter_errors(data))


@pytest.mark.parametrize("forge", ["github", "gitcode"])
def test_a_workflow_names_the_default_branch(forge: str, tmp_path: Path) -> None:
    url, place = PLACES[forge]
    ops = checkout(tmp_path, url, "develop/ops")
    write(ops, look(ops, SetupOptions(source=SOURCE)).files)
    text = (ops / place).read_text().replace("\non:", '\n"on":', 1)
    assert yaml.safe_load(text)["on"]["push"]["branches"] == ["develop/ops"]


@pytest.mark.parametrize("forge", PLACES)
def test_a_dry_run_shows_everything_and_writes_nothing(
    forge: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url, place = PLACES[forge]
    ops = checkout(tmp_path, url)
    before = texts(ops)
    assert run(["init", str(ops), "--dry-run", "--source", SOURCE]) == 0
    assert texts(ops) == before
    said = capsys.readouterr().out
    assert f"+++ b/{place}" in said and f"{place}: would be written" in said


@pytest.mark.parametrize(
    ("forge", "names"),
    [
        (
            "github",
            ["Allow GitHub Actions to create and approve pull requests", "ubuntu-22.04", "secret"],
        ),
        ("gitlab", ["Pipeline schedules", "Protected branches", "environment scope", "Runners"]),
        ("gitcode", ["ASCENDOPT_TOKEN", "[ubuntu-latest, x64, small]"]),
    ],
)
def test_what_is_left_is_named_as_the_forge_names_it(
    forge: str, names: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ops = checkout(tmp_path, PLACES[forge][0])
    (ops / "src/math/scale_add/workload.yaml").unlink()
    git(ops, "commit", "-q", "-a", "-m", "Remove a workload")
    assert run(["init", str(ops), "--json", "--dry-run"]) == 0
    left = "\n".join(json.loads(capsys.readouterr().out)["left"])
    assert all(name in left for name in names)
    assert "1 operator has no workload" in left and "src/math/scale_add" in left
    assert "git push origin HEAD:master" in left
    assert "Now it is ascendopt <ascendopt@localhost>." in left


def test_it_ends_with_what_the_bot_would_have_done(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ops = checkout(tmp_path, PLACES["github"][0])
    (kernel,) = (ops / "src/math/scale_add/op_kernel").glob("*.cpp")
    kernel.write_text(kernel.read_text() + "// more\n")
    git(ops, "commit", "-q", "-a", "-m", "Change a kernel")
    assert run(["init", str(ops)]) == 0
    said = capsys.readouterr().out
    assert "acme/ops on github, default branch master: 1 operator, 1 with a workload." in said
    last = said.split("For the last 2 commits the bot would have done:\n")[1]
    assert "src/math/scale: tried in vain: its sources declare no operator\n" in last
    assert "src/math/scale_add: optimized with 40 evaluations on sim 910B4" in last


def test_a_changed_ci_file_is_left_alone_until_forced(tmp_path: Path) -> None:
    url, place = PLACES["github"]
    ops = checkout(tmp_path, url)
    assert run(["init", str(ops), "--source", SOURCE]) == 0
    own = (ops / place).read_text().replace("timeout-minutes: 180", "timeout-minutes: 90")
    (ops / place).write_text(own)
    assert run(["init", str(ops)]) == 0
    assert (ops / place).read_text() == own
    assert any("--force" in one for one in look(ops, SetupOptions()).left)
    assert run(["init", str(ops), "--force"]) == 0
    assert (ops / place).read_text() == own.replace("timeout-minutes: 90", "timeout-minutes: 180")


def test_a_link_in_the_way_is_not_followed(tmp_path: Path) -> None:
    ops = checkout(tmp_path, PLACES["github"][0])
    (tmp_path / "outside").mkdir()
    (ops / ".github").symlink_to(tmp_path / "outside")
    assert run(["init", str(ops)]) == 2
    assert not list((tmp_path / "outside").iterdir())
    assert not (ops / ".ascendopt.yml").exists()


def submodule(place: Path) -> None:
    place.mkdir()
    git(place.parent, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},{place.name}")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda place: place.symlink_to(place.name), ".github is no folder"),
        (lambda place: place.symlink_to("nowhere"), ".github is no folder"),
        (lambda place: place.touch(), ".github is no folder"),
        (lambda place: (place / "workflows/ascendopt.yml").mkdir(parents=True), "is a folder"),
        (submodule, ".github is a submodule"),
    ],
    ids=["a link to itself", "a link to nothing", "a file", "a folder", "a submodule"],
)
def test_what_is_in_the_way_is_a_sentence_and_nothing_is_half_done(
    tmp_path: Path,
    make: Callable[[Path], None],
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    ops = checkout(tmp_path, PLACES["github"][0])
    make(ops / ".github")
    assert run(["init", str(ops)]) == 2
    assert said in capsys.readouterr().err
    assert not (ops / ".ascendopt.yml").exists()


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("", "include:\n  - local: X\n"),
        ("build:\n  script: make\n", "build:\n  script: make\n\ninclude:\n  - local: X\n"),
        ("include:\n  - local: a.yml\n", "include:\n  - local: X\n  - local: a.yml\n"),
        (
            "include: # ours\n- local: a.yml\nb: 1",
            "include: # ours\n- local: X\n- local: a.yml\nb: 1",
        ),
        (
            "stages: [build, deploy]\n",
            "stages: [build, deploy]\n\ninclude:\n  - local: X\n    inputs: {stage: deploy}\n",
        ),
        ("stages: [build, test]\n", "stages: [build, test]\n\ninclude:\n  - local: X\n"),
        ("a: !reference [.b, c]\n", "a: !reference [.b, c]\n\ninclude:\n  - local: X\n"),
        ("include: a.yml\n", "include: a.yml\n"),
        ("include:\n  - local: /X\n", "include:\n  - local: /X\n"),
    ],
)
def test_a_projects_own_pipeline_is_kept_byte_for_byte(text: str, made: str) -> None:
    assert included(text, "X") == made
    assert included(made, "X") == made


def test_an_include_that_cannot_be_edited_is_left_to_a_person(tmp_path: Path) -> None:
    ops = checkout(tmp_path, PLACES["gitlab"][0])
    (ops / ".gitlab-ci.yml").write_text("include: a.yml\n")
    found = look(ops, SetupOptions())
    assert any("add `- local: .gitlab/ascendopt.yml`" in one for one in found.left)


@pytest.mark.parametrize(
    "given",
    [
        "ascendopt",
        "ascendopt==0.1.0",
        "git+https://example.org/a/b",
        "git+https://example.org/a/b@main",
        "git+https://example.org/a/b@abc",
        'git+https://example.org/a/"$(id)"@' + "a" * 40,
        "https://example.org/ascendopt.whl",
    ],
)
def test_a_source_that_can_mean_another_program_tomorrow_is_refused(given: str) -> None:
    with pytest.raises(InputError, match="does not pin"):
        checked_source(given)


def test_what_we_were_installed_from_is_pinned_or_unknown() -> None:
    assert own_source() == "" or checked_source(own_source())


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("https://example.org/team/ascendopt", True),
        ("file:///srv/git/ascendopt", False),
        ("ssh://git@example.org/team/ascendopt", False),
    ],
)
def test_a_source_that_only_this_machine_has_is_not_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str, told: bool
) -> None:
    record = {"url": url, "vcs_info": {"vcs": "git", "commit_id": "a" * 40}}
    (tmp_path / "direct_url.json").write_text(json.dumps(record))
    installed = PathDistribution(tmp_path)
    monkeypatch.setattr("bot.setup.source.distribution", lambda name: installed)
    assert own_source() == (f"git+{url}@{'a' * 40}" if told else "")


def test_a_checkout_without_operators_is_said_to_have_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel = 'extern "C" __global__ __aicore__ void alone(GM_ADDR x) {}\n'
    written(tmp_path, {"README.md": "x\n", "alone.cpp": kernel})
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "x")
    assert run(["init", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert "op_host and op_kernel" in said and "alone in alone.cpp" in said
    shutil.copytree(BIAS_ADD, tmp_path / "math" / "bias_add")
    assert run(["init", str(tmp_path)]) == 2
    assert "has operators, such as math/bias_add, but none in its last" in capsys.readouterr().err


# The default branch


def test_simulate_asks_for_the_default_branch(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ops = checkout(tmp_path, PLACES["github"][0], "trunk")
    git(ops, "checkout", "-q", "-b", "feature")
    written(ops, {"src/math/shift/op_kernel/shift.cpp": "int kernel = 9;\n"})
    git(ops, "commit", "-q", "-a", "-m", "Change")
    assert run(["config", "simulate", str(ops)]) == 0
    assert capsys.readouterr().out.startswith("src/math/shift: optimized with 40 evaluations")


def test_a_remote_that_the_clone_noted_nothing_of_is_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ops = checkout(tmp_path, str(tmp_path / "made"), "trunk")
    git(ops, "remote", "set-head", "origin", "--delete")
    assert run(["config", "simulate", str(ops), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["base"] == git(ops, "rev-parse", "trunk")
    git(ops, "remote", "remove", "origin")
    assert run(["config", "simulate", str(ops)]) == 2
    assert "does not say what its default branch is" in capsys.readouterr().err


def test_two_commits_that_have_none_in_common_are_told_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ops = checkout(tmp_path, PLACES["github"][0], "trunk")
    (head, tree) = (git(ops, "rev-parse", name) for name in ("HEAD", "HEAD^{tree}"))
    other = git(ops, "commit-tree", tree, "-m", "Alone")
    assert run(["config", "simulate", str(ops), "--base", head, "--head", other]) == 2
    assert "git fetch --unshallow" in capsys.readouterr().err


@pytest.mark.long
def test_workloads_are_derived_where_they_are_wanted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ops = checkout(tmp_path, PLACES["github"][0])
    folder = "src/math/bias_add"
    shutil.copytree(BIAS_ADD, ops / folder, ignore=shutil.ignore_patterns("workload.yaml"))
    git(ops, "add", "-A")
    git(ops, "commit", "-q", "-m", "Add a real operator")
    assert folder in look(ops, SetupOptions()).without_workload
    assert run(["init", str(ops), "--source", SOURCE, "--workloads", "bias_*"]) == 0
    said = capsys.readouterr()
    assert f"{folder}/workload.yaml: written" in said.out
    assert f"git add .ascendopt.yml {PLACES['github'][1]} {folder}/workload.yaml" in said.out
    git(ops, "add", "-A")
    git(ops, "commit", "-q", "-m", "Set up")
    assert folder not in look(ops, SetupOptions()).without_workload
    assert run(["init", str(ops), "--workloads", "no_such_operator"]) == 2
    assert "folder or name like 'no_such_operator'" in capsys.readouterr().err


def test_it_says_which_operators_can_be_read_and_for_which_chip(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ops = checkout(tmp_path, PLACES["github"][0])
    for name, chip in (("ours", "ascend910b"), ("theirs", "ascend950"), ("unreadable", "")):
        place = ops / "src" / "math" / name
        shutil.copytree(BIAS_ADD, place)
        (host,) = (place / "op_host").glob("*.cpp")
        old, new = ("ascend910b", chip) if chip else ("public OpDef", "public Nothing")
        host.write_text(host.read_text().replace(old, new))
    git(ops, "add", "-A")
    git(ops, "commit", "-q", "-m", "Add operators")
    assert run(["init", str(ops), "--dry-run"]) == 0
    said = capsys.readouterr().out
    found = look(ops, SetupOptions()).reading
    assert set(found.ours) == {"src/math/ours", "src/math/scale_add"}
    assert set(found.others) == {"src/math/theirs"} and found.auto_sync == {"off": 1, "on": 1}
    assert "2 can be read and are for the 910B (automatic synchronisation: 1 off, 1 on)" in said
    assert f"1 are for other chips only; {len(found.unread)} cannot be read." in said
    assert set(found.unread) == {"src/math/unreadable"}
    assert "src/math/unreadable: No op definition in" in said
    assert f"`ascendopt census {shlex.quote(str(ops))}` says how far each of them gets." in said
    assert f"\nLeft to do in {ops}:\n" in said
    assert (
        "The bot optimizes 2 when they change: src/math/* (2). One event starts at most 5" in said
    )


def test_a_repository_that_is_one_operator_is_set_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ops = tmp_path / "ops"
    shutil.copytree(BIAS_ADD, ops)
    (ops / "workload.yaml").unlink()
    committed(ops)
    assert run(["init", str(ops), "--branch", "master", "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert "1 operator, 0 with a workload." in said
    assert "The bot optimizes 1 when they change: the whole repository (1)." in said
    assert "1 operator has no workload: the whole repository." in said


def test_operators_that_share_a_folder_are_watched_one_by_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (pair(tmp_path).parents[1] / ".git").rmdir()
    committed(tmp_path)
    kernel = tmp_path / "math/scale_shift/op_kernel/scale_shift.cpp"
    kernel.write_text(kernel.read_text() + "\n")
    git(tmp_path, "commit", "-q", "-a", "-m", "Change a kernel")
    assert run(["init", str(tmp_path), "--branch", "master", "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert "2 operators, 2 with a workload." in said
    assert "The bot optimizes 2 when they change: math/scale_shift/* (2)." in said
    assert "math/scale_shift/scale_shift: optimized with" in said
    assert "math/scale_shift/scale_shift_grad: optimized with" not in said


def committed(top: Path) -> None:
    git(top, "init", "-q", "-b", "master")
    git(top, "add", "-A")
    git(top, "commit", "-q", "-m", "Add operators")


@pytest.mark.parametrize("forge", ["github", "gitlab", "gitcode"])
def test_the_example_repository_has_the_files_that_init_writes(forge: str) -> None:
    example = TOP / "examples" / "repository_with_bot"
    found = {one.path: one.state for one in setup_files(example, forge, "", "main", force=True)}
    assert found == dict.fromkeys(found, "there")


def test_a_pipeline_with_numbers_of_yaml_is_read_as_the_forge_reads_it() -> None:
    text = "stages: [build, last]\njob: {timeout: 1:30, variables: {MASK: 0755}}\n"
    assert "stage: last" in included(text, ".gitlab/ascendopt.yml")
