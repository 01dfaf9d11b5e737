"""Operators made of Python functions, and the text that such a function becomes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ascendopt
from ascendopt.api.function_text import function_file

SCALE = 3.0


def _doubled(x: np.ndarray) -> np.ndarray:
    return x + x


def soft(x: np.ndarray) -> np.ndarray:
    return np.tanh(_doubled(x)) * SCALE


@pytest.mark.long
def test_a_decorated_function_becomes_an_operator_and_can_still_be_called(tmp_path: Path) -> None:
    made = ascendopt.create(cases={"x": (4, 64)}, out=tmp_path / "soft")(soft)
    assert made.operator == "Soft"
    assert (tmp_path / "soft" / "op_kernel").is_dir()
    assert made(np.zeros(3)).tolist() == [0.0, 0.0, 0.0]
    assert "Soft" in made._repr_html_()


def test_a_functions_file_holds_what_it_uses_and_nothing_else(tmp_path: Path) -> None:
    place = function_file(soft, tmp_path)
    text = (tmp_path / "golden.py").read_text()
    assert place == f"{tmp_path / 'golden.py'}:soft"
    assert text.count("def ") == 2 and "SCALE = 3.0" in text and "pytest" not in text
    names: dict[str, object] = {}
    exec(text, names)
    assert np.array_equal(names["soft"](np.ones(2)), soft(np.ones(2)))  # type: ignore[operator]


def test_a_function_that_needs_an_object_is_refused_by_name(tmp_path: Path) -> None:
    names: dict[str, object] = {}
    file = tmp_path / "made.py"
    file.write_text("table = [1, 2]\ndef f(x):\n    return x + table[0]\n")
    exec(compile(file.read_text(), str(file), "exec"), names)
    with pytest.raises(ascendopt.InputError, match="f uses table"):
        function_file(names["f"], tmp_path)  # type: ignore[arg-type]


def test_a_lambda_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ascendopt.InputError, match="lambda"):
        function_file(lambda x: x, tmp_path)
