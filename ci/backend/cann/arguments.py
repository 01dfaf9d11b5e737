"""Which of an operator's tensors and attributes each parameter of its aclnn function is.

A generated function takes the definition's inputs, attributes and outputs, each in their order. One
that was written by hand names them: `smoothScalesOptional`, `yOut`. Names that say nothing of the
definition (`self`, `out`) are taken in order among what is left of their kind. That is a guess; the
run is verified, so a wrong one shows as a wrong result of the original operator.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from ci.model.errors import InputError
from ci.model.launch import Tensors
from ci.model.operator import Operator
from ci.model.workload import WorkloadCase

Parameters: TypeAlias = tuple[tuple[str, str], ...]
"""(type without const, name) in the order of a function."""

# Type of a parameter -> the method of `Arguments` in caller.h that gives it. An input whose values
# the tiling reads, or that is declared a scalar, is no tensor of the device.
_INPUTS: Final = {
    "aclTensor*": "tensor", "aclTensorList*": "list", "aclScalar*": "scalar",
    "aclScalarList*": "scalars", "aclIntArray*": "values<aclIntArray>",
    "aclFloatArray*": "values<aclFloatArray>", "aclBoolArray*": "values<aclBoolArray>",
}  # fmt: skip
_OUTPUTS: Final = {"aclTensor*": "tensor", "aclTensorList*": "list"}
_ATTRIBUTES: Final = {
    "int64_t": "integer", "int32_t": "integer", "int": "integer", "int8_t": "integer",
    "uint64_t": "integer", "double": "real", "float": "real", "bool": "truth", "char*": "text",
    "aclIntArray*": "integers", "aclFloatArray*": "reals", "aclBoolArray*": "truths",
}  # fmt: skip
_TYPES: Final = {
    "integer": ("int",), "real": ("float",), "truth": ("bool",), "text": ("string",),
    "integers": ("list_int",), "reals": ("list_float",), "truths": ("list_bool",),
}  # fmt: skip
"""What a method gives -> the types of attributes that it may be."""

_TOLD: Final = re.compile(r"(optional|out|ref)$")
"""What names written by hand say next to the definition's."""


@dataclass(frozen=True)
class _Item:
    """An input, attribute or output of the definition."""

    role: Literal["input", "attribute", "output"]
    name: str
    place: int
    """Among the tensors of a call, or among the attributes."""
    type: str = ""
    """The type of an attribute."""
    needed: bool = True
    """Whether no call makes sense without it."""

    def given_as(self, kind: str) -> str:
        """The call that gives it as a parameter of this type, '' when none can."""
        methods = {"input": _INPUTS, "attribute": _ATTRIBUTES, "output": _OUTPUTS}[self.role]
        method = methods.get(kind, "")
        return f"arguments.{method}({self.place})" if method else ""

    def fits(self, kind: str) -> bool:
        """Whether it may be meant by a parameter of this type."""
        method = _ATTRIBUTES.get(kind, "") if self.role == "attribute" else ""
        return bool(self.given_as(kind)) and (not method or self.type in _TYPES[method])


@dataclass(frozen=True)
class Arranged:
    """The arguments of a call, in the function's order."""

    arguments: tuple[str, ...]
    inputs_left_out: tuple[int, ...] = ()
    """Inputs of the definition that the function does not take."""
    attributes_left_out: tuple[int, ...] = ()

    def check(self, operator: Operator, case: WorkloadCase, inputs: Tensors) -> None:
        """Raises InputError for a case that gives what the function does not take."""
        named = [operator.inputs[n].name for n in self.inputs_left_out if inputs[n] is not None]
        for spec in (operator.attrs[n] for n in self.attributes_left_out):
            if case.attrs.get(spec.name, spec.default) != spec.default:
                named.append(spec.name)
        if named:
            raise InputError(
                f"case '{case.name}' gives '{named[0]}', which the aclnn function of"
                f" {operator.op_type} does not take; use --backend cann-direct."
            )


def arrange(function: str, parameters: Parameters, operator: Operator) -> Arranged:
    """The arguments for the function's parameters. Raises InputError where they do not fit."""
    items = _items(operator)
    if len(items) == len(parameters):
        given = [item.given_as(kind) for item, (kind, _) in zip(items, parameters, strict=True)]
        if all(given):
            return Arranged(tuple(given))
    return _by_name(function, parameters, items, operator)


def _by_name(
    function: str, parameters: Parameters, items: list[_Item], operator: Operator
) -> Arranged:
    found: list[_Item | None] = [
        next((one for one in items if _plain(one.name) == _plain(name) and one.fits(kind)), None)
        for kind, name in parameters
    ]
    for at, (kind, name) in enumerate(parameters):
        if found[at] is not None:
            continue
        left = [one for one in items if one not in found and one.needed and one.fits(kind)]
        # Behind an output come no more inputs.
        behind = any(one is not None and one.role == "output" for one in found[:at])
        left = [one for one in left if one.role != "input" or not behind]
        if not left:
            raise InputError(
                f"{function} takes '{name}' as {kind}, which does not follow from the definition of"
                f" {operator.op_type}; use --backend cann-direct."
            )
        found[at] = left[0]
    missing = [one for one in items if one not in found and one.needed]
    if missing:
        raise InputError(
            f"{function} takes no '{missing[0].name}', which the definition of {operator.op_type}"
            " demands: it was written by hand; use --backend cann-direct."
        )
    return Arranged(
        tuple(one.given_as(kind) for one, (kind, _) in zip(found, parameters, strict=True) if one),
        tuple(one.place for one in items if one not in found and one.role == "input"),
        tuple(one.place for one in items if one not in found and one.role == "attribute"),
    )


def _items(operator: Operator) -> list[_Item]:
    """In the order of a generated function. An output of an input's name is that input."""
    inputs = [
        _Item("input", spec.name, place, needed=spec.param_type != "optional")
        for place, spec in enumerate(operator.inputs)
    ]
    names = {item.name for item in inputs}
    attributes = [
        _Item("attribute", spec.name, place, spec.type, spec.required)
        for place, spec in enumerate(operator.attrs)
    ]
    new = [spec for spec in operator.outputs if spec.name not in names]
    outputs = [_Item("output", spec.name, len(inputs) + at) for at, spec in enumerate(new)]
    return [*inputs, *attributes, *outputs]


def _plain(name: str) -> str:
    """`smoothScalesOptional` and `smooth_scales` alike."""
    return _TOLD.sub("", name.lower().replace("_", "")) or name.lower()
