import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ci.proposer.llm.answer import (
    LONGEST,
    BadAnswer,
    fenced_text,
    read_line,
    read_object,
    read_words,
    spoken,
    text_of,
    words_of,
)
from ci.proposer.llm.knob_lines import read_knobs
from ci.tiling.template import TilingTemplate

TEXT = st.text(st.sampled_from('ab"\\,{}[]`~:<> \n\té\u2028'), max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(TEXT, VALUES, min_size=1, max_size=4)


@given(OBJECTS)
def test_a_plain_object_is_read_as_it_is(value: dict[str, object]) -> None:
    assert read_object(json.dumps(value)) == value


@given(OBJECTS, st.text(st.sampled_from("ab \n:,[]é"), max_size=20))
def test_prose_and_a_fence_around_an_object_do_no_harm(
    value: dict[str, object], prose: str
) -> None:
    said = json.dumps(value, indent=2)
    assert read_object(f"{prose}\n```json\n{said}\n```\n{prose}") == value


@given(st.lists(TEXT, min_size=1, max_size=4))
def test_trailing_commas_do_no_harm_and_strings_keep_theirs(texts: list[str]) -> None:
    inner = ",".join(json.dumps(t) for t in texts)
    assert read_object(f'{{"a": [{inner},], "b": ",]",}}') == {"a": texts, "b": ",]"}


@settings(max_examples=200)
@given(st.text(alphabet=st.sampled_from('{}[]",:\\`<>thinkab01 \n'), max_size=200))
def test_no_answer_makes_the_reader_fail_otherwise(text: str) -> None:
    try:
        found = read_object(text)
    except BadAnswer:
        return
    assert isinstance(found, dict)


def test_deep_nesting_is_a_mistake_and_no_crash() -> None:
    with pytest.raises(BadAnswer):
        read_object('{"a":' + "[" * 100_000)


def test_thoughts_before_the_answer_are_left_out() -> None:
    assert spoken('<think>{"a": 1}</think>\n{"b": 2}') == '{"b": 2}'
    assert read_object('<think>maybe {"a": 1}</think>{"b": 2}') == {"b": 2}


def test_named_lines_are_found_in_bold_in_lists_and_in_any_case() -> None:
    text = "Sure!\n- **Rationale:** less waiting\n* tuples: `a1`, b-2 and a1\n"
    assert read_line(text, "RATIONALE") == "less waiting"
    assert read_words(text, "TUPLES") == ("a1", "b-2", "and")
    assert read_line(text, "TITLE") == ""


def test_fields_are_one_line_and_not_longer_than_allowed() -> None:
    assert text_of({"a": " two\n lines "}, "a", 20) == "two lines"
    for wrong in ({}, {"a": ""}, {"a": 3}, {"a": "x" * 21}):
        with pytest.raises(BadAnswer):
            text_of(wrong, "a", 20)


def test_a_list_of_words_may_be_one_word_but_no_number() -> None:
    assert words_of({"a": "x"}, "a") == ("x",)
    assert words_of({"a": ["x", "x", " "]}, "a") == ("x",)
    with pytest.raises(BadAnswer):
        words_of({"a": [1]}, "a")


@pytest.mark.parametrize("mark", ["~~~x\n", "`", "```\n", "\n", "{", '"\\', ",\n", "<think>", " "])
def test_an_answer_that_opens_ever_so_much_is_read_once(mark: str) -> None:
    """One that was read anew from each mark would keep the run for hours."""
    text = mark * (LONGEST // len(mark))
    with pytest.raises(BadAnswer):
        read_object(text + '{"a": 1,,}')
    assert len(fenced_text(text)) <= LONGEST
    assert read_line(text, "RATIONALE") == ""
    assert read_knobs(text, TilingTemplate(operator="x", sources={})) == {}
