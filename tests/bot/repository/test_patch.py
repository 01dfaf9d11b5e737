from __future__ import annotations

from pathlib import Path

import pytest

from bot.base.git import Git, GitError
from bot.repository.patch import applied, apply, check_patch, only_numbers, own_paths, read_patch
from ci.model.errors import InputError
from ci.model.operator import Operator
from ci.search.outcome import repository_diff
from ci.source.discovery import load_operator
from tests.bot.make import DIFF, KERNEL, OPERATOR_PATH, SOURCES, TILING, repository
from tests.ci.family import PIPELINE, write_family

ALLOWED = own_paths(OPERATOR_PATH, SOURCES)


def operator(checkout: Path) -> Operator:
    return Operator(
        name="scale_add",
        op_type="ScaleAdd",
        root=checkout / OPERATOR_PATH,
        repository=checkout,
        layout="cann-ops",
        host_sources=(TILING,),
        kernel_sources=(KERNEL,),
        definition_source=TILING,
        tiling_sources=(TILING,),
        kernel_entry=KERNEL,
        inputs=(),
        outputs=(),
    )


def test_a_patch_of_own_sources_names_them() -> None:
    assert check_patch(DIFF, ALLOWED) == (f"{OPERATOR_PATH}/{TILING}", f"{OPERATOR_PATH}/{KERNEL}")


WORKLOAD = """--- a/perf/scale/workload.yaml
+++ b/perf/scale/workload.yaml
@@ -5,3 +5,{1} @@
   values:
-    tile: 1024
+    tile: {0}
 cases:
"""


def test_of_a_launchs_workload_only_numbers_may_change() -> None:
    place = "perf/scale/workload.yaml"
    assert only_numbers(DIFF, place), "it is another file's"
    assert only_numbers(WORKLOAD.format(4096, 3), place)
    for new, lines in (("rows", 3), ("4096 * 2", 3), ("4096\n+golden: mine.py:f", 4), ("-1", 3)):
        assert not only_numbers(WORKLOAD.format(new, lines), place), new


OTHER = """\
--- a/{0}
+++ b/{0}
@@ -1 +1 @@
-operators
+mine
"""


@pytest.mark.parametrize(
    "path",
    [
        "README.md",
        ".github/workflows/ci.yml",
        "../outside",
        "/etc/passwd",
        f"{OPERATOR_PATH}/../add/op_host/add.cpp",
        f"{OPERATOR_PATH}/op_host/CMakeLists.txt",
    ],
)
def test_any_other_file_is_refused_by_name(path: str) -> None:
    with pytest.raises(InputError, match="not one of the operator's own sources"):
        check_patch(DIFF + OTHER.format(path), ALLOWED)


@pytest.mark.parametrize("end", ["\r", "\u2028", "\x0c", "\x85"])
def test_only_a_line_feed_ends_a_line_of_a_patch(end: str) -> None:
    changed = DIFF.replace(" // compute\n", f" // compute{end}rename from a\n")
    assert changed != DIFF
    assert check_patch(changed, ALLOWED) == check_patch(DIFF, ALLOWED)


@pytest.mark.parametrize(
    "header",
    [
        "old mode 100644\nnew mode 100755",
        "rename from a\nrename to b",
        "new file mode 120000",
        "deleted file mode 100644",
        "GIT binary patch",
    ],
)
def test_anything_but_changed_lines_is_refused(header: str) -> None:
    first, rest = DIFF.split("\n", 1)
    with pytest.raises(InputError, match="may only change lines"):
        check_patch(f"{first}\n{header}\n{rest}", ALLOWED)


def test_a_source_line_that_looks_like_a_header_is_no_header() -> None:
    diff = OTHER.format(f"{OPERATOR_PATH}/{TILING}").replace("-operators", "-rename from a to b")
    assert check_patch(diff, ALLOWED) == (f"{OPERATOR_PATH}/{TILING}",)


def test_a_rename_by_differing_names_is_refused() -> None:
    diff = OTHER.format(f"{OPERATOR_PATH}/{TILING}").replace(f"+++ b/{OPERATOR_PATH}", "+++ b/x")
    with pytest.raises(InputError, match="renames, adds or deletes"):
        check_patch(diff, ALLOWED)


@pytest.mark.parametrize("text", ["", "hello\n", "@@ nonsense @@\n", "--- a/x\n+++ b/x\n"])
def test_what_is_no_diff_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        check_patch(text, ALLOWED)


def test_the_new_texts_are_given_by_path_in_the_operator(tmp_path: Path) -> None:
    texts = applied(operator(repository(tmp_path)), DIFF)
    assert set(texts) == {TILING, KERNEL}
    assert "TILE = 8192" in texts[TILING]
    assert "BUFFER_NUM = 2" in texts[KERNEL]


def test_paths_may_count_from_the_operator_too(tmp_path: Path) -> None:
    diff = DIFF.replace(f"{OPERATOR_PATH}/", "")
    assert set(applied(operator(repository(tmp_path)), diff)) == {TILING, KERNEL}


def test_a_shared_source_is_named_as_the_operator_does(tmp_path: Path) -> None:
    shared = load_operator(write_family(tmp_path))
    files = {PIPELINE: shared.read(PIPELINE).replace(", 1, TILE", ", 2, TILE")}
    diff = repository_diff(shared, files)
    assert "--- a/src/common/inc/family/pipeline.h" in diff
    assert applied(shared, diff) == files


def test_a_patch_against_other_text_does_not_apply(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not apply"):
        applied(operator(repository(tmp_path)), DIFF.replace("TILE = 1024", "TILE = 512"))


def test_the_checkout_is_left_alone_when_applied_elsewhere(tmp_path: Path) -> None:
    checkout = repository(tmp_path)
    applied(operator(checkout), DIFF)
    assert Git(checkout).run("status", "--porcelain") == ""


def test_apply_to_an_index_leaves_the_work_tree_alone(tmp_path: Path) -> None:
    git, index = Git(repository(tmp_path)), tmp_path / "index"
    env = {"GIT_INDEX_FILE": str(index)}
    git.run("read-tree", "HEAD", env=env)
    apply(git, DIFF, index=index)
    assert git.run("diff", "--cached", "--name-only", env=env).split() == [
        f"{OPERATOR_PATH}/{TILING}",
        f"{OPERATOR_PATH}/{KERNEL}",
    ]
    assert git.run("status", "--porcelain") == ""


def test_a_patch_file_must_exist_and_be_text(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no patch file"):
        read_patch(tmp_path / "none.patch")
    binary = tmp_path / "binary.patch"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not text"):
        read_patch(binary)


@pytest.mark.parametrize("fails", ["objects", "index", "disk"])
def test_a_failure_of_git_is_not_taken_for_a_patch_that_does_not_fit(
    tmp_path: Path, fails: str
) -> None:
    git, index = Git(repository(tmp_path)), tmp_path / "index"
    git.run("read-tree", "HEAD", env={"GIT_INDEX_FILE": str(index)})
    if fails == "objects":
        (git.folder / ".git" / "objects").rename(tmp_path / "gone")
        (git.folder / ".git" / "objects").mkdir()
    elif fails == "index":
        index.write_bytes(b"DIRC")
    else:
        (tmp_path / "index.lock").mkdir()
    with pytest.raises(GitError):
        apply(git, DIFF, index=index)


@pytest.mark.parametrize(
    "diff",
    [
        DIFF.replace("TILE = 1024", "TILE = 512"),
        DIFF.replace("op_kernel/", "op_kernel/none/"),
        DIFF.replace("@@ -1", "@@ -1,9", 1),
        "no diff",
    ],
)
def test_what_does_not_fit_an_index_is_refused_in_gits_words(tmp_path: Path, diff: str) -> None:
    git, index = Git(repository(tmp_path)), tmp_path / "index"
    git.run("read-tree", "HEAD", env={"GIT_INDEX_FILE": str(index)})
    with pytest.raises(InputError, match="does not apply to the original operator: .{10}"):
        apply(git, diff, index=index)
