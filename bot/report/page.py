"""Pages of docs/ that are written by hand but for one part, which a command measures."""

from __future__ import annotations

import re
from pathlib import Path

from ci.model.errors import InputError


def marks(suite: str) -> tuple[str, str]:
    """Return the lines around the part of a page that `ascendopt bench SUITE --markdown` writes."""
    begin = f"<!-- measured: written by `ascendopt bench {suite} --markdown` -->"
    return begin, "<!-- end of what is measured -->"


def replace_part(path: Path, suite: str, text: str) -> None:
    """Put `text` in the place of what `suite` measured on the page at `path`.

    Raises InputError when there is no such page, or none with the two marks.
    """
    begin, end = marks(suite)
    try:
        page = path.read_text(encoding="utf-8")
    except OSError as problem:
        raise InputError(f"The page {path} cannot be read: {problem.strerror}.") from problem
    part = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    if not part.search(page):
        raise InputError(
            f"{path} has no measured part. Put the lines '{begin}' and '{end}' where it belongs."
        )
    measured = f"{begin}\n\n{text}\n{end}"
    path.write_text(part.sub(lambda _: measured, page, count=1), encoding="utf-8")
