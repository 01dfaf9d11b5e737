"""Reads a Workload: `workload.yaml`, or a cann-bench task folder (see `cann_bench.py`)."""

from __future__ import annotations

import os
from pathlib import Path

from ci.model import layout
from ci.model.columns import case_column
from ci.model.errors import InputError
from ci.model.operator import Operator
from ci.model.workload import TensorCase, Workload
from ci.model.yaml_model import YamlFile
from ci.source.cann_bench import is_cann_bench, load_cann_bench
from ci.source.placed import plain
from ci.source.readable_files import home, within
from ci.source.workload_model import GivenWorkload, case_for

FILE = "workload.yaml"

MOST_BYTES = 4_000_000
"""Most bytes of a workload file: generated ones have thousands of cases."""


def load_workload(operator: Operator, path: Path | None = None) -> Workload:
    """The workload at `path` (a YAML file or a folder), checked against the op definition.

    Without `path`: `workload.yaml` next to op_host. Raises InputError naming file, line and key.
    """
    file = _beside(operator.place) if path is None else path
    if not file.exists():
        if path is None:
            raise InputError(
                f"{operator.name} has no workload: there is no {file}. `ascendopt workload derive"
                f" {file.parent}` writes one."
            )
        raise InputError(f"There is no file or folder {file}.")
    if file.is_dir():
        if is_cann_bench(file):
            return checked(operator, load_cann_bench(operator, file), file / "cases.yaml")
        if not (file / "workload.yaml").is_file():
            raise InputError(
                f"{file} holds no workload: neither workload.yaml nor proto.yaml with cases.yaml."
            )
        file = file / "workload.yaml"
    if file.name == "cases.yaml" and is_cann_bench(file.parent):
        return checked(operator, load_cann_bench(operator, file.parent), file)
    return checked(operator, _read(operator, file), file)


def find_workload(root: Path, folder: Path | None, top: Path) -> Path | None:
    """The workload next to the operator in `root`, else the one for its name below `folder`.

    There `<around>/<operator>` goes before `<operator>`, where around is the name of any folder
    that the operator lies in, the nearest first, up to its repository `top`: its category, its
    repository. Folders around the repository do not count: their names are the user's.
    """
    beside = _beside(root)
    if beside.is_file():
        return beside
    return None if folder is None else workload_in(folder, root, top)


def _beside(place: Path) -> Path:
    """Where the workload next to an operator is; `Operator.place` names it.

    Of several operators in a folder the one of the folder's name may have it there.
    """
    file, outer = place / FILE, place.parent / FILE
    namesake = plain(place.name) == plain(place.parent.name)
    within_one = (place.parent / layout.HOST).is_dir()
    return outer if namesake and within_one and not file.is_file() else file


def workload_in(folder: Path, root: Path, top: Path) -> Path | None:
    """Find the workload as `find_workload`, whatever lies next to the operator."""
    around = [parent.name for parent in root.parents if parent.is_relative_to(top)]
    candidates = [folder / name / root.name / "workload.yaml" for name in around]
    candidates.append(folder / root.name / "workload.yaml")
    return next((path for path in candidates if path.is_file()), None)


def checked(operator: Operator, workload: Workload, file: Path | str) -> Workload:
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


def _read(operator: Operator, path: Path) -> Workload:
    if not path.is_file():
        raise InputError(f"{path} is no file that can be read.")
    place = Path(os.path.normpath(path.absolute())).parent
    top = home(place) if (home(place) / ".git").exists() else None
    if top is not None and not within(path, top, beside=place):
        raise InputError(f"{path} leads to what is hidden or lies outside of its repository.")
    file = YamlFile.open(path, top, most_bytes=MOST_BYTES, aliases=True)
    given = file.read(GivenWorkload)
    if given.golden and not (path.parent / given.golden.rpartition(":")[0]).is_file():
        what = f"is '{given.golden}', but there is no such file next to it; write file.py:function"
        raise file.wrong(["golden"], what)
    return workload_of(operator, file, given, path.parent.resolve())


def workload_of(operator: Operator, file: YamlFile, given: GivenWorkload, folder: Path) -> Workload:
    """What the document `given` in `file` means for the operator; its golden function is in
    `folder`. Raises InputError where it does not fit the definition."""
    _check_names(operator, file, given)
    cases = tuple(case_for(operator, file, one, i) for i, one in enumerate(given.cases))
    names = [c.name for c in cases]
    for number, name in enumerate(names):
        if name in names[:number]:
            raise file.wrong(["cases", number], f"there are two cases named '{name}'")
    return Workload(
        operator=operator.op_type,
        cases=cases,
        golden=given.golden,
        folder=folder,
        tolerances=given.tolerances,
        seeds=given.seeds,
        auto_sync=given.auto_sync,
        in_place=given.in_place,
        initial=given.initial,
        any_order=given.any_order,
        over_read=given.over_read,
    )


def _check_names(operator: Operator, file: YamlFile, given: GivenWorkload) -> None:
    """Check that operator, inputs and outputs have names of the definition."""
    spelled = {n.replace("_", "").lower() for n in (operator.op_type, operator.name)}
    named = given.operator
    if named is not None and named.replace("_", "").lower() not in spelled:
        what = f"is '{named}', but this workload is for {operator.op_type}"
        raise file.wrong(["operator"], what)
    inputs = [spec.name for spec in operator.inputs]
    outputs = [spec.name for spec in operator.outputs]
    for number, name in enumerate(given.in_place):
        if name not in inputs:
            what = f"names '{name}'; inputs are {', '.join(inputs)}"
            raise file.wrong(["in_place", number], what)
        if name in outputs:
            what = f"names '{name}', which the definition has as an output"
            raise file.wrong(["in_place", number], what)
    for name in given.initial:
        if name not in outputs:
            what = f"is no output of the op definition; it has {', '.join(outputs)}"
            raise file.wrong(["initial", name], what)
