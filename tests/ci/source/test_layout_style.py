from __future__ import annotations

from pathlib import Path

import pytest

from ci.model.operator import Operator
from ci.source.layout_style import clang_format, laid_out, style_file
from ci.testing.model_operator import HOST, HOST_FILE, write

LOOP = "for(uint32_t i=0;i<2;i++){tile+=i;}"
PLACE = "    tiling.set_total(total);\n"
ATTACHED = "BasedOnStyle: Google\nIndentWidth: 4\n"


@pytest.fixture
def operator(tmp_path: Path) -> Operator:
    return write(tmp_path)


def changed(operator: Operator, line: str, style: str | None) -> str:
    if style is not None:
        (operator.root / ".clang-format").write_text(style)
    text = HOST.replace(PLACE, f"{line}\n{PLACE}")
    return laid_out(operator, {HOST_FILE: text})[HOST_FILE]


def test_changed_lines_are_laid_out_and_no_others(operator: Operator) -> None:
    made = changed(operator, LOOP, ATTACHED).splitlines()
    new = [line for line in made if line not in HOST.splitlines()]
    assert new == ["    for (uint32_t i = 0; i < 2; i++) {", "        tile += i;"]
    # Google's style would write `TilingContext *context` and attach the brace.
    kept = [line for line in HOST.splitlines() if line not in made]
    assert kept == []


def test_without_a_style_file_a_text_stays(operator: Operator) -> None:
    assert LOOP in changed(operator, LOOP, None)


@pytest.mark.parametrize(
    ("line", "style"),
    [
        ("if (total) tile = 1;", "BasedOnStyle: Google\nInsertBraces: true\n"),
        ("tile = (((total)));", "RemoveParentheses: ReturnStatement\nRemoveSemicolon: true\n"),
        ("uint32_t const  wide = 1;", "QualifierAlignment: Left\n"),
        ('printf("' + "word " * 30 + '");', "BasedOnStyle: LLVM\nColumnLimit: 60\n"),
        ("uint64_t large = 1000000;", "IntegerLiteralSeparator: {Decimal: 3}\n"),
        ("// Why  it is so", "CommentPragmas: '^ x'\nno_such_key: 1\n"),
    ],
)
def test_what_would_be_more_than_layout_is_left_as_it_was(
    operator: Operator, line: str, style: str
) -> None:
    text = HOST.replace(PLACE, f"{line}\n{PLACE}")
    made = changed(operator, line, style)
    assert made == text or "".join(made.split()) == "".join(text.split())


def test_a_style_file_above_the_repository_is_not_the_repositorys(tmp_path: Path) -> None:
    (tmp_path / ".clang-format").write_text(ATTACHED)
    top = tmp_path / "repository"
    source = top / "src" / "a.cpp"
    assert style_file(source, top) is None
    source.parent.mkdir(parents=True)
    (top / "_clang-format").write_text(ATTACHED)
    assert style_file(source, top) == top / "_clang-format"


def test_the_program_is_a_dependency() -> None:
    assert clang_format() is not None
