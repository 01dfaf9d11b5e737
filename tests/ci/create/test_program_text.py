"""Tile programs are read from their texts, and what is wrong in a text is said by line."""

import re
from pathlib import Path

import pytest

from ci.create.emit_kernel import kernel_text
from ci.create.lower import lower
from ci.create.phase_text import BadProgram
from ci.create.program import Program
from ci.create.program_text import Given, read_program
from ci.create.scalar_text import BadScalar, read_scalar
from ci.create.schedule import program_of
from rules.load import RULES
from tests.ci.create.test_program import Shapes, layout, tracer

PROGRAMS = RULES / "prompts" / "programs"
GIVEN = {
    "elementwise": Given({"x": "T"}, {"x": 2}, ("slope",)),
    "normalization": Given({"x": "T", "gamma": "T"}, {"x": 2, "gamma": 1}, ("eps",)),
    "loss": Given({"p": "T", "t": "T"}, {"p": 2, "t": 2}),
    "index": Given({"x": "T"}, {"x": 2}),
    "scan": Given({"x": "T"}, {"x": 3}),
}


def kernel(program: Program) -> str:
    return kernel_text(lower(program), "title")


@pytest.mark.parametrize(
    ("name", "shapes"),
    [
        ("gelu", ((7, 11),)),
        ("leaky", ((3, 5, 7),)),
        ("softmax", ((5, 23),)),
        ("group_norm", ((3, 8, 13), (8,), (8,))),
        ("batch_norm", ((4, 6, 17),)),
        ("step", ((5, 14), (5, 14), (5, 14))),
        ("from_the_end", ((4, 12, 6),)),
        ("running", ((5, 12),)),
        ("columns_first", ((2, 7, 11), (11,))),
        ("convolved", ((2, 4, 7, 9), (5, 4, 3, 3), (5,))),
        ("each_channel", ((2, 4, 7, 9), (4, 3, 3))),
        ("at_places", ((7, 12), (5,), (7,), (7,))),
    ],
)
def test_a_program_read_from_its_text_is_the_same_kernel(name: str, shapes: Shapes) -> None:
    made = layout(name, shapes)
    program = program_of(name, made)
    free = [p.name for p in tracer(name).parameters[len(shapes) :]]
    given = Given({t.name: t.dtype for t in program.inputs}, made.ranks, free)
    read = read_program(program.text(), given).program
    assert read.text() == program.text()
    assert kernel(read) == kernel(program)


@pytest.mark.parametrize("file", sorted(PROGRAMS.glob("*.txt")), ids=lambda f: f.stem)
def test_each_example_of_the_prompt_is_a_program_that_is_lowered(file: Path) -> None:
    assert "CopyOut" in kernel(read_program(file.read_text(), GIVEN[file.stem]).program)


SOFTMAX = """program softmax(x: T[A, B]) -> y: T[A, B]
  A = x.0
  B = x.1

  cores share A; tiles along B with rows of A:
    for tiles of B:
      x = load x [tile]
      most <- fold max(x) for each of rows
    low = mul(most, -1) [rows]
    for tiles of B:
      x = load x [tile]
      below = add(x, low) [tile]
      power = exp(below) [tile]
      whole <- fold sum(power) for each of rows
    for tiles of B:
      x = load x [tile]
      below = add(x, low) [tile]
      power = exp(below) [tile]
      share = div(power, whole) [tile]
      store y, share
"""


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("program softmax", "import os", r"Line 1 .*begins with `program NAME"),
        ("(x: T[A, B])", "(x: float32[A, B])", r"Line 1 .*the inputs are, in this order, x: T"),
        ("A = x.0", "A = x.7", r"Line 2 .*'x.7' is no value"),
        ("A = x.0", "A = __import__('os').system('id')", "Line 2 .*is no part of an expression"),
        ("A = x.0", f"A = 1{' + 1' * 100}", "Line 2 .*more than 200 names, numbers and signs"),
        ("power = exp(below)", "р = exp(below)", "Line 13 holds a character that is not ASCII"),
        ("  B = x.1\n", "", r"Line 1 .*with a line of its own"),
        ("cores share A;", "cores share B;", r"Line 5 .*is either shared by the cores or gone"),
        ("along B with rows of A", "along B", r"Line 5 .*with rows of B"),
        ("load x [tile]\n      most", "load z [tile]\n      most", r"Line 7 .*no input 'z'"),
        ("load x [tile]\n      most", "load x [rows]\n      most", r"Line 7 .*of kind tile, not"),
        ("fold max(x)", "fold median(x)", r"Line 8 .*no fold 'median'"),
        ("    low = mul(most, -1)", "    low = mul(x, -1)", r"Line 9 .*'x' is not known here"),
        ("    low = mul", "    low = tanh", r"Line 9 .*no operation 'tanh'"),
        ("low = mul(most, -1)", "low = mul(most, exp(most))", r"Line 9 .*a line of its own"),
        ("power = exp(below)", "power = gt(below, most)", r"Line 13 .*over the same groups"),
        ("power = exp(below)", "power = exp(below, 2)", r"Line 13 .*takes 1 argument"),
        ("      share = div", "      most = div", r"Line 19 .*name of something else"),
        ("store y, share", "store y, whole", r"Line 20 .*output 'y' over A, B"),
        ("      store y, share\n", "", "Output 'y' is never stored"),
        ("      store y, share", "      store y, share\n      store y, share", "stored already"),
        ("    low = mul", "    for tiles of A:\n    low = mul", "loops of one phase go over the"),
    ],
)
def test_a_mistake_is_a_sentence_that_names_its_line(old: str, new: str, says: str) -> None:
    given = Given({"x": "T"}, {"x": 2})
    read_program(SOFTMAX, given)
    assert old in SOFTMAX
    with pytest.raises(BadProgram, match=says):
        read_program(SOFTMAX.replace(old, new, 1), given)


def test_a_value_may_have_a_name_that_the_kernel_has_for_something_else() -> None:
    text = re.sub(r"\bpower\b", "tile", re.sub(r"\bmost\b", "while", SOFTMAX))
    assert "v_while" in kernel(read_program(text, Given({"x": "T"}, {"x": 2})).program)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 / A*B", 1 / 12),
        ("-A ** 2", -9.0),
        ("2 ** -1", 0.5),
        ("(x.1 - 1) / 2 + eps", 3.5),
        ("max(A, B) * sqrt(4)", 8.0),
        ("1e-3", 1e-3),
        ("8 - 3 - 2", 3.0),
    ],
)
def test_numbers_are_read_as_they_are_written(text: str, value: float) -> None:
    read = read_scalar(text, ("A", "B"), lambda name: name in ("x.1", "eps"))
    assert read.evaluate({"x.1": 6.0, "eps": 1.0}, {"A": 3, "B": 4}) == pytest.approx(value)


@pytest.mark.parametrize("text", ["9 ** 9 ** 9 ** 9", "(-8) ** 0.5", "floor(1 / 0)"])
def test_a_number_that_there_is_not_is_no_error_of_ours(text: str) -> None:
    found = read_scalar(text, (), lambda name: False).evaluate({}, {})
    assert found != found or abs(found) == float("inf")


@pytest.mark.parametrize(
    "text", ["", "A +", "(" * 100 + "1" + ")" * 100, "1 2", "eval(1)", "max(1)", "f'{x}'", "A.b"]
)
def test_what_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(BadScalar):
        read_scalar(text, ("A",), lambda name: False)
