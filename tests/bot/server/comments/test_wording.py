from __future__ import annotations

import ast

from bot.server.comments import wording
from tests.places import TOP


def test_every_sentence_that_is_asked_for_is_there_with_as_many_values() -> None:
    """And none is there that nobody asks for."""
    macros = vars(wording._macros())
    asked = {"comment"}
    for file in (TOP / "bot" / "server").rglob("*.py"):
        for call in ast.walk(ast.parse(file.read_text())):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "said":
                name, *values = call.args
                assert isinstance(name, ast.Constant), f"{file}:{call.lineno}"
                asked.add(name.value)
                if not any(isinstance(value, ast.Starred) for value in values):
                    assert len(macros[name.value].arguments) == len(values), name.value
    assert asked == {name for name, macro in macros.items() if hasattr(macro, "arguments")}
