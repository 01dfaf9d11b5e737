"""Hooks of mkdocs for the documentation site (`make site`).

The README is the home page. A link from a page to a file outside `docs/` keeps its text only, since
the site has no such file; `tests/test_docs.py` checks that the file is there.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

TOP: Final = Path(__file__).parents[1]
_LINK: Final = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")


def on_files(files: Any, config: Any) -> Any:
    """Add the README as `index.md`."""
    from mkdocs.structure.files import File

    text = (TOP / "README.md").read_text(encoding="utf-8")
    files.append(File.generated(config, "index.md", content=home(text)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """The page without links that leave `docs/`."""
    return inside(markdown, page.file.src_uri)


def home(readme: str) -> str:
    """The README's text with links from `docs/`; links to other files keep their text."""
    return _LINK.sub(_at_home, readme)


def _at_home(found: re.Match[str]) -> str:
    mark, words, target = found.groups()
    if target.startswith(("http", "#")):
        return found.group()
    return f"{mark}[{words}]({target[5:]})" if target.startswith("docs/") else words


def inside(markdown: str, page: str) -> str:
    """`markdown` of `page` (its path below `docs/`) without links that lead out of the folder."""
    deep = page.count("/") + 1

    def kept(found: re.Match[str]) -> str:
        leaves = found[3].startswith("../" * deep)
        return found[2] if leaves else found.group()

    return _LINK.sub(kept, markdown)
