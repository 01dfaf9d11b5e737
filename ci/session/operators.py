"""Which operators lie at a path, and where the workload of one is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ci.model.operator import Operator


def operators_at(paths: Sequence[Path]) -> list[Operator]:
    """The operators at these folders, each of one operator or of a repository."""
    from ci.source.discovery import find_operators, load_operator, places_in

    found: list[Operator] = []
    for path in paths:
        if (path / "op_kernel").is_dir():
            found += map(load_operator, places_in(path))
        elif (path.parent / "op_kernel").is_dir() or not path.is_dir():
            found.append(load_operator(path))
        else:
            found += find_operators(path)
    return found


def workload_below(operator: Operator, folder: Path) -> Path | None:
    """The operator's workload: next to it, else below `folder`; None when there is none."""
    from ci.source.workload_file import find_workload

    return find_workload(operator.place, folder, operator.repository or operator.root)
