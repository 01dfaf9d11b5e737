"""Where the tests find what the repository ships."""

from __future__ import annotations

from pathlib import Path
from typing import Final

TOP: Final = Path(__file__).parents[1]
EXAMPLES: Final = TOP / "examples"
SAMPLE: Final = EXAMPLES / "sample_repository"
OPERATORS: Final = TOP / "tests" / "operators"
HEADER_TREE: Final = TOP / "tests" / "lab" / "header_tree"
