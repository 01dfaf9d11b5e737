import pytest

from bot.report.stale import Stale, stale_comments

HEAD = "--- a/op_host/x.cpp\n+++ b/op_host/x.cpp\n"


def found(*lines: str) -> list[tuple[int, tuple[str, ...]]]:
    old = sum(line[0] in " -" for line in lines)
    new = sum(line[0] in " +" for line in lines)
    diff = f"{HEAD}@@ -10,{old} +10,{new} @@\n" + "".join(f"{line}\n" for line in lines)
    made = stale_comments(diff)
    assert all(isinstance(one, Stale) and one.path == "op_host/x.cpp" for one in made)
    return [(one.line, one.names) for one in made]


def test_a_comment_above_that_names_the_old_number_is_found() -> None:
    lines = (" int a;", " // a tile has 1024 elements", "-int tile = 1024;", "+int tile = 8192;")
    assert found(*lines) == [(11, ("1024",))]


def test_a_comment_at_the_end_of_a_changed_line_is_found() -> None:
    lines = (
        "-n = total / coreNum;  // total by coreNum",
        "+n = total / used;  // total by coreNum",
    )
    assert found(*lines) == [(10, ("coreNum",))]


def test_a_block_comment_right_above_counts_line_by_line() -> None:
    lines = (" /*", "  * BLOCK_SIZE bytes", "  * of a row", "  */", "-a = BLOCK_SIZE;", "+a = 64;")
    assert found(*lines) == [(11, ("BLOCK_SIZE",))]


def test_a_comment_that_says_what_still_stands_is_none() -> None:
    assert not found(" // tile of the row", "-int tile = 1024;", "+int tile = 8192;")
    assert not found(" // 1024", " int other;", "-int tile = 1024;", "+int tile = 8192;")


def test_a_comment_that_the_change_takes_along_is_none() -> None:
    assert not found("-int tile = 1024;  // 1024", "+int tile = 8192;  // 8192")
    assert not found("-// 1024", "+// 8192", "-int tile = 1024;", "+int tile = 8192;")


def test_words_of_the_language_and_of_texts_are_no_names() -> None:
    assert not found(" // for each int", '-int a = f("1024");', "+a = f();")


@pytest.mark.parametrize(
    "comment",
    [
        "at least 4K elements a core",
        "每个核至少处理4K数据",
        "每核 4 KB",
        "0x1000 bytes",
        "4 * 1024 bytes",
        "1 << 12 of them",
        "4096个元素",
        "４０９６ 个",
        "4,096 bytes",
        "2^12 bytes",
        "4×1024",
        "1024u * 4",
    ],
)
def test_a_number_is_the_same_however_it_is_written(comment: str) -> None:
    assert found(f" // {comment}", "-int size = 4096;", "+int size = 16384;")
    assert found(f" // {comment}", "-int size = 4 * 1024;", "+int size = 16384;")
    assert not found(f" // {comment}", "-int size = 2048;", "+int size = 16384;")


@pytest.mark.parametrize(
    ("comment", "old", "new"),
    [
        ("double buffer", "2", "3"),
        ("双缓冲", "2", "3"),
        ("half of UB", "0.5f", "0.75f"),
        ("50% of UB", "0.5", "0.75"),
        ("at most 0.00001", "1e-5", "1e-6"),
        ("每次4万个", "40000", "80000"),
    ],
)
def test_a_number_may_be_a_word_or_a_share(comment: str, old: str, new: str) -> None:
    assert found(f" // {comment}", f"-auto a = {old};", f"+auto a = {new};")
    assert not found(f" // {comment}", f"-auto a = 7;{new}", f"+auto a = 9;{new}")


@pytest.mark.parametrize(
    "lines",
    [
        (" int b;  /* 4K */", "-int a = 4096;", "+int a = 8192;"),
        (" 4K */", " int b;", "-int a = 4096;", "+int a = 8192;"),
        (" * 4096;", " int b = 4096;", "-int a = 4096;", "+int a = 8192;"),
    ],
)
def test_a_block_that_is_not_right_above_is_none(lines: tuple[str, ...]) -> None:
    assert not found(*lines)


@pytest.mark.parametrize(
    "lines",
    [
        ("-int a = 4096;  /* 4K */", "+int a = 8192;  /* 4K */"),
        (" /*", " 每个核至少处理4K数据", " */", "-int a = 4096;", "+int a = 8192;"),
        (" 每个核至少处理4K数据", " */", "-int a = 4096;", "+int a = 8192;"),
        (" /* 4K */", "-int a = 4096;", "+int a = 8192;"),
    ],
)
def test_a_block_is_a_comment_wherever_it_begins(lines: tuple[str, ...]) -> None:
    assert [names for _, names in found(*lines)] == [("4K",)]


def test_a_comment_at_a_use_in_another_changed_file_is_found() -> None:
    diff = f"{HEAD}@@ -1,1 +1,1 @@\n-constexpr int LEAST = 4096;\n+constexpr int LEAST = 16384;\n"
    diff += "--- a/op_kernel/x.h\n+++ b/op_kernel/x.h\n@@ -1,1 +1,1 @@\n-int c;\n+int d;\n"
    texts = {"op_kernel/x.h": "int d;\n// 4K rows\nint rows = LEAST;\n"}
    assert stale_comments(diff, texts) == [Stale("op_kernel/x.h", 2, ("4K",))]


def test_a_comment_at_another_use_of_the_constant_is_found() -> None:
    diff = f"{HEAD}@@ -1,1 +1,1 @@\n-constexpr int LEAST = 4096;\n+constexpr int LEAST = 16384;\n"
    text = "\n".join(
        (
            "constexpr int LEAST = 16384;",
            "// 4K rows of the table",
            "int rows = 1;",
            "int columns = 2;",
            "int pages = 3;",
            "int books = 4;",
            "// 每个核至少处理4K数据",
            "int cores = total / LEAST;",
            "int more = LEAST;  // 4096",
            "int other = 7;  // 4096",
        )
    )
    made = stale_comments(diff, {"op_host/x.cpp": text})
    assert [(one.line, one.names) for one in made] == [(7, ("4K",)), (9, ("4096",))]
    assert stale_comments(diff) == []
    assert stale_comments(diff, {"op_host/y.cpp": text}) == []


@pytest.mark.parametrize(
    "number", ["0x" + "f" * 400, "1 << " + "9" * 5000, "9" * 5000, "2 * " + "9" * 5000]
)
def test_a_number_without_end_is_none(number: str) -> None:
    """Somebody's comment next to a change must not keep its merge request from being written."""
    assert found(f"  // {number}", "-int a = 4096;", "+int a = 8192;") == []
    assert found("  // x", f"-int a = {number};", "+int a = 8192;") == []


def test_what_is_no_diff_has_no_comments() -> None:
    assert stale_comments(f"--- a/x\n+++ b/x\n@@ -{'9' * 5000} +1 @@\n") == []


@pytest.mark.parametrize("mark", ["1", '\\"', "a", "1 * "])
def test_a_line_without_end_is_looked_at_where_it_begins(mark: str) -> None:
    long = mark * (400_000 // len(mark))
    assert found(f" // 4096 {long}", f"-int a = 4096; {long}", "+int a = 8;")[0][1][0] == "4096"
