"""Writes docs/python.md, the page of the public Python names, from their docstrings.

Usage: python -m ascendopt.reference docs
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import ascendopt
from bot.cli.reference import GENERATED

PAGE: Final = "python.md"

HEAD: Final = """# Python

{generated}

`import ascendopt` gives the judge, the search and the bank to programs and notebooks. These names
are public; a version that changes one says so in the changelog. Nothing else is public. Times are
in µs, and every result says which backend gave them. `pip install 'ascendopt[notebook]'` adds data
frames. [The notebook](../examples/notebook.ipynb) shows all of it at work.

{overview}
"""


def page() -> str:
    """Return the page: functions first, then the classes with their methods."""
    names = [name for name in ascendopt.__all__ if not name.startswith("_")]
    functions = [name for name in names if inspect.isfunction(getattr(ascendopt, name))]
    classes = [name for name in names if name not in functions]
    doc = inspect.cleandoc(ascendopt.__doc__ or "")
    overview = doc[doc.index("```python") : doc.rindex("```") + 3]
    parts = [HEAD.format(generated=GENERATED, overview=overview), "## Functions\n"]
    parts += [_function(name) for name in functions]
    parts.append("## Classes\n")
    parts += [_class(name) for name in classes]
    return "\n".join(parts)


def _function(name: str) -> str:
    thing = getattr(ascendopt, name)
    return f"### `{name}`\n\n```text\n{name}{_signature(thing)}\n```\n\n{_doc(thing)}\n"


def _class(name: str) -> str:
    thing = getattr(ascendopt, name)
    lines = [f"### `{name}`\n", _doc(thing), ""]
    for member, value in sorted(members(thing)):
        called = member if isinstance(value, property) else f"{member}{_signature(value)}"
        called = " ".join(called.split())
        words = inspect.cleandoc(value.__doc__ or "").replace("\n\n", " ").replace("\n", " ")
        lines.append(f"- `{called}`: {words}")
    return "\n".join([*lines, ""])


def members(thing: type) -> Iterator[tuple[str, property]]:
    """Give the public methods and properties that the class itself defines."""
    for member, value in vars(thing).items():
        if not member.startswith(("_", "model_")) and (
            inspect.isfunction(value) or isinstance(value, property)
        ):
            yield member, value  # type: ignore[misc]


def _signature(thing: object) -> str:
    """Return the parameters as they are written; a function as default is an ellipsis."""
    shown, keywords = [], False
    signature = inspect.signature(thing)  # type: ignore[arg-type]
    for one in signature.parameters.values():
        if one.kind is one.KEYWORD_ONLY and not keywords:
            shown.append("*")
            keywords = True
        stars = "**" if one.kind is one.VAR_KEYWORD else ""
        text = f"{stars}{one.name}"
        if one.annotation is not one.empty:
            text += f": {one.annotation}"
        if one.default is not one.empty:
            text += f" = {'…' if callable(one.default) else repr(one.default)}"
        shown.append(text)
    back = "" if signature.return_annotation is signature.empty else signature.return_annotation
    listed = ", ".join(name for name in shown if name != "self")
    if len(listed) > 70:
        listed = "\n" + "".join(f"    {name},\n" for name in shown if name != "self")
    return f"({listed})" + (f" -> {back}" if back else "")


def _doc(thing: object) -> str:
    """Return the docstring; the names of its sections become bold, their rows a list."""
    lines, section = [], ""
    for line in inspect.cleandoc(thing.__doc__ or "").splitlines():
        if line in ("Args:", "Raises:", "Example:"):
            lines.append(f"**{line}**\n")
            section = line
        elif section and line.startswith("    "):
            listing = section != "Example:"
            lines.append(f"- {line.strip()}" if listing else line.removeprefix("    "))
        else:
            lines.append(line)
    return "\n".join(lines)


def main() -> None:
    """Write the page into the folder that is given."""
    if len(sys.argv) != 2:
        sys.exit("usage: python -m ascendopt.reference FOLDER")
    (Path(sys.argv[1]) / PAGE).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
