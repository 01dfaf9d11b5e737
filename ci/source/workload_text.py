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
    plain = Workload(operator="", cases=workload.cases, folder=folder)
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
    if workload.over_read != plain.over_read:
        head["over_read"] = workload.over_read
    lines = [f"# {remark}" for remark in remarks]
    lines += [f"{key}: {_flow(value)}" for key, value in head.items()]
    lines.append("cases:")
    for case in workload.cases:
        lines += _case(operator, case)
    return "\n".join(lines) + "\n"


def _case(operator: Operator, case: WorkloadCase) -> list[str]:
    lines = [f"  - name: {_flow(case.name)}"]
    if case.inputs:
        lines += ["    inputs:", *_entries(case.inputs, operator.inputs)]
    if case.outputs:
        lines += ["    outputs:", *_entries(case.outputs, operator.outputs)]
    if case.deterministic:
        lines.append("    deterministic: true")
    if case.attrs:
        lines.append(f"    attrs: {_flow({n: _plain(v) for n, v in case.attrs.items()})}")
    if case.weight != 1.0:
        lines.append(f"    weight: {case.weight}")
    return lines


def _entries(entries: Sequence[Entry], specs: Sequence[TensorSpec]) -> list[str]:
    return [
        f"      {spec.name}: {_flow(_entry(entry))}"
        for entry, spec in zip(entries, specs, strict=False)
    ]


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


def _flow(value: Any) -> str:
    """The value on one line."""
    text: str = yaml.safe_dump(value, default_flow_style=True, width=_LINE, sort_keys=False)
    return text.removesuffix("...\n").strip()
