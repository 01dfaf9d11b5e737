"""Reports of a finished optimization: Markdown, HTML and pictures, written next to the result."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from ci.model.result import Result

PATCH: Final = "best.patch"
RESULT: Final = "result.json"
MARKDOWN: Final = "report.md"
HTML: Final = "report.html"


def write_reports(result: Result, out: Path) -> None:
    """Write report.md with its pictures, report.html and result.json into `out`."""
    from bot.report.facts import pipe_rows, plain_time, trajectory
    from bot.report.html import html
    from bot.report.markdown import markdown
    from bot.report.picture import pipes_picture, trajectory_picture

    out.mkdir(parents=True, exist_ok=True)
    points, pipes = trajectory(result), pipe_rows(result)
    if len(points) > 1:
        (out / "trajectory.svg").write_text(trajectory_picture(points, plain_time(result)))
    if pipes:
        (out / "pipes.svg").write_text(pipes_picture(pipes))
    (out / MARKDOWN).write_text(markdown(result), encoding="utf-8")
    (out / HTML).write_text(html(result), encoding="utf-8")
    (out / RESULT).write_text(result.model_dump_json(indent=2) + "\n", encoding="utf-8")
