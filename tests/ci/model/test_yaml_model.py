from itertools import pairwise

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
