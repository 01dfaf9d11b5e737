"""`report.html`: the report in one file, pictures inside, no script, nothing loaded."""

from __future__ import annotations

from collections.abc import Iterator

from bot.base.text import printable
from bot.report.facts import plain_time
from bot.report.picture import pipes_picture, themed, trajectory_picture
from bot.report.view import page, values
from ci.model.result import Result


def diff_lines(diff: str) -> Iterator[tuple[str, str]]:
    """(kind, line) of a unified diff; kind is file, hunk, add, del or same."""
    # As git counts lines: what stands behind any other separator belongs to the line.
    for line in diff.removesuffix("\n").split("\n") if diff else ():
        if line.startswith(("diff --git", "index ", "--- ", "+++ ")):
            kind = "file"
        elif line.startswith("@@"):
            kind = "hunk"
        elif line.startswith("+"):
            kind = "add"
        elif line.startswith("-"):
            kind = "del"
        else:
            kind = "same"
        yield kind, printable(line)


def html(result: Result) -> str:
    """The whole report as a self-contained page."""
    shown = values(result)
    shown["trajectory_svg"] = themed(trajectory_picture(shown["points"], plain_time(result)))
    shown["pipes_svg"] = themed(pipes_picture(shown["pipes"]))
    shown["diff_lines"] = list(diff_lines(result.diff))
    return page("report.html.j2", **shown)
