from __future__ import annotations

from ci.source.source_diff import git_diff
from experience.bank.distill import normalised_hash


def _hash(slow: str, fast: str, path: str = "op_kernel/a.cpp") -> str:
    return normalised_hash(git_diff({path: slow}, {path: fast}))


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
