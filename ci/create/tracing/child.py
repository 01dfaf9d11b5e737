"""Traces a golden function, a case a question: `child.py FILE FUNCTION`, in the sandbox.

A message, either way, is its length (8 bytes, little endian) and JSON. A question tells shapes and
dtypes of the inputs and the attributes; an answer the nodes of the tape and which of them are
returned, or `refused` with a sentence.
"""

from __future__ import annotations

import inspect
import json
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ci.create.tracing import derived as derived  # it enters all of numpy's functions
from ci.create.tracing import ordered as ordered
from ci.create.tracing import positions
from ci.create.tracing import scattered as scattered
from ci.create.tracing import windowed as windowed
from ci.create.tracing.array import Traced, lift
from ci.create.tracing.symbols import SymbolicFloat, SymbolicInt, symbolic
from ci.create.tracing.tape import Tape, Untraceable
from ci.create.tracing.torch_task import TorchTask, check, symbols
from ci.source.golden_child import LENGTH, load


def trace(function: Callable[..., Any] | TorchTask, asked: dict[str, Any]) -> dict[str, Any]:
    """The tape of one call; raises Untraceable."""
    tape = Tape()
    inputs = []
    for number, one in enumerate(asked["inputs"]):
        dtype = "float32" if one["dtype"] == "bfloat16" else one["dtype"]
        node = tape.write("input", (), tuple(one["shape"]), dtype, number=number)
        inputs.append(Traced(tape, node, tuple(one["shape"]), dtype))
    if isinstance(function, TorchTask):
        numbers = symbols(tape, function.attributes, asked["attrs"])
        return _answered(tape, lambda: function.call(inputs, numbers), asked["folder"])
    attrs = {name: _attribute(tape, name, value) for name, value in asked["attrs"].items()}
    parameters = inspect.signature(function).parameters
    named = {k: v for k, v in attrs.items() if k in parameters}
    for name, parameter in parameters.items():
        if name in asked["attributes"] and name not in named:
            named[name] = _attribute(tape, name, parameter.default)
    if "dtypes" in parameters:
        named["dtypes"] = asked["dtypes"]
    call: Callable[..., Any] = function
    return _answered(tape, lambda: call(*inputs, **named), asked["folder"])


def _answered(tape: Tape, call: Callable[[], Any], folder: str) -> dict[str, Any]:
    try:
        with np.errstate(all="ignore"):
            result = call()
    except Untraceable as problem:
        raise Untraceable(f"{_where(folder, problem)}{problem}") from None
    except Exception as problem:
        raise Untraceable(
            f"{_where(folder, problem)}It fails while it is traced:"
            f" {type(problem).__name__}: {problem}"
        ) from None
    values = list(result) if isinstance(result, tuple | list) else [result]
    outputs = [lift(tape, v) for v in values]
    guards = [list(one) for one in tape.guards]
    return {"nodes": tape.nodes, "outputs": [v.node for v in outputs], "guards": guards}


def _attribute(tape: Tape, name: str, value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return tuple(value) if isinstance(value, list) else value
    kind = SymbolicInt if isinstance(value, int) else SymbolicFloat
    node = tape.write("attr", dtype="int64" if kind is SymbolicInt else "float64", name=name)
    return symbolic(tape, node, value)


def _where(folder: str, problem: BaseException) -> str:
    frames = traceback.extract_tb(problem.__traceback__)
    own = [f for f in frames if f.filename.startswith(folder)]
    return f"Line {own[-1].lineno} of {Path(own[-1].filename).name}: " if own else ""


def _torch_task(module: Any, most: int) -> TorchTask:
    try:
        return TorchTask(module, most)
    except Untraceable:
        raise
    except Exception as problem:
        raise Untraceable(f"It cannot be set up: {type(problem).__name__}: {problem}") from None


def described(function: Callable[..., Any]) -> list[dict[str, Any]]:
    """The parameters: name, and the default of those that have one."""
    found = []
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind == parameter.VAR_KEYWORD:
            continue
        if parameter.kind == parameter.VAR_POSITIONAL:
            found.append({"name": name, "many": True})
            continue
        has = parameter.default is not parameter.empty
        plain = isinstance(parameter.default, int | float | str | bool | tuple | type(None))
        found.append(
            {"name": name, "default": parameter.default if has and plain else None, "given": has}
        )
    return found


def serve(file: Path, name: str, most: int) -> None:
    """Answer until the questions end."""
    questions, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)

    def say(answer: dict[str, Any]) -> None:
        text = json.dumps(answer).encode()
        answers.write(LENGTH.pack(len(text)) + text)
        answers.flush()

    positions.install()
    try:
        module = load(file)
        function = getattr(module, name, None)
        if not callable(function):
            raise Untraceable(f"{file.name} defines no function '{name}'.")
        if isinstance(function, type):
            function = _torch_task(module, most)
            say(function.described())
        else:
            say({"parameters": described(function)})
    except (Untraceable, ValueError) as problem:
        say({"refused": str(problem)})
        return
    while length := questions.read(LENGTH.size):
        asked = json.loads(questions.read(LENGTH.unpack(length)[0]))
        try:
            if "check" in asked and isinstance(function, TorchTask):
                say({"apart": check(function, asked["check"], asked["seed"])})
            else:
                say(trace(function, asked))
        except Untraceable as problem:
            say({"refused": str(problem)})
        except Exception as problem:
            say({"refused": f"It fails: {type(problem).__name__}: {problem}"})


if __name__ == "__main__":
    serve(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
