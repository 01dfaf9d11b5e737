"""Reads a cann-bench task folder: proto.yaml (declaration), cases.yaml, golden.py."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from ci.model.dtypes import BY_NAME, find_dtype
from ci.model.errors import InputError
from ci.model.operator import Operator
from ci.model.workload import AttrValue, TensorCase, Tolerance, Workload, WorkloadCase
from ci.system.yaml_fields import Fields, as_number, describe, is_shape, read_yaml

_Given = TensorCase | tuple[TensorCase, ...]


def is_bench_task(folder: Path) -> bool:
    """True for a folder with proto.yaml and cases.yaml."""
    return (folder / "proto.yaml").is_file() and (folder / "cases.yaml").is_file()


def load_bench_task(operator: Operator, folder: Path) -> Workload:
    """The workload of a task folder, its inputs ordered as in the definition of `operator`.

    An attribute of the task that the operator declares as a (scalar) input becomes a one-element
    tensor. Raises InputError naming file and key.
    """
    proto_file, case_file = folder / "proto.yaml", folder / "cases.yaml"
    proto = Fields(
        Fields(read_yaml(proto_file), proto_file).data.get("operator"), proto_file, "operator"
    )
    names = [
        Fields(entry, proto_file, f"operator.inputs[{i}]").text("name")
        for i, entry in enumerate(proto.items("inputs"))
    ]
    top = Fields(read_yaml(case_file), case_file)
    cases = tuple(
        _case(operator, Fields(entry, case_file, f"cases[{i}]"), names)
        for i, entry in enumerate(top.items("cases"))
    )
    golden = ""
    if (folder / "golden.py").is_file():
        golden = "golden.py:" + _golden_function(folder / "golden.py", proto)
    return Workload(
        operator=operator.op_type,
        cases=cases,
        golden=golden,
        folder=folder.resolve(),
        tolerances=_thresholds(proto),
    )


def _golden_function(file: Path, proto: Fields) -> str:
    text = file.read_text(encoding="utf-8", errors="replace")
    defined: list[str] = re.findall(r"^def\s+([A-Za-z]\w*)\s*\(", text, re.MULTILINE)
    wanted = re.match(r"\s*(\w+)\s*\(", proto.text("schema", ""))
    name = wanted.group(1) if wanted else ""
    if name in defined:
        return name
    squeezed = proto.text("name").lower()
    for candidate in defined:
        if candidate.replace("_", "").lower() == squeezed:
            return candidate
    raise InputError(f"{file} defines no function '{name or squeezed}' that its proto.yaml names.")


def _thresholds(proto: Fields) -> dict[str, Tolerance]:
    if not proto.has("precision_thresholds"):
        return {}
    given = Fields(proto.data["precision_thresholds"], proto.file, "precision_thresholds")
    return {
        dtype.name: Tolerance(relative=given.number(key), absolute=given.number(key))
        for key in given.data
        if (dtype := find_dtype(str(key))) is not None
    }


def _case(operator: Operator, fields: Fields, names: list[str]) -> WorkloadCase:
    shapes, dtypes = fields.items("input_shape"), fields.items("dtype")
    ranges = fields.data.get("value_range")
    if len(shapes) > len(names):
        raise fields.wrong(
            "input_shape", f"has {len(shapes)} entries, but proto.yaml has {len(names)} inputs"
        )
    given: dict[str, _Given | None] = {}
    for i, name in enumerate(names):
        shape = shapes[i] if i < len(shapes) else None
        if shape is None:
            given[name] = None
            continue
        dtype = dtypes[min(i, len(dtypes) - 1)]
        low_high = _range(fields, ranges, i)
        if is_shape(shape):
            given[name] = _tensor(fields, f"input_shape[{i}]", shape, dtype, low_high)
        elif isinstance(shape, list):
            given[name] = tuple(
                _tensor(fields, f"input_shape[{i}][{k}]", s, dtype, low_high)
                for k, s in enumerate(shape)
            )
        else:
            raise fields.wrong(f"input_shape[{i}]", f"must be a shape, not {describe(shape)}")
    attrs = Fields(fields.data.get("attrs") or {}, fields.file, fields.at("attrs"))
    return WorkloadCase(
        name=f"case{fields.text('case_id', fields.place)}",
        inputs=tuple(_for_operator(operator, fields, given, attrs.data)),
        attrs=_declared_attrs(operator, attrs.data),
    )


def _range(fields: Fields, ranges: Any, index: int) -> tuple[float, float]:
    """The range of input `index`: one pair for all, or a pair an input; non-finite ends are cut."""
    pair = ranges
    if isinstance(ranges, list) and any(isinstance(r, list) or r is None for r in ranges):
        pair = ranges[index] if index < len(ranges) else None
    if pair is None:
        return (-1.0, 1.0)
    numbers = [as_number(v) for v in pair] if isinstance(pair, list) else []
    if len(numbers) != 2 or numbers[0] is None or numbers[1] is None:
        raise fields.wrong("value_range", f"must hold pairs [low, high], not {describe(pair)}")
    low, high = (
        max(-65504.0, min(65504.0, n)) if n == n else 0.0 for n in numbers if n is not None
    )
    return (min(low, high), max(low, high))


def _tensor(
    fields: Fields, key: str, shape: Any, dtype: Any, low_high: tuple[float, float]
) -> TensorCase:
    known = find_dtype(str(dtype))
    if known is None:
        raise fields.wrong("dtype", f"has '{dtype}', no dtype; known: {', '.join(BY_NAME)}")
    if not is_shape(shape):
        raise fields.wrong(key, f"must be a shape, not {describe(shape)}")
    return TensorCase(shape=tuple(shape), dtype=known.name, range=low_high)


def _for_operator(
    operator: Operator, fields: Fields, given: dict[str, _Given | None], attrs: dict[str, Any]
) -> list[_Given]:
    """The inputs in the operator's order: by name where names agree, else by position."""
    names = [s.name for s in operator.inputs]
    by_name = all(n in names for n in given)
    ordered = list(given.values())
    first = next((t for t in ordered if t is not None), None)
    found: list[_Given] = []
    for i, spec in enumerate(operator.inputs):
        value = given.get(spec.name) if by_name else ordered[i] if i < len(ordered) else None
        if value is None and spec.name in attrs and (n := as_number(attrs[spec.name])) is not None:
            value = TensorCase(shape=(1,), dtype=_scalar_dtype(operator, i, first), values=(n,))
        if value is None:
            if spec.param_type == "required":
                raise fields.wrong("input_shape", f"gives nothing for the input '{spec.name}'")
            empty = TensorCase(shape=(0,), dtype=(spec.dtypes or ("float32",))[0], present=False)
            value = () if spec.param_type == "dynamic" else empty
        if spec.param_type == "dynamic" and isinstance(value, TensorCase):
            value = (value,)
        found.append(value)
    return found


def _scalar_dtype(operator: Operator, index: int, first: _Given | None) -> str:
    """The dtype that the definition pairs with the first input's."""
    one = first[0] if isinstance(first, tuple) and first else first
    spec, lead = operator.inputs[index], operator.inputs[0]
    if isinstance(one, TensorCase) and one.dtype in lead.dtypes:
        column = lead.dtypes.index(one.dtype)
        if column < len(spec.dtypes):
            return spec.dtypes[column]
    return spec.dtypes[0] if spec.dtypes else "float32"


def _declared_attrs(operator: Operator, attrs: dict[str, Any]) -> dict[str, AttrValue]:
    declared = {a.name for a in operator.attrs}
    found: dict[str, AttrValue] = {}
    for name, value in attrs.items():
        if name in declared and value is not None:
            found[name] = tuple(value) if isinstance(value, list) else value
    return found
