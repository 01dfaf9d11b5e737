from __future__ import annotations

import pytest

from ci.simulator.watched_text import watched_texts


def _made(text: str) -> str:
    return watched_texts({"a.h": text})["a.h"]


def test_choices_get_a_product_and_lines_keep_their_numbers() -> None:
    made = _made("int f(int a)\n{\n    return a < 3 ? a : 3;\n}\n")
    assert "a < 3 ? WatchedSame() * a : 3" in made
    after = made.split("#line 1\n")[1].split("\n")
    assert after[2].strip().startswith("return")


@pytest.mark.parametrize(
    "text", ['auto a = "?";', "char a = '?';", "// what?\n", "/* a ? b */", "#if A ? 1 : 0\n#endif"]
)
def test_what_is_no_choice_stays_as_it_is(text: str) -> None:
    assert _made(text) == text


def test_separators_of_digits_begin_no_character() -> None:
    assert "? WatchedSame() *" in _made("int a = n > 100'000 ? 1 : 2; int b = '?';")
