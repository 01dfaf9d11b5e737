"""A Workload as the text of a `workload.yaml`, which `load_workload` reads back."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import yaml

from ci.model.operator import Operator, TensorSpec
from ci.model.workload import Entry, TensorCase, Workload, WorkloadCase

_PLAIN = TensorCase(shape=(), dtype="")
_LINE = 1_000_000
"""Columns of a line that is never broken."""


def workload_text(
    operator: Operator, workload: Workload, remarks: Iterable[str], folder: Path
) -> str:
    """The file, with `remarks` in front as comments; it is going to lie in `folder`."""
    head: dict[str, Any] = {"operator": workload.operator}
    if workload.golden:
        file, _, function = workload.golden.rpartition(":")
        path = os.path.relpath((workload.folder / file).resolve(), folder.resolve())
        head["golden"] = f"{path}:{function}"
    head |= frame_fields(workload)
    lines = [f"# {remark}" for remark in remarks]
    lines += [f"{key}: {on_one_line(value)}" for key, value in head.items()]
    lines.append("cases:")
    for case in workload.cases:
        lines += _case(operator, case)
    return "\n".join(lines) + "\n"


def frame_fields(workload: Workload) -> dict[str, Any]:
    """What a workload says of all its cases, but for the golden function and what is default."""
    head: dict[str, Any] = {}
    plain = Workload(operator="", cases=workload.cases, folder=workload.folder)
    if workload.seeds != plain.seeds:
        head["seeds"] = [*workload.seeds]
    if workload.tolerances:
        head["tolerances"] = {
            dtype: one.model_dump(exclude_defaults=True)
            for dtype, one in workload.tolerances.items()
        }
    if workload.auto_sync is not None:
        head["auto_sync"] = workload.auto_sync
    if workload.in_place:
        head["in_place"] = [*workload.in_place]
    if workload.initial:
        head["initial"] = dict(workload.initial)
    if workload.any_order:
        head["any_order"] = True
    if workload.over_read != plain.over_read:
        head["over_read"] = workload.over_read
    return head


def _case(operator: Operator, case: WorkloadCase) -> list[str]:
    lines = [f"  - name: {on_one_line(case.name)}"]
    for key, value in case_fields(operator, case).items():
        if key in ("inputs", "outputs"):
            lines.append(f"    {key}:")
            lines += [f"      {name}: {on_one_line(one)}" for name, one in value.items()]
        else:
            lines.append(f"    {key}: {on_one_line(value)}")
    return lines


def case_fields(operator: Operator, case: WorkloadCase) -> dict[str, Any]:
    """What the file says of a case, but for its name."""
    said: dict[str, Any] = {}
    if case.inputs:
        said["inputs"] = _entries(case.inputs, operator.inputs)
    if case.outputs:
        said["outputs"] = _entries(case.outputs, operator.outputs)
    if case.deterministic:
        said["deterministic"] = True
    if case.attrs:
        said["attrs"] = {name: _plain(value) for name, value in case.attrs.items()}
    if case.weight != 1.0:
        said["weight"] = case.weight
    return said


def _entries(entries: Sequence[Entry], specs: Sequence[TensorSpec]) -> dict[str, Any]:
    return {spec.name: _entry(entry) for entry, spec in zip(entries, specs, strict=False)}


def _entry(entry: Entry) -> Any:
    if isinstance(entry, tuple):
        return [_entry(one) for one in entry]
    if not entry.present and entry.shape == (0,):
        return None  # left out, and nothing else is said of it
    said: dict[str, Any] = {"shape": [*entry.shape], "dtype": entry.dtype}
    if entry.values is not None:
        values = [_number(v) for v in entry.values]
        said |= {"value": values[0]} if len(values) == 1 else {"values": values}
    else:
        if entry.range != _PLAIN.range:
            said["range"] = [_number(v) for v in entry.range]
        if entry.distribution != _PLAIN.distribution:
            said["distribution"] = entry.distribution
    if entry.format:
        said["format"] = entry.format
    if not entry.present:
        said["present"] = False
    return said


def _number(value: int | float | complex) -> Any:
    if isinstance(value, complex):
        return str(value).strip("()")
    return int(value) if float(value).is_integer() and abs(value) < 1e15 else value


def _plain(value: Any) -> Any:
    return [*value] if isinstance(value, tuple) else value


def on_one_line(value: Any) -> str:
    """A value as YAML without a line break."""
    text: str = yaml.safe_dump(value, default_flow_style=True, width=_LINE, sort_keys=False)
    return text.removesuffix("...\n").strip()
