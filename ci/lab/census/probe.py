"""Plausible cases for an operator that comes without a workload.

They tell whether tiling and kernel run, not whether the result is right. Shapes come from the
operator's own example program where it spells them out, else from a few generic ones.
"""

from __future__ import annotations

from collections.abc import Iterator

from ci.lab.census.example import Example, find_examples
from ci.model.columns import output_dtypes
from ci.model.errors import InputError
from ci.model.operator import AttrSpec, Operator, TensorSpec
from ci.model.workload import AttrValue, TensorCase, WorkloadCase
from ci.source.workload_model import attr_value

GENERIC_SHAPES: tuple[tuple[int, ...], ...] = (
    (32, 1024),
    (8, 2048),
    (4, 16, 64),
    (2, 16, 16, 16),
    (2, 16, 8, 8, 8),
    (4096,),
    (2, 2, 8, 8, 16),
)
"""Divide evenly by usual tiles; of each rank that operators ask for."""

_ROW_NAMES = ("gamma", "beta", "weight", "bias", "scale", "offset", "zero_point", "mean", "smooth")
"""Parts of names of inputs that often hold one value a column."""
_INDEX_NAMES = ("index", "indices", "idx", "sorted", "segment", "offsets", "label", "target")
_LIST_LENGTH = 2
_CHOSEN = ("float32", "float16", "bfloat16")
"""Dtypes of the first input to try first, most usual one first."""


def probe_cases(operator: Operator) -> Iterator[tuple[str, WorkloadCase]]:
    """(where it comes from, case) of the cases to try, the likeliest first."""
    for example in find_examples(operator):
        case = _from_example(operator, example)
        if case is not None:
            yield "example shapes", case
    for column in _columns(operator):
        for full in (True, False):
            for shape in GENERIC_SHAPES:
                yield "generic shapes", _generic(operator, column, shape, full)


def _columns(operator: Operator) -> list[int]:
    """One dtype column to try, or two: the most usual dtype of the first input, and the first."""
    first = next((t.dtypes for t in operator.inputs if t.dtypes), ())
    usual = next((first.index(d) for d in _CHOSEN if d in first), 0)
    return [usual] if usual == 0 else [usual, 0]


def _generic(operator: Operator, column: int, shape: tuple[int, ...], full: bool) -> WorkloadCase:
    """All inputs of one shape; `full`: parameter-like inputs one value a column."""
    inputs: list[TensorCase | tuple[TensorCase, ...]] = []
    for spec in operator.inputs:
        dtype = _dtype(spec, column)
        small = full and any(part in spec.name.lower() for part in _ROW_NAMES)
        own = (1,) if spec.scalar else shape[-1:] if small else shape
        one = _tensor(spec, own, dtype)
        if spec.param_type == "dynamic":
            inputs.append((one,) * _LIST_LENGTH)
        elif spec.param_type == "optional":
            inputs.append(one.model_copy(update={"present": False}))
        else:
            inputs.append(one)
    name = "x".join(map(str, shape))
    return WorkloadCase(name=f"generic_{name}", inputs=tuple(inputs), attrs=_attrs(operator, {}))


def _from_example(operator: Operator, example: Example) -> WorkloadCase | None:
    """The example's tensors given to the inputs in order; None when they do not fit."""
    tensors = [(n.lower().replace("_", ""), s, d) for n, s, d in example.tensors]
    inputs: list[TensorCase | tuple[TensorCase, ...]] = []
    for spec in operator.inputs:
        plain = spec.name.lower().replace("_", "")
        at = next((i for i, t in enumerate(tensors) if _names(t[0], plain)), None)
        if at is None and spec.param_type == "optional":
            inputs.append(TensorCase(shape=(0,), dtype=_dtype(spec, 0), present=False))
            continue
        if at is None:
            at = 0
        if not tensors:
            return None
        _, shape, dtype = tensors.pop(at)
        if spec.dtypes and dtype not in spec.dtypes:
            dtype = spec.dtypes[0]
        one = _tensor(spec, shape, dtype)
        inputs.append((one,) * _LIST_LENGTH if spec.param_type == "dynamic" else one)
    case = WorkloadCase(
        name="example", inputs=tuple(inputs), attrs=_attrs(operator, example.values)
    )
    return case.model_copy(update={"outputs": _outputs(operator, case, tensors)})


def _outputs(
    operator: Operator, case: WorkloadCase, left: list[tuple[str, tuple[int, ...], str]]
) -> tuple[TensorCase | tuple[TensorCase, ...], ...]:
    """The example's outputs where it creates them all, with the dtypes that go with the inputs.

    None otherwise: then the tiling is asked for their shapes.
    """
    outputs: list[TensorCase | tuple[TensorCase, ...]] = []
    try:
        dtypes = output_dtypes(operator, case)
    except InputError:
        return ()
    for spec, dtype in zip(operator.outputs, dtypes, strict=True):
        plain = spec.name.lower().replace("_", "")
        named = next((t for t in left if _names(t[0], plain)), left[0] if left else None)
        if named is None or spec.param_type == "dynamic":
            return ()
        left.remove(named)
        outputs.append(_tensor(spec, named[1], dtype))
    return tuple(outputs)


def _names(variable: str, plain: str) -> bool:
    """Whether a shape variable is that of the tensor: 'inputXShape' for 'x'."""
    bare = variable.removesuffix("shape")
    for role in ("input", "output", "out"):
        bare = bare.removeprefix(role).removesuffix(role) or bare
    return plain in (bare, variable.removesuffix("shape"))


def _tensor(spec: TensorSpec, shape: tuple[int, ...], dtype: str) -> TensorCase:
    indices = any(part in spec.name.lower() for part in _INDEX_NAMES)
    low, high = (0.0, 1.0) if indices else (0.5, 1.5)
    if dtype.startswith(("int", "uint")) and not indices:
        low, high = 1.0, 3.0
    return TensorCase(shape=shape, dtype=dtype, range=(low, high))


def _dtype(spec: TensorSpec, column: int) -> str:
    return spec.dtypes[min(column, len(spec.dtypes) - 1)] if spec.dtypes else "float32"


def _attrs(operator: Operator, values: dict[str, str]) -> dict[str, AttrValue]:
    """Values for attributes: the example's where it names them, else something harmless."""
    found: dict[str, AttrValue] = {}
    for spec in operator.attrs:
        text = values.get(spec.name.replace("_", "").lower(), values.get(spec.name.lower(), ""))
        given = _read(text, spec.type) if text else None
        if given is not None:
            found[spec.name] = given
        elif spec.default is None:  # an optional one too: a call of the operator gives them all
            found[spec.name] = _harmless(spec)
    return found


def _read(text: str, kind: str) -> AttrValue | None:
    """The C++ literal `text` as an attribute value, or None."""
    parts = [p.strip().rstrip("fFuUlL") for p in text.split(",") if p.strip()]
    read: list[int | float | bool] = []
    for part in parts:
        if part in ("true", "fals", "false"):
            read.append(part == "true")
            continue
        try:
            read.append(float(part) if set(part) & set(".e") else int(part, 0))
        except ValueError:
            return None
    if kind.startswith("list_"):
        return attr_value(read, kind) if read else None
    return attr_value(read[0], kind) if len(read) == 1 else None


def _harmless(spec: AttrSpec) -> AttrValue:
    values: dict[str, AttrValue] = {
        "int": 1,
        "float": 1.0,
        "bool": False,
        "string": "",
        "list_int": (1,),
        "list_float": (1.0,),
        "list_bool": (False,),
    }
    return values[spec.type]
