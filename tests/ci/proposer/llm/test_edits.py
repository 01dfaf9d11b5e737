import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ci.proposer.llm.answer import BadAnswer
from ci.proposer.llm.edits import apply_edits, digest, read_edits

KERNEL = """class K {
    void Init()
    {
        a = 1;
        b = 2;
    }
    void Process()
    {
        a = 1;
        Add(y, x, n);
    }
};
"""
TEXTS = {"op_kernel/k.cpp": KERNEL, "op_kernel/k.h": "int limit = 3;\n"}


def block(search: str, replace: str, file: str = "op_kernel/k.cpp") -> str:
    return f"<<<<<<< SEARCH {file}\n{search}\n=======\n{replace}\n>>>>>>> REPLACE\n"


def applied(text: str) -> dict[str, str]:
    return apply_edits(TEXTS, read_edits(text))


def mistake(text: str) -> str:
    with pytest.raises(BadAnswer) as caught:
        applied(text)
    return str(caught.value)


def test_a_block_replaces_the_lines_it_searches_for() -> None:
    changed = applied("Here you go:\n" + block("        Add(y, x, n);", "        Sub(y, x, n);"))
    assert changed == {"op_kernel/k.cpp": KERNEL.replace("Add", "Sub")}


def test_an_empty_replacement_deletes_the_lines() -> None:
    text = "<<<<<<< SEARCH op_kernel/k.cpp\n        b = 2;\n=======\n>>>>>>> REPLACE"
    assert applied(text)["op_kernel/k.cpp"] == KERNEL.replace("        b = 2;\n", "")


def test_other_indentation_is_forgiven_and_carried_over() -> None:
    changed = applied(block("Add(y, x, n);\n}", "Sub(y, x, n);\nif (n) {\n    b = 3;\n}\n}"))
    assert (
        "        Sub(y, x, n);\n        if (n) {\n            b = 3;" in changed["op_kernel/k.cpp"]
    )


def test_a_whole_function_replaces_the_one_of_its_name() -> None:
    body = "    void Init()\n    {\n        a = 7;\n    }"
    text = f"<<<<<<< FUNCTION op_kernel/k.cpp Init\n{body}\n>>>>>>> END"
    changed = applied(text)["op_kernel/k.cpp"]
    assert "a = 7;" in changed
    assert "b = 2;" not in changed
    assert changed.endswith(KERNEL[KERNEL.index("    void Process") :])


def test_edits_as_json_are_read_too() -> None:
    edits = [{"file": "k.h", "search": "limit = 3", "replace": "limit = 4"}]
    assert applied(json.dumps({"edits": edits})) == {"op_kernel/k.h": "int limit = 4;\n"}


def test_lines_that_are_not_there_are_named_with_the_nearest() -> None:
    said = mistake(block("        Add(y, x, m);", "x"))
    assert "not in op_kernel/k.cpp" in said
    assert "Add(y, x, n);" in said


def test_lines_that_stand_there_twice_are_refused() -> None:
    assert "2 times" in mistake(block("        a = 1;", "        a = 2;"))
    assert "2 times" in mistake(block("a = 1", "a = 2"))


def test_an_edit_that_changes_nothing_is_refused() -> None:
    assert "change nothing" in mistake(block("        b = 2;", "        b = 2;"))


def test_an_empty_search_is_refused() -> None:
    assert "searches for nothing" in mistake(block("", "int x;"))


@pytest.mark.parametrize(
    "file", ["/etc/passwd", "../k.cpp/../../x", "op_host/k.cpp.orig", "k.hpp", "op_kernel/k.cpp\0"]
)
def test_a_file_that_is_not_offered_cannot_be_named(file: str) -> None:
    assert "may not be changed" in mistake(block("        b = 2;", "", file))


def test_a_broken_program_is_noticed_before_a_build() -> None:
    assert "no longer valid C++" in mistake(block("        b = 2;\n    }", "        b = 2;"))


def test_invisible_characters_are_refused() -> None:
    assert "invisible" in mistake(block("        b = 2;", "        b = 3; // \u202e evil"))


def test_a_block_that_is_cut_off_is_said_to_be_incomplete() -> None:
    assert "not complete" in mistake("<<<<<<< SEARCH op_kernel/k.cpp\n        b = 2;\n=======\nb")
    assert "no edit" in mistake("I would double the buffers.")


def test_an_unknown_function_is_answered_with_the_known_ones() -> None:
    text = "<<<<<<< FUNCTION op_kernel/k.cpp Run\nvoid Run() {}\n>>>>>>> END"
    assert "Init, Process" in mistake(text)


def test_markers_in_an_edit_are_dropped() -> None:
    search = "        // EVOLVE-BLOCK-START partition\n        b = 2;"
    changed = applied(block(search, "        b = 3;\n        // EVOLVE-BLOCK-END"))
    assert changed["op_kernel/k.cpp"] == KERNEL.replace("b = 2", "b = 3")


PIECES = st.sampled_from(
    [
        "<<<<<<< SEARCH k.cpp",
        "<<<<<<< FUNCTION k.cpp Init",
        "=======",
        ">>>>>>> REPLACE",
        ">>>>>>> END",
    ]
    + ["        b = 2;", "void Init() {}", "}", '{"edits": [', '{"file": 1}', "", "text \u2028"]
)


@settings(max_examples=300)
@given(st.lists(PIECES, max_size=14))
def test_no_answer_touches_another_file_or_fails_otherwise(lines: list[str]) -> None:
    try:
        changed = applied("\n".join(lines))
    except BadAnswer:
        return
    assert changed.keys() <= TEXTS.keys()
    assert all(text != TEXTS[file] for file, text in changed.items())


@given(
    st.integers(0, len(KERNEL.splitlines()) - 1), st.integers(1, 4), st.text("ab;= ", max_size=9)
)
def test_any_lines_that_stand_there_once_can_be_replaced(first: int, count: int, new: str) -> None:
    lines = KERNEL.splitlines()
    part = lines[first : first + count]
    try:
        changed = applied(block("\n".join(part), f"// {new}"))
    except BadAnswer as problem:
        said = str(problem)
        assert "times" in said or "valid C++" in said
        return
    whole = changed["op_kernel/k.cpp"].splitlines()
    assert whole[:first] == lines[:first]
    assert whole[first + 1 :] == lines[first + len(part) :]


@pytest.mark.parametrize(
    ("place", "line"),
    [
        ("1-1 {}", "@1 99999999999999"),
        ("1" * 5000 + "-1 {}", "x"),
        ("1-1 {}", "@" + "9" * 5000 + " 0"),
    ],
)
def test_a_number_without_end_is_no_place_of_a_line(place: str, line: str) -> None:
    there = place.format(digest(KERNEL.split("\n")[0]))
    text = f"<<<<<<< LINES op_kernel/k.cpp {there}\n{line}\n>>>>>>> END\n"
    try:
        assert len(applied(text)["op_kernel/k.cpp"]) < 20_000
    except BadAnswer as problem:
        assert "op_kernel/k.cpp" in str(problem)
