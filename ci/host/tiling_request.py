"""What a host program is asked: the case, and the chip it is to be cut for.

`host/README.md` has the format of a request.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ci.model.columns import case_column
from ci.model.dtypes import BY_NAME
from ci.model.launch import Array, Tensors
from ci.model.operator import AttrSpec, Operator
from ci.model.workload import AttrValue, WorkloadCase
from rules.devices import Device

# Values of inputs up to this size travel with a request, for tilings that read them.
_MAX_VALUE_BYTES = 1 << 16
_UNDEFINED = 28  # ge::DT_UNDEFINED
_ND = 2  # ge::FORMAT_ND
_FORMATS = {
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


def request_text(
    operator: Operator,
    case: WorkloadCase,
    facts: Mapping[str, str],
    inputs: Tensors | None = None,
    outputs: Tensors | None = None,
) -> str:
    """The tile request of a case, as `host/README.md` lays it down."""
    column = case_column(operator, case)
    lines = [f"op_type\t{operator.op_type}"]
    lines += [f"fact\t{name}\t{value}" for name, value in facts.items()]
    for index, spec in enumerate(case.inputs):
        lines.append("input")
        form = _format(operator.inputs[index].formats, column)
        given = inputs[index] if inputs is not None and index < len(inputs) else None
        for k, one in enumerate(spec if isinstance(spec, tuple) else (spec,)):
            if one.present:
                value = given[k] if isinstance(given, list) and k < len(given) else given
                data = "" if value is None or isinstance(value, list) else _hex(value)
                lines.append(_tensor_line(one.dtype, form, one.shape, data))
    lines += _output_lines(operator, case, column, outputs)
    declared = {a.name: a for a in operator.attrs}
    for name, attr in case.attrs.items():
        lines.append(_attr_line(name, attr, declared.get(name)))
    return "\n".join(lines) + "\n"


def _output_lines(
    operator: Operator, case: WorkloadCase, column: int, outputs: Tensors | None
) -> list[str]:
    lines: list[str] = []
    for index, spec in enumerate(operator.outputs):
        if spec.in_place:
            continue  # the tiling knows it as an input
        lines.append("output")
        form = _format(spec.formats, column)
        declared = spec.dtypes[min(column, len(spec.dtypes) - 1)] if spec.dtypes else ""
        given = outputs[index] if outputs is not None and index < len(outputs) else None
        wanted = case.outputs[index] if index < len(case.outputs) else None
        if wanted is not None:
            for one in wanted if isinstance(wanted, tuple) else (wanted,):
                lines.append(_tensor_line(one.dtype, form, one.shape, ""))
        elif given is not None:
            for array in given if isinstance(given, list) else (given,):
                lines.append(_tensor_line(declared, form, array.shape, ""))
        elif spec.param_type == "dynamic":
            # As many as the first tensor list, each of its shape, which holds for list operators.
            lists = [i for i in case.inputs if isinstance(i, tuple)]
            for like in lists[0] if lists else ():
                lines.append(_tensor_line(declared or like.dtype, form, like.shape, ""))
        else:
            lines.append(_tensor_line(declared, form, None, ""))
    return lines


def _format(formats: Sequence[str], column: int) -> int:
    name = formats[min(column, len(formats) - 1)] if formats else "ND"
    return _FORMATS.get(name, _ND)


def _tensor_line(dtype: str, form: int, shape: Sequence[int] | None, data: str) -> str:
    known = BY_NAME.get(dtype)
    number = known.number if known else _UNDEFINED
    dims = "?" if shape is None else ",".join(map(str, shape))
    return f"tensor\t{number}\t{form}\t{dims}" + (f"\t{data}" if data else "")


def _hex(value: Array) -> str:
    return "" if value.nbytes > _MAX_VALUE_BYTES else np.ascontiguousarray(value).tobytes().hex()


def _attr_line(name: str, value: AttrValue, declared: AttrSpec | None) -> str:
    kind = declared.type if declared else _kind(value)
    if kind == "string":
        text = str(value).replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")
    elif isinstance(value, tuple):
        text = ",".join(_plain(v) for v in value)
    else:
        text = _plain(value)
    return f"attr\t{name}\t{kind}\t{text}"


def _kind(value: AttrValue) -> str:
    if isinstance(value, tuple):
        return "list_float" if any(isinstance(v, float) for v in value) else "list_int"
    for kind, word in ((bool, "bool"), (int, "int"), (float, "float")):
        if isinstance(value, kind):
            return word
    return "string"


def _plain(value: int | float | bool | str) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)
