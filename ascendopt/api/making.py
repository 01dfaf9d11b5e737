"""The settings of `create` are made here from a golden function and shapes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import index
from pathlib import Path

import yaml

from ascendopt.api.given import options_of, path_of
from ci.model.created import Created, CreateSettings
from ci.model.errors import InputError
from ci.model.regular_file import file_text


def make_operator(
    golden: str,
    cases: Mapping[str, Sequence[int]] | Sequence[Mapping[str, Sequence[int]]],
    folder: Path,
    *,
    out: Path,
    dtype: str,
    attrs: Mapping[str, int | float | bool],
    name: str,
    proposer: str,
    models: Path | None,
    device: str,
    say: Callable[[str], None],
) -> Created:
    """Make the operator of `golden` (`file.py:function`); `folder` takes its workload.

    Raises InputError with what stops it, and leaves nothing then.
    """
    from ci.session.create import asked, create_operator

    data = {"shapes": _shapes(cases), "dtype": dtype, "attrs": _attrs(attrs)}
    file, _, function = golden.rpartition(":")
    try:
        text = file_text(path_of(file, "The golden function's file"))
    except FileNotFoundError:
        raise InputError(f"{golden} names no golden function: there is no such file.") from None
    wanted = asked(text, yaml.safe_dump(data), name or function)
    workload = folder / "workload.yaml"
    workload.write_text(wanted.workload, encoding="utf-8")
    given = {
        "workload": workload,
        "out": out,
        "name": name or None,
        "proposer": proposer,
        "models": models,
        "device": device,
    }
    return create_operator(golden, options_of(CreateSettings, given), say)


def _shapes(cases: object) -> dict[str, list[int]] | list[dict[str, list[int]]]:
    """Return plain data for what names a shape by argument, once or in a list."""
    if isinstance(cases, Mapping):
        return {str(arg): _shape(arg, shape) for arg, shape in cases.items()}
    if isinstance(cases, str) or not isinstance(cases, Sequence):
        raise InputError("cases gives a shape by argument, such as {'x': (64, 1000)}, or a list.")
    return [{str(arg): _shape(arg, shape) for arg, shape in _case(one).items()} for one in cases]


def _case(case: object) -> Mapping[object, object]:
    if not isinstance(case, Mapping):
        raise InputError(f"A case is a mapping of arguments to shapes, not {case!r:.100}.")
    return case


def _shape(arg: object, shape: object) -> list[int]:
    try:
        return [index(axis) for axis in shape]  # type: ignore[attr-defined]
    except TypeError:
        said = f"cases gives {arg} the shape {shape!r:.100}; a shape is a list of whole numbers."
        raise InputError(said) from None


def _attrs(attrs: object) -> dict[str, int | float | bool]:
    if not isinstance(attrs, Mapping):
        raise InputError("attrs is a mapping of arguments to numbers.")
    for name, value in attrs.items():
        if not isinstance(value, bool | int | float):
            raise InputError(f"attrs gives {name} the value {value!r:.100}; it takes numbers.")
    return {str(name): value for name, value in attrs.items()}
