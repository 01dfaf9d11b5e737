import hashlib
import posixpath
from itertools import count, islice
from pathlib import Path

import pytest

from bot.base.git import Git, GitError
from bot.repository import mirror
from bot.repository.commit_pack import read_pack, write_pack
from bot.repository.job import Job
from bot.repository.mirror import Commit, check_out, clone, workload_of
from bot.repository.trigger import touched_operators
from ci.model.errors import InputError
from rules.triggers import load_triggers
from tests.bot.make import git
from tests.bot.operator_repository import KERNEL, Repository, operator_repository

WORKLOAD = "src/math/scale/workload.yaml"


@pytest.fixture
def ops(tmp_path: Path) -> Repository:
    return operator_repository(tmp_path)


def planned(ops: Repository, files: dict[str, str] | None = None) -> Job:
    request = ops.request(files)
    (job,) = ops.comment(request.number, "/optimize").jobs
    return job


def test_operators_are_folders_with_host_and_kernel_sources(ops: Repository) -> None:
    odd = {
        "lib/odd/parts/declared.cpp": "class Odd : public OpDef {};\nOP_ADD(Odd);\n",
        "lib/odd/step.cpp": '#include "step.h"\n__global__ __aicore__ void odd(GM_ADDR x) {}\n',
        "lib/odd/step.h": "",
    }
    half = {"src/nn/half/op_kernel/half.cpp": "", "tests/x/op_host/a.cpp": ""}
    ops.commit("main", {**half, **odd})
    mirror = ops.connection().mirror
    commit = mirror.commit(mirror.fetch(ops.bot, "refs/heads/main"))
    known = ["src/math/scale", "src/math/scale_add", "src/math/shift"]
    assert list(commit.operators) == ["lib/odd", *known]
    assert commit.operators["lib/odd"] == tuple(odd)
    for path, side in zip(odd, ((False, True), (True, False), (True, False)), strict=True):
        (hit,) = touched_operators([path], commit.operators, commit.texts, load_triggers())
        assert (hit.folder, hit.kernel, hit.tiling) == ("lib/odd", *side)


def test_an_operator_is_built_from_its_sources_and_all_that_they_include(ops: Repository) -> None:
    mirror = ops.connection().mirror
    commit = mirror.commit(mirror.fetch(ops.bot, "refs/heads/main"))
    assert set(commit.built_from("src/math/scale")) == {
        "src/common/cut.h",
        "src/math/scale/op_host/scale.cpp",
        "src/math/scale/op_kernel/scale.cpp",
        "src/math/scale/op_kernel/scale_impl.h",
    }


def test_a_checkout_is_the_commit_under_test_without_links_that_lead_out_of_it(
    ops: Repository, tmp_path: Path
) -> None:
    for name, target in {
        "out": "/etc",
        "up": "../../../../../etc/passwd",
        "round": "round",
        "in": "../../common/cut.h",
        "nowhere yet": "../gone.h",
        "no folder": "op_kernel/scale.cpp/x",
        "through": "out/passwd",
        "\udce9 of no alphabet": "/etc",
        "of two\nlines": "/etc",
    }.items():
        (ops.checkout / "src/math/scale" / name).symlink_to(target)
    job = planned(ops, {KERNEL: "int mine;\n"})
    top = tmp_path / "checkout"
    check_out(ops.connection().mirror.folder, job, top)
    assert (top / KERNEL).read_text() == "int mine;\n"
    links = {p.name for p in top.rglob("*") if p.is_symlink()}
    assert (
        links == {"in", "nowhere yet"}
        and (top / "src/math/scale/in").read_text() == "int cut = 1;\n"
    )


PERSON = """
[filter "lfs"]
    smudge = touch {ran}/smudge; cat
    clean = touch {ran}/clean; cat
    required = true
[filter "own"]
    process = touch {ran}/process
[core]
    attributesFile = {home}/attributes
    hooksPath = {home}/templates/hooks
    fsmonitor = {home}/program
    autocrlf = true
[init]
    templateDir = {home}/templates
[diff]
    external = {home}/program
[diff "shown"]
    textconv = {home}/program
[log]
    showSignature = true
[gpg]
    program = {home}/program
[submodule]
    recurse = true
[credential]
    helper = "!touch {ran}/credential; :"
"""


@pytest.mark.parametrize("level", ["global", "system"])
def test_no_program_of_a_person_runs_for_a_strangers_tree(
    ops: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, level: str
) -> None:
    raw = "int kernel = 8;\n// $Id$\n"
    attributes = {
        ".gitattributes": "* filter=lfs diff=shown ident text eol=crlf\n",
        "src/math/.gitattributes": "*.cpp filter=own\n",
    }
    job = planned(ops, {KERNEL: raw, **attributes})
    mirror = ops.connection().mirror
    home, ran = tmp_path / "home", tmp_path / "ran"
    (home / "templates" / "hooks").mkdir(parents=True)
    ran.mkdir()
    for program in (home / "program", home / "templates" / "hooks" / "post-checkout"):
        program.write_text(f"#!/bin/sh\ntouch {ran}/{program.name}\n")
        program.chmod(0o755)
    (home / "attributes").write_text("* filter=own\n")
    settings = home / "settings"
    settings.write_text(PERSON.format(ran=ran, home=home))
    monkeypatch.setenv(f"GIT_CONFIG_{level.upper()}", str(settings))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "0")
    top = tmp_path / "checkout"
    check_out(mirror.folder, job, top)
    mirror.check_out_branch(ops.bot, "main", tmp_path / "branch")
    mirror.git.run("show", "-s", "--format=%B", signed(mirror.git, job.source_commit))
    mirror.changed(job.source_commit, job.judge_commit)
    assert (top / KERNEL).read_bytes() == raw.encode()
    assert [place.name for place in ran.iterdir()] == []
    assert not (top / ".git" / "hooks").exists()


def signed(git: Git, commit: str) -> str:
    """A commit with a signature of nobody."""
    head, _, message = git.run("cat-file", "commit", commit).partition("\n\n")
    words = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----"
    text = f"{head}\n{words}\n\n{message}"
    return git.run("hash-object", "-t", "commit", "-w", "--stdin", stdin=text).strip()


def test_a_branch_is_checked_out_without_links_that_lead_out_of_it(
    ops: Repository, tmp_path: Path
) -> None:
    (ops.checkout / "out").symlink_to("/etc")
    (ops.checkout / "in").symlink_to("src/common")
    ops.commit("main", {})
    ops.connection().mirror.check_out_branch(ops.bot, "main", tmp_path / "branch")
    assert not (tmp_path / "branch" / "out").is_symlink()
    assert (tmp_path / "branch" / "in" / "cut.h").read_text() == "int cut = 1;\n"


def test_a_commit_that_was_pushed_over_is_told(ops: Repository) -> None:
    mirror = ops.connection().mirror
    with pytest.raises(InputError, match="somebody pushed over it"):
        mirror.ensure(ops.bot, "refs/heads/main", "0" * 40)


def test_a_ref_that_is_gone_is_a_git_error(ops: Repository) -> None:
    with pytest.raises(GitError):
        ops.connection().mirror.fetch(ops.bot, "refs/heads/never")


def test_the_workload_is_looked_for_in_order(ops: Repository) -> None:
    ops.commit("main", {"judges/shift/workload.yaml": "x\n", "elsewhere.yaml": "y\n"})
    mirror = ops.connection().mirror
    judge = mirror.commit(mirror.fetch(ops.bot, "refs/heads/main"))
    assert workload_of(judge, "src/math/shift", "elsewhere.yaml", "judges") == "elsewhere.yaml"
    assert workload_of(judge, "src/math/shift", "missing.yaml", "judges") is None
    assert workload_of(judge, "src/math/shift", None, "judges") == "src/math/shift/workload.yaml"
    assert workload_of(judge, "other/shift", None, "judges") == "judges/shift/workload.yaml"
    assert workload_of(judge, "other/shift", None, "") is None


def test_a_pack_carries_a_jobs_commits_without_their_history(
    ops: Repository, tmp_path: Path
) -> None:
    job = planned(ops)
    folder = tmp_path / "job"
    folder.mkdir()
    file = write_pack(ops.connection().mirror.git, job, folder)
    assert [p.name for p in folder.iterdir()] == ["commits.pack"]
    repository = read_pack(file, job, tmp_path / "repository.git")
    top = tmp_path / "checkout"
    check_out(repository, job, top)
    assert (top / KERNEL).read_text() == "int kernel = 7;\n"


def test_a_damaged_or_foreign_pack_is_refused(ops: Repository, tmp_path: Path) -> None:
    job = planned(ops)
    bad = tmp_path / "commits.pack"
    bad.write_bytes(b"PACK nonsense")
    with pytest.raises(InputError, match="no pack of the job's commits"):
        read_pack(bad, job, tmp_path / "one.git")
    with pytest.raises(InputError, match="There is no"):
        read_pack(tmp_path / "none.pack", job, tmp_path / "two.git")


def test_a_workload_is_found_where_a_folder_around_tells_operators_of_one_name_apart(
    ops: Repository,
) -> None:
    """As `census --workloads` looks, docs/census.md; nearer folders go first."""
    git(ops.checkout, "rm", "-q", WORKLOAD)
    for around in ("", "src/", "math/"):
        place = f"w/{around}scale/workload.yaml"
        head = ops.commit("main", {place: "operator: Scale\n"})
        commit = Commit(Git(ops.checkout), head)
        assert workload_of(commit, "src/math/scale", None, "w") == place
        assert workload_of(commit, "src/nn/scale", None, "w") == place.replace("math/", "src/")
        assert workload_of(commit, "src/math/scale", None, "") is None


def seventeenth(number: int) -> list[str]:
    """Contents that git keeps in the folder 17, by whose files it guesses how many there are."""
    texts = (str(i) for i in count())
    named = ((text, f"blob {len(text)}\0{text}".encode()) for text in texts)
    found = (text for text, whole in named if hashlib.sha1(whole).hexdigest().startswith("17"))
    return list(islice(found, number))


def test_a_mirror_packs_what_fetches_left_and_a_fetch_packs_nothing(ops: Repository) -> None:
    mirror = ops.connection().mirror
    mirror.git.run("config", "gc.auto", "1")
    for text in seventeenth(3):
        mirror.git.run("hash-object", "-w", "--stdin", stdin=text)
    mirror.fetch(ops.bot, "refs/heads/main")
    packs = mirror.folder / "objects" / "pack"
    assert not list(packs.glob("*.pack"))
    mirror.pack()
    assert list(packs.glob("*.pack"))


@pytest.mark.parametrize("place", ["perf/fast", "."])
def test_a_launched_kernels_workload_and_source_are_an_operator(
    ops: Repository, place: str
) -> None:
    kernel, header = "csrc/fast.asc", "csrc/parts/fast.h"
    workload = posixpath.normpath(f"{place}/workload.yaml")
    launched = {
        workload: f"launch:\n  kernel: {posixpath.relpath(kernel, place)}\n",
        kernel: '#include "parts/fast.h"\n__global__ __aicore__ void fast(GM_ADDR x) {}\n',
        header: "",
        "perf/lost/workload.yaml": "launch: {kernel: none.asc}\n",
        "perf/odd/workload.yaml": "launch: [\n",
        "perf/out/workload.yaml": "launch: {kernel: ../../../fast.asc}\n",
    }
    ops.commit("main", launched)
    mirror = ops.connection().mirror
    commit = mirror.commit(mirror.fetch(ops.bot, "refs/heads/main"))
    assert {f for f in commit.operators if not f.startswith("src/")} == {place}
    assert commit.operators[place] == (kernel, workload)
    assert set(commit.built_from(place)) == {kernel, workload, header}
    for path, sides in (
        (kernel, (True, False)),
        (workload, (False, True)),
        (header, (True, False)),
    ):
        (hit,) = touched_operators([path], commit.operators, commit.texts, load_triggers())
        assert (hit.folder, hit.kernel, hit.tiling) == (place, *sides)
    (other,) = touched_operators([KERNEL], commit.operators, commit.texts, load_triggers())
    assert other.folder == "src/math/scale"


def test_sources_without_bound_are_not_held_in_memory(
    ops: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stranger's pack of a few kilobytes can hold gigabytes of blanks."""
    text = "// " + " " * 100_000
    places = {f"src/math/scale_add/op_kernel/{n}.h": f"{text}{n}\n" for n in range(5)}
    name = ops.commit("blanks", places)
    monkeypatch.setattr(mirror, "MOST_BYTES", 50_000)
    kept = Commit(Git(ops.checkout), name)
    assert KERNEL in kept.texts and not places.keys() & kept.texts.keys()
    monkeypatch.undo()
    monkeypatch.setattr(mirror, "_MAX_ALL_SOURCES", 400_000)
    with pytest.raises(InputError, match=r"has more than 0 MB of C\+\+ sources"):
        Commit(Git(ops.checkout), name).texts  # noqa: B018


def test_what_a_large_source_includes_belongs_to_its_operator(ops: Repository) -> None:
    """Tables that a program wrote have some MB."""
    table, asked = "src/math/scale/op_kernel/table.h", "src/shared/asked.h"
    rows = "0.5f, 0.25f, 0.125f,\n" * 200_000
    ops.commit(
        "main",
        {
            KERNEL: '#include "table.h"\n',
            table: f'#include "../../../shared/asked.h"\n{rows}',
            asked: "int asked;\n",
        },
    )
    mirror = ops.connection().mirror
    commit = mirror.commit(mirror.fetch(ops.bot, "refs/heads/main"))
    assert asked in commit.built_from("src/math/scale")
    (hit,) = touched_operators([asked], commit.operators, commit.texts, load_triggers())
    assert hit.folder == "src/math/scale"


def test_a_link_with_an_endless_target_leads_out(ops: Repository) -> None:
    git_of = Git(ops.checkout)
    blob = git_of.run("hash-object", "-w", "--stdin", stdin="a/" * 4000).strip()
    tree = git_of.run("mktree", stdin=f"120000 blob {blob}\tlong\n").strip()
    found = Commit(git_of, tree)
    assert found.links == {"long": (blob, "/")} and found.resolved("long") is None


@pytest.mark.parametrize(
    ("place", "there"),
    [
        (".ascendopt", True),
        (".ascendopt.yml", True),
        (".github", True),
        (".gitmodules", True),
        ("experience", True),
        ("src/math/scale/inner", True),
        ("src/math/scale/golden.py", True),
        ("src/math/scale/op_kernel", False),
        ("src/math/scale", False),
        ("src", False),
    ],
)
def test_a_submodule_is_an_empty_folder_whatever_it_is_called(
    ops: Repository, tmp_path: Path, place: str, there: bool
) -> None:
    """Its commit is one that the mirror has, so it could be laid out."""
    ran = tmp_path / "ran"
    git(ops.checkout, "checkout", "-q", "main")
    inner = git(ops.checkout, "rev-parse", "HEAD")
    git(ops.checkout, "rm", "-rq", "--ignore-unmatch", place)
    modules = f'[submodule "../../x"]\n\tpath = {place}\n\turl = ext::sh -c "touch {ran}"\n'
    if place != ".gitmodules":
        (ops.checkout / ".gitmodules").write_text(f"{modules}\tupdate = !touch {ran}\n")
        git(ops.checkout, "add", ".gitmodules")
    git(ops.checkout, "update-index", "--add", "--cacheinfo", f"160000,{inner},{place}")
    git(ops.checkout, "commit", "-q", "-m", "Submodule")
    git(ops.checkout, "push", "-q", "origin", "main")
    connection = ops.connection()
    tip = connection.tip()
    clone(connection.mirror.git, tip, tmp_path / "tree")
    left = tmp_path / "tree" / place
    assert not left.is_file() and not (left.is_dir() and list(left.iterdir()))
    assert ("src/math/scale" in connection.mirror.commit(tip).operators) is there
    assert connection.limits() and not ran.exists()
