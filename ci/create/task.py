"""What an operator is made from: a golden function and a workload, read before an operator is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ci.create.graph import Parameter
from ci.model.amount import amount
from ci.model.errors import InputError
from ci.model.regular_file import file_text
from ci.model.yaml_model import YamlFile
from ci.source.workload_file import MOST_BYTES
from ci.source.workload_model import GivenCase, GivenTensor, GivenWorkload

FLOATS = ("float32", "float16", "bfloat16")
"""The dtypes that an operator is built for; what it computes in between is float32."""


@dataclass(frozen=True)
class TaskCase:
    """One case: tensors in the order of the inputs, attributes."""

    name: str
    shapes: tuple[tuple[int, ...], ...]
    dtypes: tuple[str, ...]
    attrs: dict[str, Any]


@dataclass(frozen=True)
class Task:
    """A golden function with the cases that it is to be an operator for."""

    name: str
    golden: str
    """The text of the file that holds the function."""
    function: str
    workload: dict[str, Any]
    """The workload as a workload file says it."""
    inputs: tuple[str, ...]
    parameters: tuple[str, ...]
    """The inputs as the golden function calls them."""
    attributes: tuple[Parameter, ...]
    cases: tuple[TaskCase, ...]
    outputs: tuple[str, ...] = ()
    judge: str = ""
    """The function of `golden` that judges the operator, when it is another one."""
    generated: bool = False
    """Whether the golden function was written of a trace."""
    reduced: bool = False
    """Whether the sizes of a benchmark's task were halved."""

    @property
    def other_precision(self) -> str:
        """What the golden's name ends with where it computes in another precision than the one that
        judges; '' where there is no such function."""
        return "_in_double" if self.judge else "_in_float32" if self.generated else ""

    @property
    def own_text(self) -> str:
        """The golden's file without the function that judges."""
        return self.golden.removesuffix(_IN_FLOAT32.format(function=self.function))


def whole_without_range(task: Task) -> str:
    """The first input of whole numbers for which a case says no range; '' if there is none.

    Kernels compute in float32, which is exact up to 2^24: the author of a workload knows whether
    larger numbers come.
    """
    for given, case in zip(task.workload.get("cases", ()), task.cases, strict=False):
        said = given.get("inputs") or {}
        listed = list(said.values()) if isinstance(said, dict) else list(said)
        names = list(said) if isinstance(said, dict) else list(task.parameters)
        kinds = dict(zip(task.parameters, case.dtypes, strict=True))
        for name, tensor in zip(names, listed, strict=False):
            wide = kinds.get(name, "") in ("int32", "int64")
            if wide and isinstance(tensor, dict) and not {"range", "values"} & set(tensor):
                return name
    return ""


def golden_of(text: str) -> tuple[Path, str]:
    """File and function of `file.py:function`; of a bare file '' for the function."""
    path, _, name = text.rpartition(":") if re.search(r":\w+$", text) else (text, "", "")
    file = Path(path)
    if not file.is_file():
        raise InputError(f"There is no file {file} with a golden function.")
    return file, name


def functions_in(file: Path) -> list[str]:
    """The public functions that a file defines."""
    return public_functions(file_text(file))


def public_functions(text: str) -> list[str]:
    """The functions of a Python file whose names do not begin with an underscore; it is not run."""
    return re.findall(r"^def\s+([A-Za-z]\w*)\s*\(", text, re.MULTILINE)


def function_in(file: Path) -> str:
    """The one public function that a file defines, or the one of its name."""
    found = functions_in(file)
    if file.stem in found:
        return file.stem
    if len(found) == 1:
        return found[0]
    listed = ", ".join(found) or "none"
    raise InputError(f"{file} defines several functions or none ({listed}); write {file}:FUNCTION.")


def snake(name: str) -> str:
    """An operator's folder name."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    made = re.sub(r"\W+", "_", spaced).strip("_").lower()
    if not re.fullmatch(r"[a-z][a-z0-9_]*", made):
        raise InputError(f"'{name}' is no name for an operator.")
    return made


def safe(name: str) -> str:
    """The name of a tensor that is no word of C++ or of the kernels that are written."""
    lower = name.lower()
    return f"{lower}_in" if lower in _TAKEN else lower


def is_taken(name: str) -> bool:
    """Whether a value of a tile program cannot have this name: a kernel has it for something."""
    return (
        name.lower() in _TAKEN
        or len(name) > MOST_LETTERS
        or re.fullmatch(r"[a-z]\w*", name) is None
        or re.fullmatch(_OWN, name) is not None
    )


MOST_LETTERS: Final = 40
"""Most letters of the name of a value."""

_OWN: Final = (
    r"(tile|mask|rows|wide|cols|cell|lines|halo|scalar|units|half)(Work)?\d*|narrow[A-Z]\w*"
    r"|(length|at|in|out|ramp|scan|window|halo|row|col)[A-Z]\w*|(total|carry)_\w+"
    r"|\w+(Wide|Sum|Buf|Gm|Work)"
)
"""Buffers, queues and indexes of the kernels that are written."""


# fmt: off
_TAKEN: Final = frozenset((
    "auto", "bool", "break", "case", "char", "class", "const", "continue", "default", "delete",
    "do", "double", "else", "enum", "explicit", "extern", "false", "float", "for", "friend",
    "goto", "half", "if", "inline", "int", "long", "mutable", "namespace", "new", "operator",
    "private", "protected", "public", "register", "return", "short", "signed", "sizeof", "static",
    "struct", "switch", "template", "this", "throw", "true", "try", "typedef", "union",
    "unsigned", "using", "virtual", "void", "volatile", "while", "first", "last", "rest", "unit",
    "rows", "cols", "pitch", "width", "count", "stride", "pipe", "user", "op", "workspace",
    "tiling", "tile", "start", "end",
))
# fmt: on


def read_task(
    golden: Path, function: str, workload: Path, parameters: tuple[Parameter, ...]
) -> Task:
    """The task of a golden with these parameters; raises InputError naming file and key."""
    text = file_text(golden)
    raw: Any = YamlFile.open(workload, most_bytes=MOST_BYTES, aliases=True).data
    return task_of(text, function, raw, parameters, workload)


def task_of(
    golden: str,
    function: str,
    raw: dict[str, Any],
    parameters: tuple[Parameter, ...],
    workload: Path,
) -> Task:
    """The same for texts and data; `workload` is the file that errors name."""
    file = YamlFile.open(workload, most_bytes=MOST_BYTES, aliases=True)
    given = GivenWorkload(**raw) if workload.name == "cases.yaml" else file.read(GivenWorkload)
    names = _inputs(file, given.cases[0], parameters)
    plain = [p for p in parameters if not p.many]
    rest = tuple(p for p in plain if p.name not in names and p.name != "dtypes")
    lacking = [
        p.name for p in rest if not p.given and any(p.name not in c.attrs for c in given.cases)
    ]
    if lacking:
        raise InputError(
            f"{function}: '{lacking[0]}' is neither an input nor an attribute of every case, and"
            " has no default."
        )
    cases = tuple(
        _case(file, place, case, names, parameters) for place, case in enumerate(given.cases)
    )
    return Task(
        snake(given.operator or function),
        golden.rstrip() + _IN_FLOAT32.format(function=function),
        function,
        raw,
        tuple(map(safe, names)),
        names,
        rest,
        cases,
        judge=f"{function}_in_float32",
    )


# numpy rounds every step of a function of float16 arrays; a kernel computes in float32. Where an
# operator is wrong in float32 only, that is the function's own error.
_IN_FLOAT32: Final = '''


from functools import wraps

import numpy as np


@wraps({function})
def {function}_in_float32(*given, **named):
    """{function} computed in float32 at least, as the kernel computes it."""

    def wide(value):
        half = getattr(value, "dtype", None) == np.float16
        return value.astype(np.float32) if half else value

    return {function}(*map(wide, given), **{{name: wide(value) for name, value in named.items()}})


class _Double(np.ndarray):
    """An array in double precision that stays so where a function casts to float32."""

    def astype(self, dtype, *args, **named):
        narrow = np.dtype(dtype) in (np.float16, np.float32)
        return super().astype(np.float64 if narrow else dtype, *args, **named)


@wraps({function})
def {function}_in_double(*given, **named):
    """{function} computed in double precision, which tells its own error in float32."""

    def wide(value):
        if not isinstance(value, np.ndarray):
            return value
        return (value.astype(np.float64) if value.dtype.kind == "f" else value).view(_Double)

    def plain(value):
        return np.asarray(value) if isinstance(value, np.ndarray) else value

    found = {function}(*map(wide, given), **{{name: wide(value) for name, value in named.items()}})
    return tuple(map(plain, found)) if isinstance(found, tuple) else plain(found)
'''


def _inputs(file: YamlFile, case: GivenCase, parameters: tuple[Parameter, ...]) -> tuple[str, ...]:
    many = next((p.name for p in parameters if p.many), "")
    known = [p.name for p in parameters if not p.many]
    if many:  # the case says how many there are
        first = [p.name for p in parameters[: [p.many for p in parameters].index(True)]]
        if isinstance(case.inputs, dict):
            return tuple(case.inputs)
        count = len(case.inputs or ()) - len(first)
        return (*first, *(f"{many}{i}" for i in range(count)))
    if isinstance(case.inputs, dict):
        for name in case.inputs:
            if name not in known:
                what = f"names '{name}'; the golden function has {', '.join(known)}"
                raise file.wrong(["cases", 0, "inputs", name], what)
        return tuple(n for n in known if n in case.inputs)
    if case.inputs is None or len(case.inputs) > len(known):
        listed = ", ".join(known) or "none by name"
        what = (
            f"gives {amount(len(case.inputs or ()), 'input')}; the golden function's"
            f" parameters: {listed}"
        )
        raise file.wrong(["cases", 0, "inputs"], what)
    return tuple(known[: len(case.inputs)])


def _case(
    file: YamlFile,
    place: int,
    case: GivenCase,
    names: tuple[str, ...],
    parameters: tuple[Parameter, ...],
) -> TaskCase:
    where = ("cases", place, "inputs")
    given = case.inputs
    if isinstance(given, dict):
        if set(given) != set(names):
            raise file.wrong(where, f"must give {', '.join(names)} as the first case does")
        values = [given[n] for n in names]
    elif given is not None and len(given) == len(names):
        values = list(given)
    else:
        raise file.wrong(where, f"must give {', '.join(names)} as the first case does")
    for name, value in zip(names, values, strict=True):
        if not isinstance(value, GivenTensor) or value.dtype is None:
            raise file.wrong((*where, name), "must be one tensor with shape and dtype")
    tensors = [v for v in values if isinstance(v, GivenTensor)]
    attrs = {p.name for p in parameters} - set(names)
    for name in case.attrs:
        if name not in attrs:
            raise file.wrong(("cases", place, "attrs", name), "is no parameter of the golden")
    return TaskCase(
        case.name or f"case{place}",
        tuple(tuple(t.full_shape) for t in tensors),
        tuple(t.dtype or "" for t in tensors),
        dict(case.attrs),
    )
