"""Which operators lie at a path, and where the workload of one is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ci.model.errors import InputError

if TYPE_CHECKING:
    from ci.model.operator import Operator


def operators_at(
    paths: Sequence[Path], on_unread: Callable[[Path, str], object] | None = None
) -> list[Operator]:
    """The operators at these folders, each of one operator or of a repository.

    `on_unread` is called with each place of a repository that cannot be read, and why.
    """
    from ci.source.discovery import find_operators, load_operator, places_in

    found: list[Operator] = []
    for path in paths:
        if (path / "op_kernel").is_dir():
            found += map(load_operator, places_in(path))
        elif (path.parent / "op_kernel").is_dir() or not path.is_dir():
            found.append(load_operator(path))
        else:
            found += find_operators(path, on_unread)
    return found


def places_below(top: Path) -> list[Path]:
    """What names each operator of a repository, be it one that cannot be read or not.

    Raises InputError when there is none.
    """
    from ci.source.discovery import operator_places
    from ci.source.placed import sources_without_name
    from ci.source.seen_kernels import no_operator

    if found := [*operator_places(top), *sources_without_name(top)]:
        return found
    raise InputError(no_operator(top))


def workload_below(operator: Operator, folder: Path) -> Path | None:
    """The operator's workload: next to it, else below `folder`; None when there is none."""
    from ci.source.workload_file import find_workload

    return find_workload(operator.place, folder, operator.repository or operator.root)
