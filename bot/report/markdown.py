"""`report.md`: the report for people who read it in a forge or an editor."""

from __future__ import annotations

from bot.report.view import page, values
from ci.model.result import Result


def markdown(result: Result) -> str:
    """The whole report as Markdown; the pictures it names lie next to it."""
    return page("report.md.j2", **values(result))
