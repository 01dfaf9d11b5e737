"""Pages from the templates of this folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from bot.report.view import page_in

TEMPLATES: Final = Path(__file__).parent / "templates"


def page(template: str, **shown: Any) -> str:
    """The text of a template of this folder in Markdown."""
    return page_in(TEMPLATES, template, shown)
