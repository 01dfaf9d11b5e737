"""Reads a cann-bench task folder: proto.yaml (declaration), cases.yaml, golden.py."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field

from ci.model.amount import amount
from ci.model.dtypes import BY_NAME, find_dtype
from ci.model.errors import InputError
from ci.model.frozen import Frozen
from ci.model.operator import Operator
from ci.model.regular_file import file_text
from ci.model.workload import AttrValue, Entry, TensorCase, Tolerance, Workload, WorkloadCase
from ci.model.yaml_model import Place, YamlFile
from ci.source.workload_model import absent, as_number, as_pair, as_shape

_MOST_BYTES = 4_000_000


def _shapes(value: Any) -> Any:
    """A shape, a tuple of shapes for a list of tensors, or None."""
    if isinstance(value, list) and any(isinstance(item, list) for item in value):
        return [as_shape(item) for item in value]
    return None if value is None else as_shape(value)


def _ranges(value: Any) -> Any:
    """A pair for all inputs, or a list with one for each, or None; non-finite ends are cut."""
    if isinstance(value, list) and any(isinstance(item, list) or item is None for item in value):
        return [_ranges(item) for item in value]
    if value is None:
        return None
    cut = [max(-65504.0, min(65504.0, n)) if n == n else 0.0 for n in as_pair(value)]
    return min(cut), max(cut)


class _Some(Frozen):
    """A mapping of a task, of which we read some keys."""

    model_config = ConfigDict(frozen=True, extra="ignore", coerce_numbers_to_str=True)


class _Input(_Some):
    name: str


class _Declaration(_Some):
    name: str = ""
    signature: str = Field(default="", alias="schema")
    precision_thresholds: dict[str, Annotated[float, Field(ge=0, le=1e9)]] | None = None
    inputs: tuple[_Input, ...] = Field(min_length=1)


class _Proto(_Some):
    operator: _Declaration


class _Case(_Some):
    case_id: str | None = None
    input_shape: tuple[Annotated[Any, BeforeValidator(_shapes)], ...] = Field(min_length=1)
    dtype: tuple[Any, ...] = Field(min_length=1)
    value_range: Annotated[Any, BeforeValidator(_ranges)] = None
    attrs: dict[str, Any] | None = None


class _Cases(_Some):
    cases: tuple[_Case, ...] = Field(min_length=1)


def is_cann_bench(folder: Path) -> bool:
    """True for a folder with proto.yaml and cases.yaml."""
    return (folder / "proto.yaml").is_file() and (folder / "cases.yaml").is_file()


def load_cann_bench(operator: Operator, folder: Path) -> Workload:
    """The workload of a task folder, its inputs ordered as in the definition of `operator`.

    An attribute of the task that the operator declares as a (scalar) input becomes a one-element
    tensor. Raises InputError naming file and key.
    """
    proto = YamlFile.open(folder / "proto.yaml", most_bytes=_MOST_BYTES, aliases=True)
    declared = proto.read(_Proto).operator
    file = YamlFile.open(folder / "cases.yaml", most_bytes=_MOST_BYTES, aliases=True)
    names = [one.name for one in declared.inputs]
    golden = folder / "golden.py"
    return Workload(
        operator=operator.op_type,
        cases=tuple(
            _case(operator, file, one, number, names)
            for number, one in enumerate(file.read(_Cases).cases)
        ),
        golden="golden.py:" + _golden_function(golden, declared) if golden.is_file() else "",
        folder=folder.resolve(),
        tolerances={
            dtype.name: Tolerance(relative=threshold, absolute=threshold)
            for key, threshold in (declared.precision_thresholds or {}).items()
            if (dtype := find_dtype(key)) is not None
        },
    )


def _golden_function(file: Path, declared: _Declaration) -> str:
    text = file_text(file)
    defined: list[str] = re.findall(r"^def\s+([A-Za-z]\w*)\s*\(", text, re.MULTILINE)
    wanted = re.match(r"\s*(\w+)\s*\(", declared.signature)
    name = wanted.group(1) if wanted else ""
    if name in defined:
        return name
    squeezed = declared.name.lower()
    for candidate in defined:
        if candidate.replace("_", "").lower() == squeezed:
            return candidate
    raise InputError(f"{file} defines no function '{name or squeezed}' that its proto.yaml names.")


def _case(
    operator: Operator, file: YamlFile, given: _Case, number: int, names: list[str]
) -> WorkloadCase:
    place = ("cases", number)
    shapes, count = given.input_shape, len(given.input_shape)
    if count > len(names):
        what = (
            f"has {amount(count, 'entry', 'entries')}, but proto.yaml has"
            f" {amount(len(names), 'input')}"
        )
        raise file.wrong((*place, "input_shape"), what)
    tensors: dict[str, Entry | None] = {}
    for i, name in enumerate(names):
        shape = shapes[i] if i < count else None
        if shape is None:
            tensors[name] = None
            continue
        at = min(i, len(given.dtype) - 1)
        dtype = find_dtype(str(given.dtype[at]))
        if dtype is None:
            what = f"'{given.dtype[at]}' is no dtype; known: {', '.join(BY_NAME)}"
            raise file.wrong((*place, "dtype", at), what)
        ranges = given.value_range
        pair = (ranges[i] if i < len(ranges) else None) if isinstance(ranges, list) else ranges
        one = [
            TensorCase(shape=s, dtype=dtype.name, range=pair or (-1.0, 1.0))
            for s in (shape if isinstance(shape, list) else [shape])
        ]
        tensors[name] = tuple(one) if isinstance(shape, list) else one[0]
    attrs = given.attrs or {}
    return WorkloadCase(
        name=f"case{number if given.case_id is None else given.case_id}",
        inputs=tuple(_for_operator(operator, file, place, tensors, attrs)),
        attrs=_declared_attrs(operator, attrs),
    )


def _for_operator(
    operator: Operator,
    file: YamlFile,
    place: Place,
    given: dict[str, Entry | None],
    attrs: dict[str, Any],
) -> list[Entry]:
    """The inputs in the operator's order: by name where names agree, else by position."""
    names = [s.name for s in operator.inputs]
    by_name = all(n in names for n in given)
    ordered = list(given.values())
    first = next((t for t in ordered if t is not None), None)
    found: list[Entry] = []
    for i, spec in enumerate(operator.inputs):
        value = given.get(spec.name) if by_name else ordered[i] if i < len(ordered) else None
        if value is None and spec.name in attrs and (n := as_number(attrs[spec.name])) is not None:
            value = TensorCase(shape=(1,), dtype=_scalar_dtype(operator, i, first), values=(n,))
        if value is None:
            if spec.param_type == "required":
                what = f"gives nothing for the input '{spec.name}'"
                raise file.wrong((*place, "input_shape"), what)
            value = () if spec.param_type == "dynamic" else absent(spec)
        if spec.param_type == "dynamic" and isinstance(value, TensorCase):
            value = (value,)
        found.append(value)
    return found


def _scalar_dtype(operator: Operator, index: int, first: Entry | None) -> str:
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
