from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from bot.base.git import Git, GitError
from bot.repository.patch import applied, apply, check_patch, only_numbers, own_paths, read_patch
from ci.model.errors import InputError
from ci.model.operator import Operator
from ci.search.outcome import repository_diff
from ci.source.discovery import load_operator
from tests.bot.make import DIFF, KERNEL, OPERATOR_PATH, SOURCES, TILING, git, repository
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
        "index 0000000..1111111 120000",
        "index 0000000..1111111 160000",
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


# What people and programs do to a checkout, as git writes it down


def write(name: str, data: bytes = b"int x;\n") -> Callable[[Path], None]:
    def do(checkout: Path) -> None:
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / name).write_bytes(data)

    return do


def swap(target: str) -> Callable[[Path], None]:
    """The kernel becomes a link."""

    def do(checkout: Path) -> None:
        (checkout / OPERATOR_PATH / KERNEL).unlink()
        (checkout / OPERATOR_PATH / KERNEL).symlink_to(target)

    return do


def submodule(checkout: Path) -> None:
    at = f"160000,{'1' * 40},{OPERATOR_PATH}/op_kernel/extern"
    git(checkout, "update-index", "--add", "--cacheinfo", at)


def run_git(*arguments: str) -> Callable[[Path], None]:
    return lambda checkout: (git(checkout, *arguments), None)[1]


KERNEL_PATH: Final = f"{OPERATOR_PATH}/{KERNEL}"
FASTER: Final = SOURCES[KERNEL].replace("NUM = 1", "NUM = 2")
CHANGES: Final[dict[str, Callable[[Path], None]]] = {
    "binary": write(KERNEL_PATH, b"\0\1\2" * 100),
    "not UTF-8": write(KERNEL_PATH, FASTER.encode() + b"// \xff\xfe\n"),
    "rename": run_git("mv", KERNEL_PATH, f"{OPERATOR_PATH}/op_kernel/other.cpp"),
    "copy": write(f"{OPERATOR_PATH}/op_kernel/copy.cpp", SOURCES[KERNEL].encode()),
    "mode": run_git("update-index", "--chmod=+x", KERNEL_PATH),
    "deleted": run_git("rm", "-q", KERNEL_PATH),
    "link": swap("/etc/passwd"),
    "link to a source": swap("../op_host/scale_add.cpp"),
    "submodule": submodule,
    "huge": write(KERNEL_PATH, b"int x;\n" * 15_000_000),
    "huge line": write(KERNEL_PATH, b"x" * 5_000_000),
    "blanks": write(f"{OPERATOR_PATH}/op_kernel/a b  c.h"),
    "quotes": write(f"{OPERATOR_PATH}/op_kernel/a\"b'.h"),
    "newline": write(f"{OPERATOR_PATH}/op_kernel/a\nb.h"),
    "steers": write(f"{OPERATOR_PATH}/op_kernel/\x1b[2J\u202e.h"),
    "name not UTF-8": write(f"{OPERATOR_PATH}/op_kernel/\udcff.h"),
    "outside": write("README.md"),
    "golden": write(f"{OPERATOR_PATH}/golden.py"),
    "workload": write(f"{OPERATOR_PATH}/workload.yaml"),
    "configuration": write(".ascendopt.yml"),
    "workflow": write(".github/workflows/ci.yml"),
    "attributes": write(".gitattributes", b"* text=auto eol=crlf filter=x\n"),
    "modules": write(".gitmodules", b'[submodule "x"]\n\turl = ext::sh -c touch% pwned\n'),
    "nothing": run_git("status"),
}


def patch_file(checkout: Path, change: Callable[[Path], None], folder: Path) -> Path:
    """What git says of a change of a checkout, which is undone."""
    change(checkout)
    if git(checkout, "diff", "--cached", "--name-only") == "":
        git(checkout, "add", "-A")
    made = subprocess.run(
        ["git", "diff", "--cached", "--binary", "-M", "-C", "--find-copies-harder"],
        cwd=checkout,
        check=True,
        capture_output=True,
    ).stdout
    git(checkout, "reset", "-q", "--hard")
    file = folder / "change.patch"
    file.write_bytes(made)
    return file


@pytest.mark.parametrize("change", CHANGES)
def test_no_odd_change_is_anything_but_a_sentence(change: str, tmp_path: Path) -> None:
    checkout = repository(tmp_path)
    file = patch_file(checkout, CHANGES[change], tmp_path)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InputError) as refused:
        applied(operator(checkout), read_patch(file), file.name)
    assert len(str(refused.value)) < 500
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (SOURCES[KERNEL], FASTER),
        (SOURCES[KERNEL].replace("\n", "\r\n"), FASTER.replace("\n", "\r\n")),
        (SOURCES[KERNEL].rstrip("\n"), FASTER.rstrip("\n")),
        (SOURCES[KERNEL], FASTER.rstrip("\n")),
        (SOURCES[KERNEL] + "// \u2028 \x0c \x85 \u202e\n", FASTER + "// \u2028 \x0c\x85 \u202e\n"),
        (SOURCES[KERNEL], ""),
    ],
    ids=["plain", "CRLF", "no newline at the end", "newline gone", "odd characters", "emptied"],
)
def test_changed_lines_come_out_as_they_were_written(
    before: str, after: str, tmp_path: Path
) -> None:
    checkout = repository(tmp_path)
    write(KERNEL_PATH, before.encode())(checkout)
    git(checkout, "commit", "-q", "-a", "--allow-empty", "-m", "Before")
    file = patch_file(checkout, write(KERNEL_PATH, after.encode()), tmp_path)
    texts = applied(operator(checkout), read_patch(file))
    assert texts == {KERNEL: after.replace("\r\n", "\n")}


HUNK: Final = DIFF[DIFF.index("@@", DIFF.index(f"+++ b/{KERNEL_PATH}")) :]


def named(before: str, after: str = "", hunk: str = HUNK) -> str:
    return f"--- {before}\n+++ {after or before}\n{hunk}"


ODD: Final = {
    "leaves by ..": named("a/../../x", "b/../../x"),
    "absolute": named("/etc/passwd"),
    "git's own folder": named("a/.git/config", "b/.git/config"),
    "the same in quotes": named('"a/.git/conf\\151g"', '"b/.git/conf\\151g"'),
    "another prefix": named(f"x/{KERNEL_PATH}", f"y/{KERNEL_PATH}"),
    "another file in the headline": f"diff --git a/x b/x\n{named(f'a/{KERNEL_PATH}')}",
    "new": named("/dev/null", f"b/{KERNEL_PATH}"),
    "gone": named(f"a/{KERNEL_PATH}", "/dev/null"),
    "twice": named(f"a/{KERNEL_PATH}", f"b/{KERNEL_PATH}") * 2,
    "a NUL in a name": named("a/x\0", "b/x\0"),
    "a name without end": named("a/" + "x" * 100_000, "b/" + "x" * 100_000),
    "a path without end": named("a/" + "x/" * 50_000, "b/" + "x/" * 50_000),
    "numbers without end": named(f"a/{KERNEL_PATH}", "", HUNK.replace("-1,3", "-" + "1" * 5000)),
    "counts that lie": named(f"a/{KERNEL_PATH}", "", HUNK.replace("-1,3", "-1,9999999999999")),
    "hunks without number": named(f"a/{KERNEL_PATH}", "", "@@ -1 +1 @@\n-a\n+b\n" * 50_000),
    "files without number": "".join(
        named(f"a/{n}", f"b/{n}", "@@ -1 +1 @@\n-a\n+b\n") for n in range(20_000)
    ),
    "cut off": named(f"a/{KERNEL_PATH}")[:-9],
    "CRLF for LF": named(f"a/{KERNEL_PATH}").replace("\n", "\r\n"),
    "combined": f"diff --cc x\n{named(f'a/{KERNEL_PATH}', '', '@@@ -1 -1 +1 @@@' + chr(10))}",
    "orders of ed": "1c\nx\n.\nw pwned\n! touch pwned\n",
    "context diff": "*** x\n--- x\n***************\n*** 1 ****\n! a\n--- 1 ----\n! b\n",
    "blank lines": "\n\n\n",
}


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_no_odd_text_is_anything_but_a_sentence(text: str, tmp_path: Path) -> None:
    checkout = repository(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InputError) as refused:
        applied(operator(checkout), text, "the patch")
    assert len(str(refused.value)) < 500
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("kind", ["folder", "pipe", "large", "link to a device"])
def test_a_patch_file_that_is_no_ordinary_one_is_a_sentence(kind: str, tmp_path: Path) -> None:
    place = tmp_path / "odd.patch"
    if kind == "folder":
        place.mkdir()
    elif kind == "pipe":
        os.mkfifo(place)
    elif kind == "large":
        os.truncate(os.open(place, os.O_WRONLY | os.O_CREAT), 100 << 20)
    else:
        place.symlink_to("/dev/zero")
    with pytest.raises(InputError, match=place.name):
        read_patch(place)
