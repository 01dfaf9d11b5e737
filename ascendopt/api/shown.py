"""Small pieces of HTML and tables that results show in notebooks. Every text is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from ci.model.errors import EnvironmentProblem

if TYPE_CHECKING:
    import pandas


def html_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a `<table>` with one header row."""
    top = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def html_bars(shares: Mapping[str, float]) -> str:
    """Return one horizontal bar a name; a share of 1 fills the width."""
    rows = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td style="width:16em">'
        f'<div style="background:#0f766e;height:.8em;width:{min(1.0, share):.0%}"></div></td>'
        f"<td>{share:.0%}</td></tr>"
        for name, share in shares.items()
    )
    return f"<table>{rows}</table>"


def data_frame(rows: Sequence[Mapping[str, Any]]) -> pandas.DataFrame:
    """Return the rows as a pandas DataFrame; raises EnvironmentProblem without pandas."""
    try:
        import pandas
    except ImportError:
        raise EnvironmentProblem(
            "Data frames need pandas: pip install 'ascendopt[notebook]'."
        ) from None
    return pandas.DataFrame(list(rows))
