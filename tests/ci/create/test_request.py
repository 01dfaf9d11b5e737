"""What somebody asks for, read as text alone."""

import pytest

from ci.create.request import MOST_CASES, MOST_CHARACTERS, asked
from ci.model.errors import InputError

GOLDEN = "def _part(x):\n    return x\n\n\ndef softSign(x, k=1.0):\n    return _part(x) * k\n"


def test_a_short_form_is_a_case_for_each_set_of_shapes() -> None:
    found = asked(GOLDEN, "shapes: [{x: [8, 64]}, {x: [33]}]\ndtype: fp16\nattrs: {k: 2.0}\n")
    assert (found.name, found.function) == ("soft_sign", "softSign")
    for words in ("name: 8x64", "name: '33'", "dtype: float16", "k: 2.0"):
        assert words in found.workload


def test_a_whole_workload_stays_but_for_what_it_says_of_golden_and_name() -> None:
    text = "operator: Other\ngolden: /etc/passwd:f\ntolerances: {float32: {relative: 0.01}}\n"
    cases = "cases: [{inputs: {x: {shape: [4], dtype: float32, range: [0, 1]}}}]\n"
    found = asked(GOLDEN, text + cases, "mine")
    assert found.name == "mine" and "relative: 0.01" in found.workload
    assert "passwd" not in found.workload and "Other" not in found.workload


def test_of_several_functions_the_name_says_which() -> None:
    text = f"{GOLDEN}\ndef other(x):\n    return x\n"
    assert asked(text, "shapes: {x: [4]}", "other").function == "other"
    with pytest.raises(InputError, match="softSign, other"):
        asked(text, "shapes: {x: [4]}")


@pytest.mark.parametrize(
    ("shapes", "said"),
    [
        ("shapes: {x: [2048, 4096]}", "8,388,608 elements"),
        (f"shapes: [{', '.join(['{x: [4]}'] * (MOST_CASES + 1))}]", "16 cases at most"),
        ("x" * (MOST_CHARACTERS + 1), "20000 characters"),
        ("shapes: {x: [&a 4, *a]}", "alias"),
    ],
)
def test_too_much_is_refused(shapes: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        asked(GOLDEN, shapes)


def test_nothing_of_the_golden_is_run() -> None:
    asked(f"raise SystemExit\n{GOLDEN}", "shapes: {x: [4]}")
