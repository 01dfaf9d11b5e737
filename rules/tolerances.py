"""Loads `rules/tolerances.yml`: the default tolerance of each dtype."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import yaml

from ci.model.workload import Tolerance

FILE = Path(__file__).with_name("tolerances.yml")


@cache
def default_tolerances() -> dict[str, Tolerance]:
    """Tolerance by dtype name; every dtype that a tensor can have is there."""
    rows = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    return {dtype: Tolerance.model_validate(row) for dtype, row in rows.items()}
