"""The end of a run on disk: the checked patch, the reports and the result."""

from __future__ import annotations

from pathlib import Path

from bot.report import PATCH, write_reports
from bot.repository.patch import applied, check_patch, own_paths
from ci.model.operator import Operator
from ci.model.result import Result


def finish(result: Result, operator: Operator, out: Path) -> Result:
    """Write everything that a run leaves into `out` and return the result as written.

    The patch is written only when it touches the operator's own sources alone, applies to them
    with `git apply --check`, and gives exactly the texts that were measured.
    """
    patch = out / PATCH
    patch.unlink(missing_ok=True)
    if result.diff:
        sources = (*operator.host_sources, *operator.kernel_sources)
        check_patch(result.diff, own_paths(result.operator_path, sources), PATCH)
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
