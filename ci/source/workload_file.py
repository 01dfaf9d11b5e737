"""Reads a Workload: `workload.yaml`, or a cann-bench task folder (see `bench_task.py`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ci.model.columns import case_column
from ci.model.dtypes import BY_NAME, find_dtype
from ci.model.errors import InputError
from ci.model.operator import Operator, TensorSpec
from ci.model.workload import AttrValue, TensorCase, Tolerance, Workload, WorkloadCase
from ci.source.bench_task import is_bench_task, load_bench_task
from ci.source.inputs import DISTRIBUTIONS
from ci.system.yaml_fields import Fields, as_number, describe, read_yaml

_WORKLOAD_KEYS = (
    "operator", "golden", "seeds", "tolerances", "auto_sync", "in_place", "initial", "cases",
)  # fmt: skip
_CASE_KEYS = ("name", "inputs", "outputs", "attrs", "weight")
_TENSOR_KEYS = ("shape", "dtype", "range", "values", "value", "distribution", "present", "format")


def load_workload(operator: Operator, path: Path | None = None) -> Workload:
    """The workload at `path` (a YAML file or a folder), checked against the op definition.

    Without `path`: `workload.yaml` beside op_host. Raises InputError naming file and key.
    """
    file = operator.root / "workload.yaml" if path is None else path
    if not file.exists():
        if path is None:
            raise InputError(
                f"{operator.name} has no workload: there is no {file}; write one or give its path."
            )
        raise InputError(f"There is no file or folder {file}.")
    if file.is_dir():
        if is_bench_task(file):
            return checked(operator, load_bench_task(operator, file), file / "cases.yaml")
        if not (file / "workload.yaml").is_file():
            raise InputError(
                f"{file} holds no workload: neither workload.yaml nor proto.yaml with cases.yaml."
            )
        file = file / "workload.yaml"
    if file.name == "cases.yaml" and is_bench_task(file.parent):
        return checked(operator, load_bench_task(operator, file.parent), file)
    return checked(operator, _read(operator, file), file)


def checked(operator: Operator, workload: Workload, file: Path) -> Workload:
    """`workload` when each of its cases fits the definition of `operator`; raises InputError."""
    for case in workload.cases:
        try:
            case_column(operator, case)
        except InputError as problem:
            raise InputError(f"{file}: case '{case.name}': {problem}") from None
        for spec, given in zip(operator.inputs, case.inputs, strict=True):
            where = f"{file}: case '{case.name}': input '{spec.name}'"
            if isinstance(given, TensorCase) and not given.present:
                if spec.param_type == "required":
                    raise InputError(f"{where} is required but left out.")
            elif isinstance(given, tuple) != (spec.param_type == "dynamic"):
                kind = "a list of tensors" if spec.param_type == "dynamic" else "one tensor"
                raise InputError(f"{where} must be {kind}.")
        for attr in operator.attrs:
            if attr.required and attr.default is None and attr.name not in case.attrs:
                raise InputError(
                    f"{file}: case '{case.name}': the required attribute '{attr.name}' is missing."
                )
    return workload


def _read(operator: Operator, file: Path) -> Workload:
    top = Fields(read_yaml(file), file)
    top.only(_WORKLOAD_KEYS)
    named = top.text("operator", operator.op_type)
    if named.replace("_", "").lower() not in (
        operator.op_type.lower(),
        operator.name.replace("_", "").lower(),
    ):
        raise top.wrong("operator", f"is '{named}', but this workload is for {operator.op_type}")
    golden = top.text("golden", "")
    if golden and not (file.parent / golden.rpartition(":")[0]).is_file():
        raise top.wrong(
            "golden", f"is '{golden}', but there is no such file beside it; write file.py:function"
        )
    cases = tuple(
        _case(operator, Fields(entry, file, f"cases[{i}]"), i)
        for i, entry in enumerate(top.items("cases"))
    )
    names = [c.name for c in cases]
    if twice := next((n for n in names if names.count(n) > 1), None):
        raise top.wrong("cases", f"has two cases named '{twice}'")
    auto_sync = top.data.get("auto_sync")
    if auto_sync is not None and not isinstance(auto_sync, bool):
        raise top.wrong("auto_sync", f"must be true or false, not {describe(auto_sync)}")
    return Workload(
        operator=operator.op_type,
        cases=cases,
        golden=golden,
        folder=file.parent.resolve(),
        tolerances=_tolerances(top),
        seeds=_seeds(top),
        auto_sync=auto_sync,
        in_place=_in_place(operator, top),
        initial=_initial(operator, top),
    )


def _in_place(operator: Operator, top: Fields) -> tuple[str, ...]:
    names = [spec.name for spec in operator.inputs]
    given = top.items("in_place") if "in_place" in top.data else []
    for name in given:
        if name not in names:
            raise top.wrong("in_place", f"names {describe(name)}; inputs are {', '.join(names)}")
        if name in [spec.name for spec in operator.outputs]:
            raise top.wrong("in_place", f"names '{name}', which the definition has as an output")
    return tuple(given)


def _initial(operator: Operator, top: Fields) -> dict[str, float]:
    if "initial" not in top.data:
        return {}
    given = Fields(top.data["initial"], top.file, "initial")
    names = [spec.name for spec in operator.outputs]
    given.only(tuple(names))
    return {str(name): given.number(str(name)) for name in given.data}


def _seeds(top: Fields) -> tuple[int, ...]:
    if "seeds" not in top.data:
        return (1, 2)
    seeds = top.items("seeds")
    for seed in seeds:
        if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
            raise top.wrong("seeds", f"must be whole numbers ≥ 0, not {describe(seed)}")
    return tuple(seeds)


def _tolerances(top: Fields) -> dict[str, Tolerance]:
    if not top.has("tolerances"):
        return {}
    given = Fields(top.data["tolerances"], top.file, "tolerances")
    found = {}
    for key in given.data:
        dtype = find_dtype(str(key))
        if dtype is None:
            raise given.wrong(str(key), f"is not a dtype; known: {', '.join(BY_NAME)}")
        one = Fields(given.data[key], top.file, given.at(str(key)))
        one.only(("relative", "absolute", "outliers"))
        values = {k: one.number(k, 0.0) for k in ("relative", "absolute", "outliers")}
        for k, value in values.items():
            if not 0 <= value <= 1e9:
                raise one.wrong(k, f"must be a number ≥ 0, not {value:g}")
        if values["outliers"] > 1:
            raise one.wrong("outliers", "is a share of the elements, from 0 to 1")
        found[dtype.name] = Tolerance(**values)
    return found


def _case(operator: Operator, fields: Fields, index: int) -> WorkloadCase:
    fields.only(_CASE_KEYS)
    inputs = _inputs(operator, fields)
    outputs: tuple[TensorCase | tuple[TensorCase, ...], ...] = ()
    if fields.has("outputs"):
        given = _by_name(fields, "outputs", operator.outputs)
        outputs = tuple(
            _tensor_or_list(fields, f"outputs[{i}]", v, operator.outputs[i])
            for i, v in enumerate(given)
        )
    weight = fields.number("weight", 1.0)
    if weight <= 0:
        raise fields.wrong("weight", f"must be greater than 0, not {weight:g}")
    return WorkloadCase(
        name=fields.text("name", f"case{index}"),
        inputs=inputs,
        outputs=outputs,
        attrs=_attrs(operator, fields),
        weight=weight,
    )


def _inputs(operator: Operator, fields: Fields) -> tuple[TensorCase | tuple[TensorCase, ...], ...]:
    given = _by_name(fields, "inputs", operator.inputs) if operator.inputs else []
    return tuple(
        _tensor_or_list(fields, f"inputs[{i}]", given[i] if i < len(given) else None, spec)
        for i, spec in enumerate(operator.inputs)
    )


def _by_name(fields: Fields, key: str, specs: tuple[TensorSpec, ...]) -> list[Any]:
    """The entries of `key` in the order of the definition, from a list or a mapping by name."""
    given = fields.data.get(key)
    if given is None:
        raise InputError(f"{fields.file}: {fields.at(key)} is missing.")
    names = [s.name for s in specs]
    if isinstance(given, dict):
        for name in given:
            if name not in names:
                raise fields.wrong(key, f"names '{name}'; the op definition has {', '.join(names)}")
        return [given.get(n) for n in names]
    if not isinstance(given, list):
        raise fields.wrong(key, f"must be a list or a mapping by name, not {describe(given)}")
    if len(given) > len(specs):
        raise fields.wrong(
            key,
            f"has {len(given)} entries, but the op definition has {len(names)}"
            f" ({', '.join(names)})",
        )
    return given


def _tensor_or_list(
    fields: Fields, key: str, value: Any, spec: TensorSpec
) -> TensorCase | tuple[TensorCase, ...]:
    if value is None:
        if spec.param_type == "required":
            raise fields.wrong(key, f"('{spec.name}') is required but missing")
        if spec.param_type == "dynamic":
            return ()
        dtype = spec.dtypes[0] if spec.dtypes else "float32"
        return TensorCase(shape=(0,), dtype=dtype, present=False)
    if isinstance(value, list):
        return tuple(
            _tensor(Fields(v, fields.file, fields.at(f"{key}[{i}]")), spec)
            for i, v in enumerate(value)
        )
    one = _tensor(Fields(value, fields.file, fields.at(key)), spec)
    return (one,) if spec.param_type == "dynamic" else one


def _tensor(fields: Fields, spec: TensorSpec) -> TensorCase:
    fields.only(_TENSOR_KEYS)
    known = list(dict.fromkeys(spec.dtypes))
    dtype = find_dtype(fields.text("dtype", known[0] if len(known) == 1 else None))
    if dtype is None:
        raise fields.wrong(
            "dtype", f"is '{fields.data.get('dtype')}', no dtype; known: {', '.join(BY_NAME)}"
        )
    values = _given_values(fields)
    if not fields.has("shape") and values is not None:
        shape: tuple[int, ...] = (len(values),)
    else:
        shape = fields.shape("shape")
    count = 1
    for d in shape:
        count *= d
    if values is not None and len(values) not in (1, count):
        raise fields.wrong("values", f"has {len(values)} numbers, but the shape holds {count}")
    present = fields.data.get("present", True)
    if not isinstance(present, bool):
        raise fields.wrong("present", f"must be true or false, not {describe(present)}")
    distribution = fields.text("distribution", "uniform")
    if distribution not in DISTRIBUTIONS:
        raise fields.wrong(
            "distribution", f"is '{distribution}'; known: {', '.join(DISTRIBUTIONS)}"
        )
    return TensorCase(
        shape=shape,
        dtype=dtype.name,
        range=_range(fields),
        values=values,
        distribution=distribution,
        present=present,
        format=_format(fields, spec),
    )


def _format(fields: Fields, spec: TensorSpec) -> str:
    name = fields.text("format", "").removeprefix("FORMAT_")
    if name and name not in spec.formats:
        known = ", ".join(dict.fromkeys(spec.formats)) or "none"
        raise fields.wrong("format", f"is '{name}'; the op definition has {known}")
    return name


def _given_values(fields: Fields) -> tuple[float, ...] | None:
    if fields.has("value"):
        return (fields.number("value"),)
    if not fields.has("values"):
        return None
    flat: list[float] = []
    waiting = [fields.data["values"]]
    while waiting:
        item = waiting.pop(0)
        if isinstance(item, list):
            waiting = [*item, *waiting]
            continue
        number = as_number(item)
        if number is None:
            raise fields.wrong("values", f"must hold numbers only, not {describe(item)}")
        flat.append(number)
    if not flat:
        raise fields.wrong("values", "is empty")
    return tuple(flat)


def _range(fields: Fields) -> tuple[float, float]:
    if not fields.has("range"):
        return (-1.0, 1.0)
    given = fields.data["range"]
    numbers = [as_number(v) for v in given] if isinstance(given, list) else []
    low, high = numbers if len(numbers) == 2 else (None, None)
    if low is None or high is None or not abs(low) < 1e300 or not abs(high) < 1e300:
        raise fields.wrong(
            "range", f"must be two finite numbers [low, high], not {describe(given)}"
        )
    if low > high:
        raise fields.wrong("range", f"must be [low, high] with low ≤ high, not {describe(given)}")
    return (low, high)


def _attrs(operator: Operator, fields: Fields) -> dict[str, AttrValue]:
    if not fields.has("attrs"):
        return {}
    given = Fields(fields.data["attrs"], fields.file, fields.at("attrs"))
    declared = {a.name: a for a in operator.attrs}
    found: dict[str, AttrValue] = {}
    for key, value in given.data.items():
        name = str(key)
        if name not in declared:
            known = ", ".join(declared) or "none"
            raise given.wrong(name, f"is no attribute of the op definition; it has {known}")
        converted = attr_value(value, declared[name].type)
        if converted is None:
            raise given.wrong(name, f"must be of type {declared[name].type}, not {describe(value)}")
        found[name] = converted
    return found


def attr_value(value: Any, kind: str) -> AttrValue | None:
    """`value` as an attribute of type `kind`, or None when it is not one."""
    if kind == "string":
        return value if isinstance(value, str) else None
    if kind.startswith("list_"):
        items = value if isinstance(value, list) else [value]
        converted = [attr_value(v, kind.removeprefix("list_")) for v in items]
        numbers = [v for v in converted if isinstance(v, int | float)]
        return tuple(numbers) if len(numbers) == len(items) else None
    if kind == "bool":
        return value if isinstance(value, bool) else bool(value) if value in (0, 1) else None
    number = as_number(value)
    if number is None or isinstance(value, str) and kind == "int":
        return None
    if kind == "int":
        return int(number) if number == int(number) else None
    return number
