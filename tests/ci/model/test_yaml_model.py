from contextlib import suppress
from itertools import pairwise
from typing import Literal

import pytest
from pydantic import Field

from ci.model.errors import InputError
from ci.model.frozen import Frozen
from ci.model.yaml_model import YamlFile, model_problems, read_model


class Part(Frozen):
    size: int = Field(default=1, ge=0)


class Whole(Frozen):
    name: str
    parts: tuple[Part, ...] = ()
    named: dict[str, Part] = Field(default_factory=dict)


BOMB = "a: &a [x, x]\n" + "".join(
    f"{new}: &{new} [{f'*{old}, ' * 9}]\n" for old, new in pairwise("abcdefghi")
)


def test_a_fault_deep_in_a_list_is_told_with_its_own_line() -> None:
    with pytest.raises(InputError) as caught:
        read_model(Whole, "name: x\nparts:\n  - size: 1\n  - size: -2\n", "f.yml")
    told = "f.yml line 4: parts[1].size: must be greater than or equal to 0, not '-2'."
    assert str(caught.value) == told


def test_a_misspelt_key_comes_before_what_is_missing_for_it() -> None:
    first, second = model_problems(Whole, "parts: []\nnmae: x\n", "f.yml")
    assert first == "f.yml line 2: nmae is not a known key; known here: name, parts, named."
    assert second == "f.yml line 1: name is missing."


def test_a_key_below_a_name_of_ones_own_is_told_with_the_keys_known_there() -> None:
    (told,) = model_problems(Whole, "name: x\nnamed:\n  one: {sise: 1}\n", "f.yml")
    assert told == "f.yml line 3: named.one.sise is not a known key; known here: size."


@pytest.mark.parametrize(
    ("text", "read"), [("010", "8"), ("1:30", "90"), ("-0_7", "-7"), ("00.5", "0.5")]
)
def test_a_number_that_yaml_takes_for_another_is_refused(text: str, read: str) -> None:
    with pytest.raises(InputError, match=f"f line 2: .*'{text}' is {read} in YAML"):
        YamlFile(f"a: 1\nb: {text}\n", "f")
    assert YamlFile(f"a: '{text}'\nb: 0\nc: 0.5\nd: 0x10\n", "f").data["d"] == 16


def test_aliases_are_read_only_where_they_are_asked_for() -> None:
    text = "name: x\nparts: [&p {size: 3}, *p]\n"
    assert YamlFile(text, "f.yml", aliases=True).read(Whole).parts == (Part(size=3),) * 2
    with pytest.raises(InputError, match="line 2: aliases"):
        YamlFile(text, "f.yml")


@pytest.mark.parametrize("text", [BOMB, "a: &a [*a]\n"])
def test_an_alias_that_stands_for_too_much_or_for_itself_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="more than 1000000 values|an alias of itself"):
        YamlFile(text, "f.yml", aliases=True)


@pytest.mark.parametrize(
    "text", ["- 1", "x", "a: 1\na: 2", "a: \0", b"\xff", "[" * 3000, "a: 2001-99-99", "x" * 300_000]
)
def test_what_is_no_mapping_of_yaml_is_one_sentence(text: str | bytes) -> None:
    (told,) = model_problems(Whole, text, "f.yml")
    assert told.startswith("f.yml") and "\n" not in told


ODD = [
    *("2001-99-99", "2001-01-01T99:99:99Z", "0b_", "0x_", "1e999", "190:20:30.15", "1__2", "="),
    *("!!timestamp x", "!!bool x", "!!int ''", "!!float '.'", "!!binary x", "!!null 1", "!x y"),
    *("!!python/object:os.system ls", "!!omap [a: b]", "!!set {a}", "? [a]\n: b", "{{a: 1}: 2}"),
    *("9" * 5000, "0x" + "f" * 5000, "-" + "9" * 400, "1e" + "9" * 400, "9" * 30 + ":1"),
    *("&a [*a]", "{<<: [1]}", "<<: x"),
    *('"\\0"', '"\\u202e"', "\x00", "\u202ea", "\x85", "%YAML 9.9\n---", "---\n---\na: 1", "@x"),
]


class Odd(Frozen):
    """Takes a value of each kind."""

    number: int = 0
    share: float = 0.0
    flag: bool = False
    word: Literal["a", "b"] = "a"
    pair: tuple[float, float] = (0, 1)
    names: dict[str, int] = {}


@pytest.mark.parametrize("value", ODD)
def test_no_value_of_yaml_ends_in_anything_but_a_sentence(value: str) -> None:
    places = [value, f"{value}: 1", f"[{value}]", *(f"{n}: {value}" for n in Odd.model_fields)]
    for text in (*places, f"pair: [{value}, 1]", f"names: {{{value}: {value}}}"):
        for problem in model_problems(Odd, text.encode(), "odd.yml"):
            assert problem.startswith("odd.yml") and len(problem) < 5600
        with suppress(InputError):
            read_model(Odd, text, "odd.yml")


@pytest.mark.parametrize("value", ["[" * 200, "{a: " * 200, "\n- " + "- " * 200])
def test_a_value_in_many_others_is_a_sentence_with_its_line(value: str) -> None:
    (said,) = model_problems(Odd, f"pair: {value}", "odd.yml")
    assert "odd.yml line" in said and "it lies in more than 100 others" in said


@pytest.mark.parametrize("value", ["[" * 2000, "{a: " * 2000, "\n- " + "- " * 2000])
def test_a_value_in_thousands_of_others_is_a_sentence(value: str) -> None:
    (said,) = model_problems(Odd, f"pair: {value}", "odd.yml")
    assert said.startswith("odd.yml")


def test_what_lies_in_ninety_others_is_read() -> None:
    assert YamlFile("[" * 90 + "]" * 90, "odd.yml").data != []
    assert YamlFile("- [1, 2]\n" * 200, "odd.yml").data == [[1, 2]] * 200


@pytest.mark.parametrize("value", ["!!bool x", "!!timestamp x", "2001-99-99", "0x" + "f" * 17])
def test_a_value_that_yaml_cannot_be_read_as_is_named_by_its_line(value: str) -> None:
    (said,) = model_problems(Odd, f"flag: true\nnumber: {value}", "odd.yml")
    assert said.startswith("odd.yml line 2: this is not YAML: ")


def test_a_tab_that_indents_is_named() -> None:
    (said,) = model_problems(Odd, "flag: true\npair:\n\t- 1\n", "odd.yml")
    assert said == "odd.yml line 3: this is not YAML: a tab indents it, and YAML takes only blanks."
