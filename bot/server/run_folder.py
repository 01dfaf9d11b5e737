"""The folder of a run: the checked patch, the reports and the result, or why it has none."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from pydantic import Field, ValidationError

from bot.report import PATCH, write_reports
from bot.repository.patch import applied, check_patch, own_paths
from bot.server.one_item import told
from ci.model.errors import InputError
from ci.model.frozen import Frozen
from ci.model.operator import Operator
from ci.model.result import Result

FAILURE: Final = "failure.json"


class Failure(Frozen):
    """Why a run left no result."""

    sentence: str
    lasting: bool = Field(description="Trying again would end the same way.")


@contextmanager
def leaving_reason(out: Path) -> Iterator[None]:
    """Leave the reason in `out` when what is done inside fails."""
    try:
        yield
    except Exception as problem:
        lasting = isinstance(problem, InputError)
        out.mkdir(parents=True, exist_ok=True)
        made = Failure(sentence=" ".join(told(problem).split()), lasting=lasting)
        (out / FAILURE).write_text(made.model_dump_json(), encoding="utf-8")
        raise


def only_files(folder: Path) -> None:
    """Take away what is neither a folder nor a file of its own from what runs have left.

    A stranger's code ran next to it: a link would name a file of whoever reads it, and a pipe would
    keep it waiting.
    """
    if folder.is_symlink():
        folder.unlink()
    for place, folders, names in os.walk(folder):
        for name in (*folders, *names):
            path = Path(place) / name
            found = path.lstat()
            alone = stat.S_ISREG(found.st_mode) and found.st_nlink == 1
            if not (alone or stat.S_ISDIR(found.st_mode)):
                path.unlink()


def read_failure(out: Path) -> Failure | None:
    """Why the run in `out` left no result; None when it did not say."""
    try:
        return Failure.model_validate_json((out / FAILURE).read_bytes())
    except (OSError, ValidationError):
        return None


def write_run(result: Result, operator: Operator, out: Path) -> Result:
    """Write everything that a run leaves into `out` and return the result as written.

    The patch is written only when it touches the operator's own sources alone, applies to them
    with `git apply --check`, and gives exactly the texts that were measured.
    """
    patch = out / PATCH
    patch.unlink(missing_ok=True)
    if result.diff:
        own = own_paths(result.operator_path, operator.sources, result.shared_paths)
        check_patch(result.diff, own, PATCH)
        texts = applied(operator, result.diff, PATCH)
        measured = {
            path: text
            for path, text in result.best.candidate.files.items()
            if text != operator.read(path)
        }
        if texts != measured:
            raise AssertionError("best.patch does not give the texts that were measured")
        with patch.open("w", encoding="utf-8", newline="") as file:
            file.write(result.diff)
    write_reports(result, out)
    return result
