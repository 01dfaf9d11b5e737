"""Which operators of a repository can be read, without building any."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from pydantic import Field

from ci.model.errors import InputError
from ci.model.frozen import Frozen


class Reading(Frozen):
    """Facts from a repository's definitions and build files; paths are from its top."""

    ours: tuple[str, ...] = Field(description="Declared for the 910B, or for no chip.")
    others: dict[str, tuple[str, ...]] = Field(
        description="Operators that are declared for other chips only, and these."
    )
    unread: dict[str, str] = Field(description="What cannot be read as an operator, and why.")
    auto_sync: dict[str, int] = Field(
        description="Operators for the 910B by automatic synchronisation: on, off, open."
    )
    left_out: str = Field(description="Kernels of the repository that belong to no operator.")


def no_operator(repository: Path) -> str:
    """Return the sentence for the owner of a checkout without operators in its last commit."""
    from ci.source.discovery import operator_places
    from ci.source.seen_kernels import no_operator

    top = repository.resolve()
    if places := operator_places(top):
        first = places[0].relative_to(top).as_posix()
        return f"{top} has operators, such as {first}, but none in its last commit: commit them."
    return no_operator(top)


def reading(repository: Path) -> Reading:
    """Read each operator's definition, sources and build; nothing is compiled or run."""
    from ci.source.discovery import for_chip, load_operator, operator_places
    from ci.source.seen_kernels import left_out

    top = repository.resolve()
    ours: list[str] = []
    others: dict[str, tuple[str, ...]] = {}
    unread: dict[str, str] = {}
    sync: Counter[str] = Counter()
    for place in operator_places(top):
        name = place.relative_to(top).as_posix()
        try:
            operator = load_operator(place, top)
        except InputError as problem:
            unread[name] = str(problem)
            continue
        if for_chip(operator):
            ours.append(name)
            sync[operator.auto_sync_word] += 1
        else:
            others[name] = operator.socs
    return Reading(
        ours=tuple(ours),
        others=others,
        unread=unread,
        auto_sync=dict(sync),
        left_out=left_out(top),
    )
