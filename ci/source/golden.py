"""Runs the golden function of a workload: the reference result, in Python (numpy or torch)."""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from ci.model.columns import case_dtypes, output_dtypes
from ci.model.dtypes import BY_NAME, from_bfloat16
from ci.model.errors import InputError
from ci.model.launch import Array, Tensors
from ci.model.operator import Operator
from ci.model.workload import TensorCase, Workload, WorkloadCase
from ci.source.inputs import store


class Golden:
    """The golden function of `workload`, loaded from its file.

    It is called as `function(*inputs, **attrs)` with numpy arrays (bfloat16 as float32, a tensor
    list as a list, an absent optional input as None), or with torch tensors when its file imports
    torch. Output dtypes come from the case, else from the definition of `operator`, else from what
    the function returns. Raises InputError when the workload has no golden or it cannot be loaded.
    """

    def __init__(self, workload: Workload, operator: Operator | None = None) -> None:
        self._operator = operator
        self._label = workload.golden
        if not workload.golden:
            raise InputError(f"The workload of {workload.operator} names no golden function.")
        path, _, name = workload.golden.rpartition(":")
        if not path or not name.isidentifier():
            raise InputError(f"golden: '{workload.golden}' is not of the form 'file.py:function'.")
        file = (workload.folder / path).resolve()
        if not file.is_file():
            raise InputError(f"golden: there is no file {file}.")
        module = _load(file)
        function = getattr(module, name, None)
        if not callable(function):
            raise InputError(f"golden: {file} defines no function '{name}'.")
        self._function: Callable[..., Any] = function
        self._torch = getattr(module, "torch", None)

    def outputs(self, case: WorkloadCase, inputs: Tensors) -> Tensors:
        """The reference outputs of `case`, rounded to nearest into the declared dtypes."""
        dtypes = case_dtypes(case)
        arguments = [
            self._argument(value, dtypes[i] if i < len(dtypes) else None)
            for i, value in enumerate(inputs)
        ]
        result = self._call(case, arguments)
        values = list(result) if isinstance(result, tuple) else [result]
        values = self._fit_lists(values)
        declared = output_dtypes(self._operator, case) if self._operator else []
        if self._operator and len(values) != len(self._operator.outputs):
            raise InputError(
                f"golden {self._label} returned {len(values)} outputs for case '{case.name}', but"
                f" {self._operator.op_type} declares {len(self._operator.outputs)}."
            )
        return [self._output(case, i, v, declared) for i, v in enumerate(values)]

    def _fit_lists(self, values: list[Any]) -> list[Any]:
        """A function with one tensor-list output may return the list's items as a tuple."""
        outputs = self._operator.outputs if self._operator else ()
        if len(outputs) == 1 and outputs[0].param_type == "dynamic":
            if len(values) == 1 and isinstance(values[0], list):
                return values
            return [values]
        return values

    def _argument(self, value: Array | list[Array] | None, dtype: str | None) -> Any:
        if isinstance(value, list):
            return [self._argument(v, dtype) for v in value]
        if value is None:
            return None
        bfloat16 = dtype == "bfloat16" and value.dtype == np.uint16
        array = from_bfloat16(value) if bfloat16 else value.copy()
        if self._torch is None:
            return array
        if array.dtype in (np.uint16, np.uint32, np.uint64):
            array = array.astype(np.int64)
        tensor = self._torch.from_numpy(np.ascontiguousarray(array))
        return tensor.to(self._torch.bfloat16) if bfloat16 else tensor

    def _call(self, case: WorkloadCase, arguments: list[Any]) -> Any:
        parameters = inspect.signature(self._function).parameters
        takes_all = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
        named: dict[str, Any] = {
            k: v for k, v in case.attrs.items() if takes_all or k in parameters
        }
        names = [spec.name for spec in self._operator.inputs] if self._operator else []
        if names and all(n in parameters for n in names):
            # A function that calls its parameters as the definition does may order them its way.
            named |= {
                name: _plain_number(value, parameters[name])
                for name, value in zip(names, arguments, strict=False)
            }
            arguments = []
        try:
            inspect.signature(self._function).bind(*arguments, **named)
        except TypeError as problem:
            raise InputError(
                f"golden {self._label} cannot be called with the {len(case.inputs)} inputs and"
                f" attributes ({', '.join(case.attrs) or 'none'}) of case '{case.name}': {problem}."
            ) from None
        try:
            with np.errstate(all="ignore"):
                return self._function(*arguments, **named)
        except Exception as problem:
            frames = traceback.extract_tb(problem.__traceback__)
            raise InputError(
                f"golden {self._label} failed on case '{case.name}' at line {frames[-1].lineno} of"
                f" {Path(frames[-1].filename).name}: {type(problem).__name__}: {problem}."
            ) from None

    def _output(self, case: WorkloadCase, index: int, value: Any, declared: list[str]) -> Any:
        spec = case.outputs[index] if index < len(case.outputs) else None
        if isinstance(value, list):
            items = spec if isinstance(spec, tuple) else (spec,) * len(value)
            return [
                self._cast(case, index, v, s, declared) for v, s in zip(value, items, strict=False)
            ]
        return self._cast(
            case, index, value, spec[0] if isinstance(spec, tuple) else spec, declared
        )

    def _cast(
        self,
        case: WorkloadCase,
        index: int,
        value: Any,
        spec: TensorCase | None,
        declared: list[str],
    ) -> Array:
        where = f"golden {self._label} returned for output {index} of case '{case.name}'"
        if self._torch is not None and isinstance(value, self._torch.Tensor):
            value = value.detach()
            value = (value.float() if value.dtype == self._torch.bfloat16 else value).numpy()
        array = np.asarray(value)
        if array.dtype.kind not in "biufc":
            raise InputError(f"{where} a {type(value).__name__}, not an array of numbers.")
        if spec is not None and tuple(array.shape) != spec.shape:
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
        return store(array, dtype)


def _plain_number(value: Any, parameter: inspect.Parameter) -> Any:
    """A one-element tensor as the number that the parameter's annotation asks for."""
    wants_number = parameter.annotation in (float, int, bool, "float", "int", "bool")
    size = value.numel() if hasattr(value, "numel") else getattr(value, "size", 0)
    return value.item() if wants_number and size == 1 else value


def _load(file: Path) -> ModuleType:
    """The module of `file`; its folder is importable while it loads, so that it finds siblings."""
    name = "ascendopt_golden_" + hashlib.sha256(str(file).encode()).hexdigest()[:16]
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise InputError(f"golden: {file} is not a Python file.")
    module = importlib.util.module_from_spec(spec)
    written, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    sys.path.insert(0, str(file.parent))
    try:
        spec.loader.exec_module(module)
    except ModuleNotFoundError as problem:
        raise InputError(
            f"golden: {file} needs the Python package '{problem.name}', which is not installed."
        ) from None
    except Exception as problem:
        raise InputError(
            f"golden: {file} cannot be loaded: {type(problem).__name__}: {problem}."
        ) from None
    finally:
        sys.path.remove(str(file.parent))
        sys.dont_write_bytecode = written
    return module
