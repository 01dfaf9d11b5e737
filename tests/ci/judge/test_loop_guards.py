"""Guards of a loop's first round, whose other way the text shows."""

from __future__ import annotations

import pytest

from ci.judge.loop_guards import loop_guards

BEFORE = """class Kernel {
    __aicore__ inline void Process()
    {
        int32_t n = this->tiles_ * DEPTH;  // of all
        Begin();
        for (int32_t i = 0; i < n; i++) {
            CopyIn(i);
            Compute(i);
        }
        Finish();
    }
    __aicore__ inline void Finish() { last_ = 1; }
};
"""

AFTER = """class Kernel {
    __aicore__ inline void Process()
    {
        int32_t n = this->tiles_ * DEPTH;
        Begin();
        if (0 < n) {
            CopyIn(0);
        }
        for (int32_t i = 0; i < n; i++) {
            if (i + 1 < n) {
                CopyIn(i + 1);
            }
            Compute(i);
        }
        Finish();
    }
    __aicore__ inline void Finish() { last_ = 1; }
};
"""


def test_a_guard_of_the_first_round_is_known_by_the_loop_behind_it() -> None:
    assert loop_guards(BEFORE, AFTER) == {6}
    assert loop_guards(BEFORE, AFTER.replace("0 < n", "n > 0")) == {6}
    assert not loop_guards(BEFORE, BEFORE)
    assert not loop_guards(AFTER, AFTER.replace("CopyIn(0);", "CopyIn(2);"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("CopyIn(0);\n        }", "CopyIn(0);\n        } else {\n            Begin();\n        }"),
        ("CopyIn(0);", "CopyIn(1);"),
        ("CopyIn(0);", "CopyIn(0);\n            this->tiles_ = 3;"),
        ("CopyIn(0);", ""),
        ("if (0 < n)", "if (1 < n)"),
        ("if (0 < n)", "if (0 < m)"),
        ("if (0 < n)", "if (0 < n && ready)"),
        ("int32_t n = this->tiles_ * DEPTH;", "int32_t n = this->tiles_;"),
        ("Begin();", ""),
        ("        Finish();\n    }", "        Finish();\n        Begin();\n    }"),
        ("last_ = 1;", "last_ = 2;"),
        ("int32_t i = 0; i < n; i++", "int32_t i = 1; i < n; i++"),
        ("int32_t i = 0; i < n; i++", "int32_t i = 0; i < n; i += 2"),
        ("int32_t i = 0; i < n; i++", "int32_t i = 0; i <= n; i++"),
    ],
)
def test_what_is_more_than_such_a_guard_is_none(old: str, new: str) -> None:
    assert AFTER.count(old) == 1
    assert not loop_guards(BEFORE, AFTER.replace(old, new))


def test_a_bound_that_is_called_for_is_asked_twice_and_no_guard() -> None:
    before, after = (text.replace("i < n", "i < Count()") for text in (BEFORE, AFTER))
    assert not loop_guards(before, after.replace("0 < n", "0 < Count()"))
