"""Calls an operator through aclnn: a program generated from its definition and the header.

The pair of functions of an operator (aclnnAddGetWorkspaceSize, aclnnAdd) is declared in a header of
its package, generated from the definition or written by hand; `ci.backend.cann.arguments` says what
its parameters are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from ci.backend.cann.arguments import Arranged, arrange
from ci.backend.cann.package import Package
from ci.model.columns import case_column
from ci.model.dtypes import BY_NAME
from ci.model.errors import InputError
from ci.model.launch import Array, Tensors
from ci.model.operator import AttrSpec, Operator
from ci.model.workload import WorkloadCase

FORMATS: Final = {"NCHW": 0, "NHWC": 1, "ND": 2, "NC1HWC0": 3, "HWCN": 16, "NDHWC": 27,
                  "FRACTAL_NZ": 29, "NCDHW": 30, "NCL": 47}  # fmt: skip
"""aclFormat by name: acl/acl_base.h."""

_DECLARED: Final = re.compile(r"\b(aclnn\w+?)GetWorkspaceSize\s*\(([^)]*)\)", re.S)
_COMMENT: Final = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)


@dataclass(frozen=True)
class Function:
    """A pair of aclnn functions as a header declares it."""

    name: str
    header: Path
    parameters: tuple[tuple[str, str], ...]
    """(type without const, name), without the last two: size of the workspace, and executor."""


def find_function(package: Package, operator: Operator) -> Function:
    """The operator's pair of functions. Raises InputError naming what the package has."""
    declared = [f for header in package.headers for f in functions(header)]
    wanted = [f"aclnn{operator.op_type}", f"aclnnInner{operator.op_type}"]
    for name in wanted:
        for one in declared:
            if one.name == name:
                return one
    named = ", ".join(sorted(one.name for one in declared)) or "no function at all"
    raise InputError(
        f"The package of {operator.op_type} declares {named}, but not {wanted[0]}; use"
        " --backend cann-direct."
    )


def functions(header: Path) -> list[Function]:
    """The pairs of functions that a header declares."""
    text = _COMMENT.sub(" ", header.read_text(encoding="utf-8", errors="replace"))
    found = []
    for name, inside in _DECLARED.findall(text):
        parameters = tuple(_parameter(part) for part in inside.split(",") if part.strip())
        found.append(Function(name, header, parameters[:-2]))
    return found


def arguments_of(function: Function, operator: Operator) -> Arranged:
    """What the function's parameters are. Raises InputError when they do not fit the definition."""
    return arrange(function.name, function.parameters, operator)


def caller_unit(function: Function, operator: Operator) -> str:
    """The program's own part: both functions with the arguments in their order.

    Raises InputError when the parameters do not fit the definition.
    """
    given = arguments_of(function, operator).arguments
    arguments = ", ".join([*given, "bytes", "executor"])
    return "\n".join(
        [
            '#include "caller.h"',
            f'#include "{function.header}"',
            "namespace npu {",
            "aclnnStatus prepare(const Arguments& arguments, uint64_t* bytes,"
            " aclOpExecutor** executor) {",
            "    (void)arguments;",
            f"    return {function.name}GetWorkspaceSize({arguments});",
            "}",
            "aclnnStatus execute(void* workspace, uint64_t bytes, aclOpExecutor* executor,"
            " aclrtStream stream) {",
            f"    return {function.name}(workspace, bytes, executor, stream);",
            "}",
            "}  // namespace npu",
            "",
        ]
    )


def compile_caller(home: Path, package: Package, sources: Path) -> list[str]:
    """The command that compiles `caller.cpp` in its folder to `caller`.

    Libraries as the examples of cann-ops link them (AclNNInvocationNaive/CMakeLists.txt).
    """
    library = package.library
    return [
        *("g++", "-std=c++17", "-O1", "-I.", f"-I{sources}"),
        *(f"-I{home / 'include'}", f"-I{package.vendor / 'op_api' / 'include'}"),
        *("caller.cpp", "-o", "caller", str(library), f"-Wl,-rpath,{library.parent}"),
        *(f"-L{home / 'lib64'}", "-lascendcl", "-lnnopbase"),
        "-Wl,--allow-shlib-undefined",
    ]


def parameters_of(operator: Operator) -> list[tuple[int | None, int | None]]:
    """The tensors of a call as (input, output) by index: an output of an input's name is one."""
    names = [spec.name for spec in operator.inputs]
    outputs = {spec.name: i for i, spec in enumerate(operator.outputs)}
    found: list[tuple[int | None, int | None]] = [(i, outputs.get(n)) for i, n in enumerate(names)]
    return found + [(None, i) for n, i in outputs.items() if n not in names]


def write_call(
    folder: Path, operator: Operator, case: WorkloadCase, inputs: Tensors, outputs: Tensors,
    *, device: int, launches: int,
) -> tuple[Path, list[list[Path]]]:  # fmt: skip
    """The request of a call, and the files that will hold each output.

    Raises InputError for an attribute that neither case nor definition gives.
    """
    lines = [f"device\t{device}", f"repeat\t{launches}"]
    lines += [f"attribute\t{_attribute(case, spec)}" for spec in operator.attrs]
    column = case_column(operator, case)
    found: list[list[Path]] = [[] for _ in outputs]
    for entry, (number, result) in enumerate(parameters_of(operator)):
        lines.append("parameter")
        spec = operator.inputs[number] if number is not None else operator.outputs[result or 0]
        name = spec.formats[min(column, len(spec.formats) - 1)] if spec.formats else "ND"
        role = "output" if number is None else "input" if result is None else "both"
        given = inputs[number] if number is not None else outputs[result or 0]
        dtype = _dtype(operator, case, number, result, column)
        for place, array in enumerate(_arrays(given)):
            file = folder / f"tensor{entry}_{place}"
            if role != "output":
                np.ascontiguousarray(array).tofile(file)
            dims = ",".join(map(str, array.shape))
            kind = BY_NAME[dtype].number if dtype else BY_NAME[array.dtype.name].number
            lines.append(f"{role}\t{kind}\t{FORMATS.get(name, 2)}\t{dims}\t{array.nbytes}\t{file}")
            if result is not None:
                found[result].append(Path(f"{file}.out"))
    request = folder / "request"
    request.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return request, found


def _arrays(given: Array | list[Array] | None) -> list[Array]:
    if given is None:
        return []
    return given if isinstance(given, list) else [given]


def _dtype(
    operator: Operator, case: WorkloadCase, number: int | None, result: int | None, column: int
) -> str:
    """The dtype as it is declared: bfloat16 travels as uint16."""
    if number is not None:
        entry = case.inputs[number] if number < len(case.inputs) else None
        first = entry[0] if isinstance(entry, tuple) and entry else entry
        if first is not None and not isinstance(first, tuple):
            return first.dtype
    spec = operator.inputs[number] if number is not None else operator.outputs[result or 0]
    return spec.dtypes[min(column, len(spec.dtypes) - 1)] if spec.dtypes else ""


def _attribute(case: WorkloadCase, spec: AttrSpec) -> str:
    value = case.attrs.get(spec.name, spec.default)
    if value is None:
        raise InputError(f"case '{case.name}' gives no attribute '{spec.name}'.")
    values = value if isinstance(value, (list, tuple)) else [value]
    return ",".join(str(int(v)) if isinstance(v, bool) else str(v) for v in values)


def _parameter(text: str) -> tuple[str, str]:
    words = text.replace("*", " * ").replace("&", " ").split()
    words = [word for word in words if word != "const"]
    stars = sum(word == "*" for word in words)
    plain = [word for word in words if word != "*"]
    name = plain[-1] if len(plain) > 1 else ""
    kind = " ".join(plain[:-1] if name else plain)
    return kind + "*" * stars, name
