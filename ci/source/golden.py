"""Asks the golden function of a workload for the right outputs: Python (numpy or torch).

The function is somebody's code: it runs in the sandbox, in a process that stays for all cases
(`golden_child.py`). Arrays go in and come out as raw bytes, and what comes out is checked here.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
import sys
import sysconfig
import threading
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ci.model.amount import amount
from ci.model.columns import case_dtypes, output_dtypes
from ci.model.dtypes import BY_NAME, from_bfloat16, unpack
from ci.model.errors import InputError
from ci.model.launch import Array, Tensors
from ci.model.operator import Operator
from ci.model.workload import Entry, TensorCase, Workload, WorkloadCase
from ci.source import golden_child
from ci.source.inputs import store
from ci.source.readable_files import home, shown, within
from ci.source.second_answer import MOST_BYTES as SECOND_BYTES
from ci.source.second_answer import Second, alike, size
from ci.system.resident import Resident, Silent
from ci.system.sandbox import Level, Limits

LIMITS = Limits(seconds=6 * 3600.0, memory_bytes=8 << 30)
"""Limits of a golden's process in its life; torch alone maps some GiB of addresses."""

CASE_SECONDS = 600.0
"""Wall time that a golden may take for one case."""

LOAD_SECONDS = 120.0
"""Wall time to load it; importing torch from a cold disk takes half a minute."""

MOST_BYTES = 1 << 30
"""Most bytes of the outputs of one case, before they are rounded into their dtypes. This process
holds them
several times over; a varied attribute, such as the size to scale to, asks for any size."""

LIBRARIES = ("numpy", "scipy", "torch")
"""A golden may import what is installed next to these."""

_HEAD_BYTES = 1 << 20
_DTYPES = frozenset(
    [
        "|b1",
        "|i1",
        "|u1",
        "<i2",
        "<u2",
        "<i4",
        "<u4",
        "<i8",
        "<u8",
        "<f2",
        "<f4",
        "<f8",
        "<c8",
        "<c16",
    ]
)


class Golden:
    """The golden function of `workload`, loaded from its file.

    It is called as `function(*inputs, **attrs)` with numpy arrays (bfloat16 as float32, int4 as
    int8, a tensor list as a list, an absent optional input as None), or with torch tensors when its
    file imports torch. One with a parameter `dtypes` gets the dtype's name of each input and output
    by the name in the definition. Output dtypes come from the case, else from the definition of
    `operator`, else from what the function returns. Raises InputError when the workload has no
    golden or it cannot be loaded. Safe to share by threads; it ends with `close` or when forgotten.
    """

    def __init__(
        self, workload: Workload, operator: Operator | None = None, *, level: Level | None = None
    ) -> None:
        self._operator = operator
        self._label = workload.golden
        self._level = level
        self._file, self._name = golden_function(workload)
        self._readable = [
            *python_folders(),
            *dict.fromkeys(
                part for folder in (self._file.parent, workload.folder) for part in shown(folder)
            ),
        ]
        self._lock = threading.Lock()
        self._resident = self._started()
        self._second = Second()
        self._fault = ""

    def outputs(
        self,
        case: WorkloadCase,
        inputs: Tensors,
        *,
        exact: bool = False,
        most_bytes: int = MOST_BYTES,
    ) -> Tensors:
        """The reference outputs of `case`, rounded to nearest into the declared dtypes.

        Raises InputError for more than `most_bytes` before they are rounded.

        `exact`: the function gets every floating-point input as float64, and what it returns as
        float64 for a floating-point output is left unrounded.
        """
        declared = output_dtypes(self._operator, case) if self._operator else []
        values = self._fit_lists(self._asked(case, inputs, declared, exact, most_bytes))
        if self._operator and len(values) != len(self._operator.outputs):
            raise InputError(
                f"golden {self._label} returned {amount(len(values), 'output')} for case"
                f" '{case.name}', but"
                f" {self._operator.op_type} declares {len(self._operator.outputs)}."
            )
        return [self._output(case, i, v, declared, exact) for i, v in enumerate(values)]

    def close(self) -> None:
        """End its processes."""
        self._resident.close()
        self._second.close()

    # The process

    def _started(self) -> Resident:
        code = (
            "import runpy, sys; sys.path += sys.argv[3:];"
            f"runpy.run_path({golden_child.__file__!r}, run_name='__main__')"
        )
        resident = Resident(
            [
                *(interpreter(), "-I", "-S", "-c", code),
                *(str(self._file), self._name),
                *map(str, library_folders()),
            ],
            cwd=self._file.parent,
            readable=self._readable,
            limits=LIMITS,
            level=self._level,
        )
        try:
            self._head(resident, time.monotonic() + LOAD_SECONDS)
        except _Refused as problem:
            resident.close()
            raise InputError(f"golden: {problem}") from None
        except Silent as problem:
            raise InputError(f"golden {self._label} {problem} while it was loaded.") from None
        return resident

    def _asked(
        self,
        case: WorkloadCase,
        inputs: Tensors,
        declared: Sequence[str],
        exact: bool,
        most_bytes: int,
    ) -> list[Any]:
        """What the function returns for a case, as arrays and lists of them."""
        own = case_dtypes(case)
        arrays: list[Array] = []
        inputs = [_unpacked(value, spec) for value, spec in zip(inputs, case.inputs, strict=True)]
        given = [_argument(value, kind, exact) for value, kind in zip(inputs, own, strict=True)]
        kinds = ["float64" if exact and k and BY_NAME[k].is_float else k for k in own]
        head = {
            "case": case.name,
            "arguments": golden_child.told(given, arrays),
            "kinds": kinds,
            "attrs": case.attrs,
            "names": [spec.name for spec in self._operator.inputs] if self._operator else [],
            "dtypes": self._dtypes(own, declared),
        }
        parts = golden_child.packed(head, arrays)
        with self._lock:  # a golden function need not be thread-safe
            if self._fault:
                raise InputError(self._fault)
            if not self._resident.alive:  # such as with the thread that started it
                self._resident.close()
                self._resident = self._started()
            found = self._answer(self._resident, case, parts, most_bytes)
            twice = size(arrays) + size(found) <= SECOND_BYTES
            if twice and not alike(found, self._again(case, parts, most_bytes)):
                self._fault = (
                    f"golden {self._label} answered the inputs of case '{case.name}' in two"
                    " ways: it must keep nothing from call to call, and not depend on time,"
                    " chance or its process."
                )
                raise InputError(self._fault)
            return found

    def _again(
        self, case: WorkloadCase, parts: Sequence[bytes | memoryview], most_bytes: int
    ) -> list[Any]:
        """What the other process answers; asked twice when it fails where the first did not."""
        resident = self._second.next(self._started)
        try:
            return self._answer(resident, case, parts, most_bytes)
        except InputError:
            if not resident.alive:
                raise
            return self._answer(resident, case, parts, most_bytes)

    def _answer(
        self,
        resident: Resident,
        case: WorkloadCase,
        parts: Sequence[bytes | memoryview],
        most_bytes: int,
    ) -> list[Any]:
        """What a process answers to a question. Raises InputError."""
        deadline = time.monotonic() + CASE_SECONDS
        try:
            resident.tell(parts, deadline)
            head = self._head(resident, deadline)
            return self._arrays(resident, case, head, deadline, most_bytes)
        except _Refused as problem:
            raise InputError(f"golden {self._label} {problem}.") from None
        except Silent as problem:
            raise InputError(
                f"golden {self._label} {problem} while it computed case '{case.name}'."
            ) from None

    def _dtypes(self, inputs: Sequence[str | None], outputs: Sequence[str]) -> dict[str, str]:
        specs = (*self._operator.inputs, *self._operator.outputs) if self._operator else ()
        return {s.name: d for s, d in zip(specs, (*inputs, *outputs), strict=False) if d}

    def _head(self, resident: Resident, deadline: float) -> dict[str, Any]:
        """The head of its next message; raises _Refused with what it says is wrong."""
        (length,) = golden_child.LENGTH.unpack(resident.hear(golden_child.LENGTH.size, deadline))
        if length > _HEAD_BYTES:
            raise self._odd(resident)
        try:
            head = json.loads(resident.hear(length, deadline))
        except ValueError:
            raise self._odd(resident) from None
        if not isinstance(head, dict):
            raise self._odd(resident)
        if "refused" in head:
            raise _Refused(_harmless(str(head["refused"])))
        return head

    def _arrays(
        self,
        resident: Resident,
        case: WorkloadCase,
        head: dict[str, Any],
        deadline: float,
        most_bytes: int,
    ) -> list[Any]:
        """The arrays of an answer. Nothing of it is believed: a golden can write to the pipe."""
        described = head.get("outputs")
        if not isinstance(described, list):
            raise self._odd(resident)
        left = most_bytes

        def read(one: Any, *, nested: bool = False) -> Any:
            nonlocal left
            if isinstance(one, list) and not nested:
                return [read(item, nested=True) for item in one]
            shape = one.get("shape") if isinstance(one, dict) else None
            if (
                not isinstance(shape, list)
                or len(shape) > 32
                or not all(type(n) is int and 0 <= n < 1 << 40 for n in shape)
                or one.get("dtype") not in _DTYPES
            ):
                raise self._odd(resident)
            dtype = np.dtype(one["dtype"])
            size = math.prod(shape) * dtype.itemsize
            if size > left:
                resident.close()  # what it still says is no answer to the next question
                raise _Refused(f"returned more than {most_bytes >> 20} MiB for case '{case.name}'")
            left -= size
            return np.frombuffer(resident.hear(size, deadline), dtype).reshape(shape)

        return [read(one) for one in described]

    def _odd(self, resident: Resident) -> InputError:
        resident.close()
        return InputError(
            f"golden {self._label} gave a malformed answer; it must not write to its"
            " process's output."
        )

    # The values

    def _fit_lists(self, values: list[Any]) -> list[Any]:
        """A function with one tensor-list output may return the list's items as a tuple, and one of
        several plain outputs may return these as a list."""
        outputs = self._operator.outputs if self._operator else ()
        whole = values[0] if len(values) == 1 and isinstance(values[0], list) else []
        if whole and len(whole) == len(outputs) and all(o.param_type != "dynamic" for o in outputs):
            return whole
        if len(outputs) == 1 and outputs[0].param_type == "dynamic":
            if len(values) == 1 and isinstance(values[0], list):
                return values
            return [values]
        return values

    def _output(
        self, case: WorkloadCase, index: int, value: Any, declared: list[str], exact: bool
    ) -> Any:
        spec = case.outputs[index] if index < len(case.outputs) else None
        if isinstance(value, list):
            items = spec if isinstance(spec, tuple) else (spec,) * len(value)
            return [
                self._cast(case, index, v, s, declared, exact)
                for v, s in zip(value, items, strict=False)
            ]
        one = spec[0] if isinstance(spec, tuple) else spec
        return self._cast(case, index, value, one, declared, exact)

    def _cast(
        self,
        case: WorkloadCase,
        index: int,
        array: Array,
        spec: TensorCase | None,
        declared: list[str],
        exact: bool,
    ) -> Array:
        where = f"golden {self._label} returned for output {index} of case '{case.name}'"
        if spec is not None and not self._within(index, array.shape, spec.shape):
            if array.size != int(np.prod(spec.shape)):
                raise InputError(
                    f"{where} the shape {list(array.shape)}, but the case declares"
                    f" {list(spec.shape)}."
                )
            array = array.reshape(spec.shape)
        name = spec.dtype if spec else declared[index] if index < len(declared) else ""
        dtype = BY_NAME.get(name or array.dtype.name)
        if dtype is None:
            raise InputError(f"{where} the unknown dtype '{name or array.dtype.name}'.")
        if dtype.bits < 8 and spec is None:
            raise InputError(f"{where} {dtype.name}: say its shape under the case's outputs.")
        left = exact and dtype.is_float and array.dtype == np.float64
        return array if left else store(array, dtype)

    def _within(self, index: int, shape: tuple[int, ...], declared: tuple[int, ...]) -> bool:
        """Whether an output of this shape is as declared; at most so where the kernel tells it."""
        told = self._operator is not None and self._operator.outputs[index].shape_depends
        if told and len(shape) == len(declared):
            return all(one <= most for one, most in zip(shape, declared, strict=True))
        return tuple(shape) == declared


class _Refused(Exception):
    """What a golden's process says is wrong; the text finishes a sentence."""


def golden_function(workload: Workload) -> tuple[Path, str]:
    """File and name of a workload's golden function.

    Raises InputError when it has none, and for a file outside the workload's repository (`home`):
    the folder of a golden is shown to it.
    """
    if not workload.golden:
        raise InputError(f"The workload of {workload.operator} names no golden function.")
    path, _, name = workload.golden.rpartition(":")
    if not path or not name.isidentifier():
        raise InputError(f"golden: '{workload.golden}' is not of the form 'file.py:function'.")
    file = Path(os.path.realpath(workload.folder / path))
    if not file.is_file():
        raise InputError(f"golden: there is no file {file}.")
    own = home(workload.folder)
    if not within(file, own, beside=workload.folder):
        raise InputError(
            f"golden: '{workload.golden}' leads to {file}, which is hidden, mounted, linked to"
            f" elsewhere or lies outside {own}; a golden lies in the repository of its workload."
        )
    return file, name


@cache
def library_folders() -> tuple[Path, ...]:
    """The folders where the libraries of goldens are installed."""
    found = (importlib.util.find_spec(name) for name in LIBRARIES)
    places = (Path(spec.origin).parents[1] for spec in found if spec and spec.origin)
    return tuple(dict.fromkeys(places))


@cache
def interpreter() -> str:
    """The Python that the sandbox is shown: a virtual environment may hold a copy of it."""
    return os.path.realpath(getattr(sys, "_base_executable", sys.executable))


@cache
def python_folders() -> tuple[Path, ...]:
    """The interpreter with its library, packages, and the program of the child."""
    base = Path(sys.base_prefix), Path(sysconfig.get_path("stdlib"))
    return (*base, Path(golden_child.__file__), *library_folders())


def _unpacked(value: Array | list[Array] | None, spec: Entry) -> Any:
    """An input with one element a place."""
    if isinstance(value, list) and isinstance(spec, tuple):
        return [_unpacked(one, each) for one, each in zip(value, spec, strict=True)]
    dtype = BY_NAME.get(spec.dtype) if isinstance(spec, TensorCase) else None
    if not isinstance(value, np.ndarray) or dtype is None or dtype.bits >= 8:
        return value
    assert isinstance(spec, TensorCase)
    return unpack(value, dtype)[: math.prod(spec.shape)].reshape(spec.shape)


def _argument(value: Array | list[Array] | None, kind: str | None, exact: bool) -> Any:
    """An input as golden functions know it."""
    if isinstance(value, list):
        return [_argument(one, kind, exact) for one in value]
    if value is not None and kind == "bfloat16" and value.dtype == np.uint16:
        value = from_bfloat16(value)
    return (
        value.astype(np.float64)
        if exact and value is not None and value.dtype.kind == "f"
        else value
    )


def _harmless(text: str) -> str:
    """A child's words on one line, cut."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:1000]
