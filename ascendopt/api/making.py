"""The settings of `create` are made here from a golden function and shapes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import yaml

from ci.model.created import Created, CreateSettings
from ci.model.errors import InputError


def make_operator(
    golden: str,
    cases: Mapping[str, Sequence[int]] | Sequence[Mapping[str, Sequence[int]]],
    folder: Path,
    *,
    out: Path,
    dtype: str,
    attrs: dict[str, int | float | bool],
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

    file, _, function = golden.rpartition(":")
    try:
        text = Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError(f"{golden} names no golden function: {problem}.") from problem
    one = isinstance(cases, Mapping)
    listed = [cases] if isinstance(cases, Mapping) else list(cases)
    shapes = [{arg: list(shape) for arg, shape in case.items()} for case in listed]
    data = {"shapes": shapes[0] if one else shapes, "dtype": dtype, "attrs": attrs}
    wanted = asked(text, yaml.safe_dump(data), name or function)
    workload = folder / "workload.yaml"
    workload.write_text(wanted.workload, encoding="utf-8")
    settings = CreateSettings(
        workload=workload,
        out=out,
        name=name or None,
        proposer=proposer,
        models=models,
        device=device,
    )
    return create_operator(golden, settings, say)
