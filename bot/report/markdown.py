"""`report.md`: the report for people who read it in a forge or an editor."""

from __future__ import annotations

import re

from bot.report.view import environment, values
from ci.model.result import Result


def markdown(result: Result) -> str:
    """The whole report as Markdown; the pictures it names lie beside it."""
    text = environment(html=False).get_template("report.md.j2").render(values(result))
    return re.sub(r"\n{3,}", "\n\n", text).rstrip() + "\n"
