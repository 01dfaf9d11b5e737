"""Asks a process in the sandbox for the trace of a golden function: data comes back, checked."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from pydantic import ValidationError

from ci.create import tracing
from ci.create.graph import Described, Graph, Parameter
from ci.create.tracing import child
from ci.model.errors import InputError, worded
from ci.source import golden_child
from ci.source.golden import interpreter, library_folders, python_folders
from ci.source.readable_files import shown
from ci.system.resident import Resident, Silent
from ci.system.sandbox import Limits
from ci.system.view import Part

LIMITS: Final = Limits(seconds=300.0, memory_bytes=4 << 30)
SECONDS: Final = 60.0
"""Wall time for one case, and to load the file."""

STANDIN: Final = Path(tracing.__file__).parent / "standin"
"""Holds a package `torch` that can be traced; real tensors cannot."""

MOST_ELEMENTS: Final = 1 << 20
"""Most elements of the inputs of a task that says its sizes itself; the simulator takes a second
for these."""

_MOST_BYTES: Final = 32 << 20


class Tracer:
    """A golden function, loaded in the sandbox and ready to be traced case by case.

    Raises InputError where the function cannot be loaded or traced, with what stops it.
    """

    def __init__(self, file: Path, function: str, most_elements: int = MOST_ELEMENTS) -> None:
        self._file = file.resolve()
        self.function = function
        root = Path(child.__file__).parents[child.__name__.count(".")]
        code = (
            "import runpy, sys; sys.path += sys.argv[4:];"
            f"sys.path.append({str(root)!r}); sys.path.insert(0, {str(STANDIN)!r});"
            f"runpy.run_module({child.__name__!r}, run_name='__main__', alter_sys=False)"
        )
        self._resident = Resident(
            [
                *(interpreter(), "-I", "-S", "-c", code),
                *(str(self._file), function, str(most_elements)),
                *map(str, library_folders()),
            ],
            cwd=self._file.parent,
            readable=[
                *python_folders(),
                Path(tracing.__file__).parent,
                Part(root, (*_with_packages(child), *_with_packages(golden_child))),
                *shown(self._file.parent),
            ],
            limits=LIMITS,
        )
        first = self._answer()
        try:
            self.parameters = tuple(Parameter(**one) for one in first.get("parameters", []))
            self.described = Described(**first) if "inputs" in first else None
        except (ValidationError, TypeError):
            raise self._odd() from None

    def trace(
        self,
        inputs: Sequence[tuple[tuple[int, ...], str]],
        attrs: Mapping[str, Any],
        attributes: Sequence[str],
    ) -> Graph:
        """The graph for inputs of these shapes and dtypes; `attributes` are the parameters that
        are attributes of the operator, whether a case sets them or not."""
        question = {
            "inputs": [{"shape": list(shape), "dtype": dtype} for shape, dtype in inputs],
            "attrs": dict(attrs),
            "attributes": list(attributes),
            "dtypes": {p.name: d for p, (_, d) in zip(self.parameters, inputs, strict=False)},
            "folder": str(self._file.parent),
        }
        text = json.dumps(question).encode()
        try:
            deadline = time.monotonic() + SECONDS
            self._resident.tell([golden_child.LENGTH.pack(len(text)), text], deadline)
        except Silent as problem:
            raise InputError(f"golden {self._file.name} {problem} while it was traced.") from None
        answer = self._answer()
        try:
            return Graph(
                nodes=answer.get("nodes", ()),
                outputs=answer.get("outputs", ()),
                guards=answer.get("guards", ()),
            )
        except ValidationError as problem:
            raise InputError(f"golden {self._file.name}: {worded(problem)}.") from None

    def apart(self, golden: str, seed: int) -> list[float]:
        """How far the described task and the text of a function `golden` lie apart."""
        text = json.dumps({"check": golden, "seed": seed}).encode()
        try:
            deadline = time.monotonic() + SECONDS
            self._resident.tell([golden_child.LENGTH.pack(len(text)), text], deadline)
        except Silent as problem:
            raise InputError(f"golden {self._file.name} {problem} while it was run.") from None
        found = self._answer().get("apart")
        if not isinstance(found, list) or not all(isinstance(n, int | float) for n in found):
            raise self._odd()
        return [float(n) for n in found]

    def close(self) -> None:
        """End its process."""
        self._resident.close()

    def _answer(self) -> dict[str, Any]:
        deadline = time.monotonic() + SECONDS
        try:
            (length,) = golden_child.LENGTH.unpack(
                self._resident.hear(golden_child.LENGTH.size, deadline)
            )
            if length > _MOST_BYTES:
                raise self._odd()
            answer = json.loads(self._resident.hear(length, deadline))
        except Silent as problem:
            raise InputError(f"golden {self._file.name} {problem} while it was traced.") from None
        except ValueError:
            raise self._odd() from None
        if not isinstance(answer, dict):
            raise self._odd()
        if "refused" in answer:
            said = "".join(c if c.isprintable() else " " for c in str(answer["refused"]))
            raise InputError(f"{self._file.name} cannot be traced: {said[:1000]}")
        return answer

    def _odd(self) -> InputError:
        self._resident.close()
        return InputError(f"golden {self._file.name} gave a malformed answer.")


def _with_packages(module: ModuleType) -> list[Path]:
    """The file of a module, and those of the packages that it lies in."""
    file = Path(str(module.__file__))
    depth = module.__name__.count(".")
    packages = (folder / "__init__.py" for folder in file.parents[:depth])
    return [file, *(one for one in packages if one.is_file())]
