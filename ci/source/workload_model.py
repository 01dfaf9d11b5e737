"""What `workload.yaml` may say, as pydantic models, and what it means for one operator."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any, TypeAlias

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    StrictBool,
    StrictInt,
    Tag,
    model_validator,
)

from ci.model.amount import amount
from ci.model.dtypes import BY_NAME, find_dtype
from ci.model.frozen import Frozen
from ci.model.operator import Operator, TensorSpec
from ci.model.workload import AttrValue, Distribution, Entry, TensorCase, Tolerance, WorkloadCase
from ci.model.yaml_model import Place, YamlFile, describe
from ci.source.launch_expression import Written

Value: TypeAlias = int | float | complex
_MOST_ELEMENTS = 2**40
"""Most elements of a tensor that can be simulated: an address has 48 bits."""


def as_shape(value: Any) -> tuple[int, ...]:
    """`value` as a shape; raises ValueError when it is none."""
    if not isinstance(value, list) or not all(type(d) is int and d >= 0 for d in value):
        shown = f"must be a list of whole numbers ≥ 0, such as [8, 2048], not {describe(value)}"
        raise ValueError(shown)
    return tuple(value)


def as_dtype(value: Any) -> str:
    """Our name of a dtype in any usual spelling; raises ValueError when it is none."""
    found = find_dtype(str(value))
    if found is None:
        raise ValueError(f"is '{value}', no dtype; known: {', '.join(BY_NAME)}")
    return found.name


def as_number(value: Any) -> float | None:
    """`value` as a number when it is one; YAML 1.1 reads 1e-3 as text, which counts too."""
    try:
        return float(value) if isinstance(value, str | int | float) else None
    except ValueError:
        return None


def as_pair(value: Any) -> tuple[float, float]:
    """`value` as two numbers [low, high] of any order; raises ValueError when it is not."""
    numbers = [as_number(v) for v in value] if isinstance(value, list) else []
    if len(numbers) != 2 or numbers[0] is None or numbers[1] is None:
        raise ValueError(f"must be two numbers [low, high], not {describe(value)}")
    return numbers[0], numbers[1]


def _range(value: Any) -> tuple[float, float]:
    low, high = as_pair(value)
    if not abs(low) < 1e300 or not abs(high) < 1e300:
        raise ValueError(f"must be two finite numbers [low, high], not {describe(value)}")
    if low > high:
        raise ValueError(f"must be [low, high] with low ≤ high, not {describe(value)}")
    return low, high


def _flat(value: Any) -> list[Any]:
    """The numbers of a list of lists, row-major."""
    return [v for item in value for v in _flat(item)] if isinstance(value, list) else [value]


def as_value(value: Any) -> int | float | complex:
    """A number as exact as it is written; text such as 1e-3 or 1+2j counts too."""
    for kind in (int, float, complex):
        try:
            if isinstance(value, str):
                return kind(value)
        except ValueError:
            continue
    if isinstance(value, int | float):
        return value
    raise ValueError(f"must be a number, not {describe(value)}")


def _values(value: Any) -> list[int | float | complex]:
    return [as_value(v) for v in _flat(value)]


def _plain_number(value: Any) -> Any:
    if not isinstance(value, int | float) or not abs(value) < 1e300:
        raise ValueError(f"must be a finite number, true or false, not {describe(value)}")
    return value


def _kind(value: Any) -> str:
    return "none" if value is None else "list" if isinstance(value, list | tuple) else "mapping"


class _Given(Frozen):
    """A mapping of the file; null is the same as left out, and a number may stand for text."""

    model_config = ConfigDict(frozen=True, extra="forbid", coerce_numbers_to_str=True)

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, data: Any) -> Any:
        return {k: v for k, v in data.items() if v is not None} if isinstance(data, dict) else data


class GivenTensor(_Given):
    """One input or declared output of a case."""

    shape: Annotated[tuple[int, ...], BeforeValidator(as_shape)] | None = None
    dtype: Annotated[str, BeforeValidator(as_dtype)] | None = None
    range: Annotated[tuple[float, float], BeforeValidator(_range)] = (-1.0, 1.0)
    values: Annotated[tuple[Value, ...], BeforeValidator(_values)] | None = Field(
        None, min_length=1
    )
    value: Annotated[Value, BeforeValidator(as_value)] | None = None
    distribution: Distribution = "uniform"
    present: StrictBool = True
    format: str = ""

    @property
    def drawn_from(self) -> tuple[Value, ...] | None:
        """The given values, None when they are drawn."""
        return self.values if self.value is None else (self.value,)

    @property
    def full_shape(self) -> tuple[int, ...]:
        """The shape; as many as the values when there is none."""
        given = self.drawn_from or () if self.present else ()
        return (len(given),) if self.shape is None else self.shape

    @model_validator(mode="after")
    def _whole(self) -> GivenTensor:
        count, given = math.prod(self.full_shape), self.drawn_from
        if self.shape is None and given is None and self.present:
            raise ValueError("shape is missing")
        if count > _MOST_ELEMENTS:
            raise ValueError(
                f"has {amount(count, 'element')}; at most {_MOST_ELEMENTS} can be simulated"
            )
        if given is not None and len(given) not in (1, count):
            raise ValueError(
                f"values has {amount(len(given), 'number')}, but the shape holds {count}"
            )
        return self


_GivenEntry: TypeAlias = Annotated[
    Annotated[None, Tag("none")]
    | Annotated[tuple[GivenTensor, ...], Tag("list")]
    | Annotated[GivenTensor, Tag("mapping")],
    Discriminator(_kind),
]
_GivenEntries: TypeAlias = Annotated[
    Annotated[None, Tag("none")]
    | Annotated[tuple[_GivenEntry, ...], Tag("list")]
    | Annotated[dict[str, _GivenEntry], Tag("mapping")],
    Discriminator(_kind),
]


class GivenCase(_Given):
    """One launch; inputs and outputs in the order of the definition, or by name."""

    name: str | None = None
    inputs: _GivenEntries = None
    outputs: _GivenEntries = None
    attrs: dict[str, Any] = Field(default_factory=dict)
    weight: float = Field(default=1.0, gt=0)
    deterministic: StrictBool = False


_Name: TypeAlias = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]


class GivenOutput(_Given):
    """An output of a kernel that a program launches."""

    shape: tuple[Written, ...]
    dtype: str = Field(description="A dtype, or an input that has it.")


Fields: TypeAlias = Written | tuple[Written, ...]
"""What a field of a structure is given: a number, or several for an array."""


class GivenStruct(_Given):
    """A structure that such a kernel gets, by value or by its address."""

    type: str = Field(
        "", pattern=r"^[A-Za-z0-9_:]*$", description="Of one that a pointer leads to."
    )
    fields: dict[str, Fields] = Field(default_factory=dict)
    words: tuple[Annotated[int, Field(ge=0, lt=1 << 32)], ...] = Field(
        (), max_length=1 << 12, description="In place of the fields: its bytes, four in a number."
    )


class GivenLaunch(_Given):
    """How a program launches a kernel that has no op definition."""

    kernel: str = Field(min_length=1, description="Its source, from the workload's folder.")
    entry: _Name | None = None
    template: tuple[Annotated[str, Field(pattern=r"^[A-Za-z0-9_:]+$")], ...] = ()
    blocks: Written
    outputs: dict[_Name, str | GivenOutput] = Field(default_factory=dict)
    attrs: dict[_Name, Annotated[bool | int | float, BeforeValidator(_plain_number)]] = Field(
        default_factory=dict
    )
    values: dict[_Name, Written] = Field(default_factory=dict)
    structs: dict[_Name, GivenStruct] = Field(default_factory=dict)
    workspace: dict[_Name, Written] = Field(default_factory=dict)


class GivenWorkload(_Given):
    """A whole `workload.yaml`."""

    launch: GivenLaunch | None = None
    operator: str | None = None
    golden: str = ""
    seeds: tuple[Annotated[StrictInt, Field(ge=0)], ...] = Field((1, 2), min_length=1)
    tolerances: dict[Annotated[str, BeforeValidator(as_dtype)], Tolerance] = Field(
        default_factory=dict
    )
    auto_sync: StrictBool | None = None
    in_place: tuple[str, ...] = Field((), min_length=1)
    initial: dict[str, float] = Field(default_factory=dict)
    any_order: StrictBool = False
    over_read: Annotated[StrictInt, Field(ge=0, le=1 << 20)] = 32
    cases: tuple[GivenCase, ...] = Field(min_length=1)


def case_for(operator: Operator, file: YamlFile, given: GivenCase, number: int) -> WorkloadCase:
    """Case `number` of a file in terms of the definition; raises InputError where it differs."""
    place = ("cases", number)
    inputs, outputs = operator.inputs, operator.outputs
    if inputs and given.inputs is None:
        raise file.wrong((*place, "inputs"), "is missing")
    return WorkloadCase(
        name=f"case{number}" if given.name is None else given.name,
        inputs=_entries(file, (*place, "inputs"), given.inputs, inputs) if inputs else (),
        outputs=_entries(file, (*place, "outputs"), given.outputs, outputs)
        if given.outputs is not None
        else (),
        attrs=_attrs(operator, file, (*place, "attrs"), given.attrs),
        weight=given.weight,
        deterministic=given.deterministic,
    )


def _entries(
    file: YamlFile, place: Place, given: _GivenEntries, specs: tuple[TensorSpec, ...]
) -> tuple[Entry, ...]:
    """The tensors of `given` in the order of `specs`."""
    names = [s.name for s in specs]
    if isinstance(given, dict):
        for name in given:
            if name not in names:
                what = f"names '{name}'; the op definition has {', '.join(names)}"
                raise file.wrong((*place, name), what)
        keys: Sequence[str | int] = names
        values = [given.get(name) for name in names]
    else:
        found = given or ()
        if len(found) > len(specs):
            has = f"{len(specs)} ({', '.join(names)})"
            raise file.wrong(
                place,
                f"has {amount(len(found), 'entry', 'entries')}, but the op definition has {has}",
            )
        keys = range(len(specs))
        values = [*found, *[None] * (len(specs) - len(found))]
    return tuple(
        _entry(file, (*place, key), value, spec)
        for key, value, spec in zip(keys, values, specs, strict=True)
    )


def _entry(file: YamlFile, place: Place, value: _GivenEntry, spec: TensorSpec) -> Entry:
    if value is None:
        if spec.param_type == "required":
            raise file.wrong(place, f"'{spec.name}' is required but missing")
        return () if spec.param_type == "dynamic" else absent(spec)
    if isinstance(value, tuple):
        return tuple(_tensor(file, (*place, i), one, spec) for i, one in enumerate(value))
    one = _tensor(file, place, value, spec)
    return (one,) if spec.param_type == "dynamic" else one


def absent(spec: TensorSpec) -> TensorCase:
    """What stands for an optional input that is left out."""
    return TensorCase(shape=(0,), dtype=(spec.dtypes or ("float32",))[0], present=False)


def _tensor(file: YamlFile, place: Place, given: GivenTensor, spec: TensorSpec) -> TensorCase:
    if given.dtype is None and given.present and len(set(spec.dtypes)) != 1:
        raise file.wrong((*place, "dtype"), "is missing")
    name = given.format.removeprefix("FORMAT_")
    if name and name not in spec.formats:
        known = ", ".join(dict.fromkeys(spec.formats)) or "none"
        raise file.wrong((*place, "format"), f"is '{name}'; the op definition has {known}")
    return TensorCase(
        shape=given.full_shape,
        dtype=given.dtype or absent(spec).dtype,
        range=given.range,
        values=given.drawn_from,
        distribution=given.distribution,
        present=given.present,
        format=name,
    )


def _attrs(
    operator: Operator, file: YamlFile, place: Place, given: dict[str, Any]
) -> dict[str, AttrValue]:
    declared = {a.name: a.type for a in operator.attrs}
    found: dict[str, AttrValue] = {}
    for name, value in given.items():
        if name not in declared:
            what = f"is no attribute of the op definition; it has {', '.join(declared) or 'none'}"
            raise file.wrong((*place, name), what)
        converted = attr_value(value, declared[name])
        if converted is None:
            what = f"must be of type {declared[name]}, not {describe(value)}"
            raise file.wrong((*place, name), what)
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
