from __future__ import annotations

from experience.distill import normalised_hash, unified_diff


def _hash(slow: str, fast: str, path: str = "op_kernel/a.cpp") -> str:
    return normalised_hash(unified_diff({path: slow}, {path: fast}))


def test_names_paths_spaces_and_comments_do_not_change_the_hash() -> None:
    one = _hash("Mul(yLocal, xLocal, n);\n", "Muls(yLocal, xLocal, k, n);\n")
    two = _hash(
        "  Mul(dst, src,  count); // slow\n", "  Muls(dst, src, scale, count);\n", "op_kernel/b.h"
    )
    assert one == two


def test_another_call_changes_the_hash() -> None:
    assert _hash("Mul(y, x, n);\n", "Muls(y, x, n);\n") != _hash(
        "Div(y, x, n);\n", "Muls(y, x, n);\n"
    )


def test_another_order_of_operands_changes_the_hash() -> None:
    before = "Sub(y, a, b);\n"
    assert _hash(before, "Sub(y, b, a);\n") != _hash(before, "Sub(b, y, a);\n")


def test_the_diff_of_equal_sources_is_empty() -> None:
    assert unified_diff({"a.cpp": "x\n"}, {"a.cpp": "x\n"}) == ""


def test_a_missing_newline_at_the_end_is_marked_as_git_marks_it() -> None:
    diff = unified_diff({"a.cpp": "x"}, {"a.cpp": "y\n"})
    assert "-x\n\\ No newline at end of file\n+y\n" in diff
