"""The text of a function with what it needs, as a file that stands alone."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from ci.model.errors import InputError


def function_file(function: Callable[..., Any], folder: Path) -> str:
    """Write `golden.py` into `folder` with the function and all that it names.

    It holds the imports, numbers and functions that the function uses, and nothing else. Returns
    `file.py:function`. Raises InputError for a function whose text or needs cannot be written.
    """
    if not isinstance(function, FunctionType):
        raise InputError("create takes a function that is defined in Python, or file.py:function.")
    parts: dict[str, str] = {}
    _add(function, parts)
    file = folder / "golden.py"
    imports = sorted(text for text in parts.values() if text.startswith("import "))
    rest = [text for text in parts.values() if not text.startswith("import ")]
    file.write_text("\n".join(imports) + "\n\n\n" + "\n\n".join(rest), encoding="utf-8")
    return f"{file}:{function.__name__}"


def _add(function: FunctionType, parts: dict[str, str]) -> None:
    """Add the function's text behind the texts of what it names."""
    name = function.__name__
    if name in parts:
        return
    if not name.isidentifier():
        raise InputError("A lambda has no name; define the function with `def`.")
    if function.__closure__:
        raise InputError(
            f"{name} uses variables of the function around it"
            f" ({', '.join(function.__code__.co_freevars)}); give them as arguments."
        )
    parts[name] = ""  # a function may name itself
    text = _text(function)
    for used in _names(text):
        if used != name and used in function.__globals__:
            _add_value(used, function.__globals__[used], name, parts)
    del parts[name]
    parts[name] = text


def _add_value(name: str, value: object, user: str, parts: dict[str, str]) -> None:
    if isinstance(value, ModuleType):
        parts[name] = f"import {value.__name__} as {name}"
    elif isinstance(value, (bool, int, float, str)):
        parts[name] = f"{name} = {value!r}\n"
    elif isinstance(value, FunctionType) and value.__name__ == name:
        _add(value, parts)
    elif getattr(value, "__module__", "").partition(".")[0] == "numpy":
        parts[name] = f"import numpy; {name} = numpy.{getattr(value, '__name__', name)}"
    else:
        raise InputError(
            f"{user} uses {name}, which is neither a module, a number, a text nor a function;"
            " define it inside the function."
        )


def _text(function: FunctionType) -> str:
    """Return the `def` without decorators."""
    try:
        text = textwrap.dedent(inspect.getsource(function))
        tree = ast.parse(text)
    except (OSError, SyntaxError) as problem:
        raise InputError(
            f"The text of {function.__name__} cannot be found; write it into a file and give"
            " file.py:function."
        ) from problem
    definition = tree.body[0]
    if not isinstance(definition, ast.FunctionDef):
        raise InputError(f"{function.__name__} is no function that `def` defines.")
    definition.decorator_list = []
    return ast.unparse(definition) + "\n"


def _names(text: str) -> list[str]:
    """Return the names that the text reads, each once, in order."""
    read = (n.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name))
    return list(dict.fromkeys(read))
