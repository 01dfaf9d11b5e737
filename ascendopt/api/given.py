"""What a caller of the public names gave, or a sentence that says what is wrong with it."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pydantic import ValidationError

from ci.model.amount import amount
from ci.model.errors import InputError, first_fault, plainly
from ci.model.folder import writable_folder

if TYPE_CHECKING:
    from ci.model.frozen import Frozen

    Options = TypeVar("Options", bound=Frozen)

_MISSING: Final = (errno.ENOENT, errno.ENOTDIR)


def path_of(given: object, what: str) -> Path:
    """Return a path that may be looked up; it need not be there.

    `what` begins the sentence of the InputError that anything else raises.
    """
    if not isinstance(given, str | os.PathLike) or isinstance(os.fspath(given), bytes):
        raise InputError(f"{what} must be a path (text or pathlib.Path), not {_kind(given)}.")
    path = Path(given)
    try:
        path.lstat()
    except ValueError as problem:  # a character that no path has
        raise InputError(f"{what} is no path: {problem}.") from None
    except OSError as problem:
        if problem.errno not in _MISSING:
            raise InputError(f"{what} cannot be looked up: {problem.strerror}.") from None
    return path


def folder_of(given: object, what: str) -> Path:
    """Return the path of a folder in which files can be made, or that can be made itself.

    Raises InputError.
    """
    path = path_of(given, what)
    try:
        return writable_folder(path)
    except (OSError, ValueError) as problem:
        raise InputError(f"{what} cannot be {path}: {plainly(problem)}.") from None


def text_of(given: object, what: str, most_bytes: int) -> str:
    """Return text that can be written as UTF-8, of bounded size; raises InputError."""
    if not isinstance(given, str):
        raise InputError(f"{what} must be text, not {_kind(given)}.")
    try:
        size = len(given.encode())
    except UnicodeEncodeError:
        raise InputError(f"{what} holds characters that UTF-8 cannot write.") from None
    if size > most_bytes:
        raise InputError(f"{what} is larger than {amount(most_bytes, 'byte')}.")
    return given


def options_of(model: type[Options], given: dict[str, Any]) -> Options:
    """Return `model` with the options that a caller gave; raises InputError naming the bad one."""
    unknown = sorted(set(given) - set(model.model_fields))
    if unknown:
        known = ", ".join(sorted(model.model_fields))
        raise InputError(f"There is no option {unknown[0]}; known: {known}.")
    try:
        return model(**given)
    except ValidationError as problem:
        place, said = first_fault(problem)
        name = place.partition(".")[0]
        raise InputError(f"{name} cannot be {given.get(name)!r:.200}: {said.lower()}.") from None


def _kind(given: object) -> str:
    return "nothing" if given is None else f"a value of type {type(given).__name__}"
