"""What a host program is asked: the case, and the chip it is to be cut for.

`cpp/README.md` has the format of a request.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TypeAlias

import numpy as np

from ci.model.columns import case_column
from ci.model.dtypes import BY_NAME
from ci.model.errors import InputError
from ci.model.launch import Array, Tensors
from ci.model.operator import AttrSpec, Operator
from ci.model.workload import AttrValue, TensorCase, WorkloadCase
from rules.devices import Device

# Values of inputs up to this size travel with a request, for tilings that read them.
_MAX_VALUE_BYTES = 1 << 16
UNDEFINED = 28  # ge::DT_UNDEFINED
_ND = 2  # ge::FORMAT_ND
FORMATS = {
    "NCHW": 0,
    "NHWC": 1,
    "ND": 2,
    "NC1HWC0": 3,
    "FRACTAL_Z": 4,
    "HWCN": 16,
    "NDHWC": 27,
    "FRACTAL_NZ": 29,
    "NCDHW": 30,
    "DHWCN": 31,
    "NDC1HWC0": 32,
    "FRACTAL_Z_3D": 33,
    "NCL": 47,
}


def platform_facts(device: Device) -> dict[str, str]:
    """What a tiling may ask of the chip."""
    return {
        **device.architecture.facts,
        "cores.aic": str(device.cube_cores),
        "cores.aiv": str(device.vector_cores),
        # A kernel on vector cores alone is launched on all of them; so does GetCoreNum count.
        "cores.default": str(device.vector_cores),
        "clock.mhz": str(int(device.clock_mhz)),
        "memory.l2": str(int(device.number("l2.bytes"))),
        "memory.hbm": str(int(device.number("hbm.bytes"))),
        "bandwidth.hbm_bytes_per_cycle": _per_cycle(device, "hbm"),
        "bandwidth.l2_bytes_per_cycle": _per_cycle(device, "l2"),
        "soc.version": device.soc,
    }


def _per_cycle(device: Device, memory: str) -> str:
    """Bytes a core can get in a cycle when all cube cores draw, as platform files state it."""
    total = device.number(f"{memory}.bytes_per_second")
    return str(max(1, round(total / (device.clock_mhz * 1e6) / device.cube_cores)))


@dataclass(frozen=True)
class AskedTensor:
    """One tensor of a request."""

    dtype: int
    """Number in `ge::DataType`."""
    form: int
    """Number in `ge::Format`."""
    shape: tuple[int, ...] | None
    """None leaves it to the inference."""
    data: str = ""
    """Its bytes in hexadecimal, where the tiling may read them."""

    @property
    def line(self) -> str:
        """Its record."""
        dims = "?" if self.shape is None else ",".join(map(str, self.shape))
        return f"tensor\t{self.dtype}\t{self.form}\t{dims}" + (
            f"\t{self.data}" if self.data else ""
        )


Sides: TypeAlias = tuple[tuple[AskedTensor, ...], ...]
"""Tensors of each input or output of the definition; none for an absent optional
one."""


@dataclass(frozen=True)
class HostRequest:
    """What a host program is asked about."""

    op_type: str
    facts: Mapping[str, str]
    inputs: Sides
    outputs: Sides
    attrs: tuple[tuple[str, str, str], ...]
    """Name, type and value as text."""
    deterministic: bool = False
    filling: int = 0
    """Byte that the tiling data hold before the tiling."""

    @property
    def text(self) -> str:
        """Its records, as `cpp/README.md` lays them down."""
        lines = [f"op_type\t{self.op_type}"]
        lines += [f"fact\t{name}\t{value}" for name, value in self.facts.items()]
        if self.deterministic:
            lines.append("deterministic\t1")
        if self.filling:
            lines.append(f"filling\t{self.filling}")
        for kind, side in (("input", self.inputs), ("output", self.outputs)):
            for tensors in side:
                lines += [kind, *(tensor.line for tensor in tensors)]
        lines += ["\t".join(("attr", *words)) for words in self.attrs]
        return "\n".join(lines) + "\n"


def host_request(
    operator: Operator,
    case: WorkloadCase,
    facts: Mapping[str, str],
    inputs: Tensors | None = None,
    outputs: Tensors | None = None,
    *,
    read: Collection[str] = (),
    filling: int = 0,
) -> HostRequest:
    """The request of a case; `inputs` gives values, `outputs` shapes where they are known.

    `read` names the inputs whose values the host side may read. No others are sent: a survey asks
    hundreds of requests in dozens of processes, and equal requests are asked once. Raises
    InputError where an output is larger than the input of its name, whose memory it has.
    """
    column = case_column(operator, case)
    _refuse_outgrown(operator, case)
    asked: list[tuple[AskedTensor, ...]] = []
    for index, spec in enumerate(case.inputs):
        form = _format(operator.inputs[index].formats, column)
        sent = inputs is not None and index < len(inputs) and operator.inputs[index].name in read
        given = inputs[index] if inputs is not None and sent else None
        tensors = []
        for k, one in enumerate(spec if isinstance(spec, tuple) else (spec,)):
            if one.present:
                value = given[k] if isinstance(given, list) and k < len(given) else given
                data = "" if value is None or isinstance(value, list) else _hex(value)
                tensors.append(_tensor(one.dtype, form, one.shape, data))
        asked.append(tuple(tensors))
    declared = {a.name: a for a in operator.attrs}
    # The order counts where the definition leaves them out.
    order = {name: place for place, name in enumerate(declared)}
    named = sorted(case.attrs, key=lambda name: order.get(name, len(order)))
    return HostRequest(
        op_type=operator.op_type,
        facts=facts,
        inputs=tuple(asked),
        outputs=tuple(_outputs(operator, case, column, outputs)),
        attrs=tuple(_attr(n, case.attrs[n], declared.get(n)) for n in named),
        deterministic=case.deterministic,
        filling=filling,
    )


def _refuse_outgrown(operator: Operator, case: WorkloadCase) -> None:
    inputs = {spec.name: one for spec, one in zip(operator.inputs, case.inputs, strict=False)}
    for spec, output in zip(operator.outputs, case.outputs, strict=False):
        own = inputs.get(spec.name)
        if not (isinstance(own, TensorCase) and isinstance(output, TensorCase) and own.present):
            continue
        if _bits(output) > _bits(own):
            raise InputError(
                f"case '{case.name}': the output '{spec.name}' has the memory of the input of that"
                f" name, which has the shape {list(own.shape)}; {list(output.shape)} does not fit."
            )


def _bits(tensor: TensorCase) -> int:
    return prod(tensor.shape) * BY_NAME[tensor.dtype].bits


def with_defaults(request: HostRequest, operator: Operator) -> HostRequest:
    """The same request with the attributes written out that the definition gives values."""
    given = {name for name, _, _ in request.attrs}
    missing = [a for a in operator.attrs if a.name not in given and a.default is not None]
    more = tuple(_attr(a.name, a.default, a) for a in missing if a.default is not None)
    return replace(request, attrs=(*request.attrs, *more))


def _outputs(
    operator: Operator, case: WorkloadCase, column: int, outputs: Tensors | None
) -> Iterator[tuple[AskedTensor, ...]]:
    for index, spec in enumerate(operator.outputs):
        if spec.in_place:
            continue  # the tiling knows it as an input
        form = _format(spec.formats, column)
        declared = spec.dtypes[min(column, len(spec.dtypes) - 1)] if spec.dtypes else ""
        given = outputs[index] if outputs is not None and index < len(outputs) else None
        wanted = case.outputs[index] if index < len(case.outputs) else None
        if wanted is not None:
            every = wanted if isinstance(wanted, tuple) else (wanted,)
            yield tuple(_tensor(one.dtype, form, one.shape) for one in every)
        elif given is not None:
            found = given if isinstance(given, list) else [given]
            yield tuple(_tensor(declared, form, array.shape) for array in found)
        elif spec.param_type == "dynamic":
            # As many as the first tensor list, each of its shape, which holds for list operators.
            lists = [i for i in case.inputs if isinstance(i, tuple)]
            like = lists[0] if lists else ()
            yield tuple(_tensor(declared or one.dtype, form, one.shape) for one in like)
        else:
            yield (_tensor(declared, form, None),)


def _format(formats: Sequence[str], column: int) -> int:
    name = formats[min(column, len(formats) - 1)] if formats else "ND"
    return FORMATS.get(name, _ND)


def _tensor(dtype: str, form: int, shape: Sequence[int] | None, data: str = "") -> AskedTensor:
    known = BY_NAME.get(dtype)
    dims = None if shape is None else tuple(shape)
    return AskedTensor(known.number if known else UNDEFINED, form, dims, data)


def _hex(value: Array) -> str:
    return "" if value.nbytes > _MAX_VALUE_BYTES else np.ascontiguousarray(value).tobytes().hex()


def _attr(name: str, value: AttrValue, declared: AttrSpec | None) -> tuple[str, str, str]:
    kind = declared.type if declared else _kind(value)
    if kind == "string":
        text = str(value).replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")
    elif isinstance(value, tuple):
        text = ",".join(_plain(v) for v in value)
    else:
        text = _plain(value)
    return name, kind, text


def _kind(value: AttrValue) -> str:
    if isinstance(value, tuple):
        return "list_float" if any(isinstance(v, float) for v in value) else "list_int"
    for kind, word in ((bool, "bool"), (int, "int"), (float, "float")):
        if isinstance(value, kind):
            return word
    return "string"


def _plain(value: int | float | bool | str) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)
