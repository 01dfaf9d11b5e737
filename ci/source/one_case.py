"""A case on one line, as `check` prints it and takes it back, with what a workload says of it."""

from __future__ import annotations

from typing import Any, Final

from ci.model.errors import InputError
from ci.model.operator import Operator
from ci.model.workload import Workload, WorkloadCase
from ci.model.yaml_model import YamlFile
from ci.source.workload_file import checked, workload_of
from ci.source.workload_model import GivenCase, GivenWorkload
from ci.source.workload_text import case_fields, frame_fields, on_one_line

OPTION: Final = "--case"
VARIED: Final = "varied"

MOST_CHARACTERS: Final = 4000
"""The longest line that a person may copy: cases that list their numbers are longer."""


def case_line(operator: Operator, workload: Workload, case: WorkloadCase, varied: str) -> str:
    """What `one_case` reads as the case: the name of one of the workload, where a golden function
    judges it, else a mapping of YAML, which holds what `workload` says of all its cases where none
    does. '' where the line would be too long. `varied`: what was varied in it."""
    if workload.golden and not varied:
        return case.name
    said: dict[str, Any] = {"name": case.name}
    if varied:
        said[VARIED] = varied
    said |= {**frame_fields(workload)} if not workload.golden else {}
    text = on_one_line(said | case_fields(operator, case))
    return text if len(text) <= MOST_CHARACTERS else ""


def workload_text_of(line: str) -> str:
    """The text of a workload file that holds only the case of `line`.

    Raises InputError when it is no mapping, such as the name of a case.
    """
    data = _mapping(line)
    case = {key: value for key, value in data.items() if key in GivenCase.model_fields}
    frame = {key: value for key, value in data.items() if key not in (*case, VARIED)}
    return on_one_line({**frame, "cases": [case]})


def one_case(operator: Operator, workload: Workload, asked: str) -> tuple[Workload, str]:
    """`workload` with one case: the one that `asked` names, or the one that it is on one line; and
    what is varied in that, '' for nothing.

    Raises InputError when it is neither, or does not fit the definition.
    """
    if not asked.lstrip().startswith("{"):
        own = [case for case in workload.cases if case.name == asked]
        if not own:
            names = ", ".join(case.name for case in workload.cases[:20])
            raise InputError(
                f"--case is '{asked}', but the workload has other cases: {names}. A case on one"
                " line is a mapping in braces."
            )
        return workload.model_copy(update={"cases": tuple(own)}), ""
    file = YamlFile(workload_text_of(asked), OPTION)
    given = workload_of(operator, file, file.read(GivenWorkload), workload.folder)
    checked(operator, given, OPTION)
    frame = {} if workload.golden else {n: getattr(given, n) for n in frame_fields(given)}
    varied = str(_mapping(asked).get(VARIED, ""))
    return workload.model_copy(update={**frame, "cases": given.cases}), varied


def _mapping(line: str) -> dict[str, Any]:
    data = YamlFile(line, OPTION).data
    if not isinstance(data, dict):
        raise InputError(
            "--case must be a case on one line, as `ascendopt check` prints it, where the"
            " operator has no workload."
        )
    return data
