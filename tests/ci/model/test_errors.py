"""Errors are sentences for a person: no number of an error, no path a second time."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from ci.model.errors import plainly
from tests.places import TOP

PACKAGES = ("ascendopt", "bot", "ci", "experience", "lab", "rules")


def test_a_system_error_is_its_reason_alone(tmp_path: Path) -> None:
    try:
        (tmp_path / "missing").read_text()
    except OSError as problem:
        assert plainly(problem) == "No such file or directory"


def test_a_reason_of_our_own_stays() -> None:
    assert plainly(OSError("an answer without end")) == "an answer without end"
    assert plainly(ValueError("it is a file; give a folder")) == "it is a file; give a folder"


def test_bytes_that_are_no_text_are_called_that() -> None:
    try:
        b"\xff".decode("utf-8")
    except UnicodeDecodeError as problem:
        assert plainly(problem) == "it is not UTF-8 text"


def printed_raw(tree: ast.AST) -> Iterator[int]:
    """Lines on which a caught OSError is put into a text by itself."""
    for handler in ast.walk(tree):
        if not isinstance(handler, ast.ExceptHandler) or handler.type is None:
            continue
        kinds = {node.id for node in ast.walk(handler.type) if isinstance(node, ast.Name)}
        for node in ast.walk(handler) if "OSError" in kinds else ():
            match node:
                case ast.FormattedValue(value=ast.Name(name)) if name == handler.name:
                    yield node.lineno


def test_no_sentence_shows_a_system_error_as_python_writes_it() -> None:
    files = [file for one in PACKAGES for file in (TOP / one).rglob("*.py")]
    assert len(files) > 500
    found = {str(file): [*printed_raw(ast.parse(file.read_text()))] for file in files}
    assert {file: lines for file, lines in found.items() if lines} == {}


def test_a_raw_system_error_in_a_text_is_found() -> None:
    code = "try:\n    f()\nexcept (OSError, ValueError) as p:\n    raise InputError(f'no: {p}')"
    assert [*printed_raw(ast.parse(code))] == [4]
