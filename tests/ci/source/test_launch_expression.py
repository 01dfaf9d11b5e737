"""Expressions over the inputs of a launch, as C++."""

from __future__ import annotations

import pytest

from ci.source.launch_expression import Known, code

KNOWN = Known(["x", "w"], {"rows": True, "scale": False, "cores": True})


@pytest.mark.parametrize(
    ("written", "text", "whole"),
    [
        (8, "int64_t(8)", True),
        ("-8", "(-int64_t(8))", True),
        (0.5, "0.5", False),
        ("True", "1", True),
        ("rows * scale", "(double(v_rows) * v_scale)", False),
        ("x.size // rows", "given.Quotient(given.Size(0), v_rows)", True),
        ("w.shape[-1] % 2", "given.Remainder(given.Dim(1, (-int64_t(1))), int64_t(2))", True),
        ("rows / 2", "given.Ratio(v_rows, int64_t(2))", False),
        ("min(rows, cores, 4)", "std::min<int64_t>(std::min<int64_t>(v_rows, v_cores), int64_t(4))",
         True),
        ("max(rows, 0.5)", "std::max<double>(double(v_rows), 0.5)", False),
        ("ceil_div(rows, 3)", "given.RoundedUp(v_rows, int64_t(3))", True),
        ("1 if rows > 2 else scale", "(int64_t(v_rows > int64_t(2)) != 0 ? double(int64_t(1))"
         " : v_scale)", False),
        ("x.ndim + w.itemsize", "(given.Rank(0) + given.ItemBytes(1))", True),
    ],
)  # fmt: skip
def test_an_expression_becomes_c_plus_plus(written: object, text: str, whole: bool) -> None:
    assert isinstance(written, int | float | str)
    found = code(written, KNOWN)
    assert (found.text, found.whole) == (text, whole)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("rows +", "no expression"),
        ("__import__('os')", "it may use numbers"),
        ("rows.__class__", "it may use numbers"),
        ("x.shape", "it may use numbers"),
        ("'a'", "it may use numbers"),
        ("[rows]", "it may use numbers"),
        ("rows ** 99", "none of + - * / // %"),
        ("scale // 2", "not whole"),
        ("x.shape[scale]", "a whole number is needed"),
        ("y.size", "no input; inputs are x, w"),
        ("columns", "no number here; numbers are rows, scale, cores"),
        (2**63, "it may use numbers"),
        ("1e999", "it may use numbers"),
        ("1" + "+1" * 300, "more than 500 characters"),
        ("(" * 400, "no expression"),
    ],
)
def test_what_is_no_expression_is_refused_in_words(written: object, said: str) -> None:
    assert isinstance(written, int | float | str)
    with pytest.raises(ValueError, match=".") as problem:
        code(written, KNOWN)
    assert said in str(problem.value)
