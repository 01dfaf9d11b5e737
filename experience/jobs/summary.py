"""The summary of a refresh in Markdown, for a CI job to publish."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from experience.jobs.refresh import Refreshed


def markdown(done: Refreshed) -> str:
    """Tell what held, what was retired and why, what was learnt, and what the bank holds now."""
    jinja = Environment(  # noqa: S701  (Markdown; foreign texts go through `cell`)
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    jinja.filters |= {"cell": _cell, "times": _times}
    return jinja.get_template("summary.md.j2").render(
        dict(done),
        held=sum(c.verdict == "holds" for c in done.checked),
        retired=[c for c in done.checked if c.verdict == "retired"],
        unplaced=[c for c in done.checked if c.verdict.startswith("not placed")],
    )


def _times(value: float | None) -> str:
    return "failed" if value is None else f"{value:.3f}x"


def _cell(text: str) -> str:
    """Plain text in a table: nothing that Markdown, HTML or a forge would act on."""
    kept = "".join(c if c.isalnum() or c in " .,:;_-%()/+=" else " " for c in text)
    return " ".join(kept.split())[:200]
