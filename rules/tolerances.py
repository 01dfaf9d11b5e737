"""Loads `rules/tolerances.yml`: the default tolerance of each dtype."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from pydantic import RootModel

from ci.model.workload import Tolerance
from ci.model.yaml_model import read_file

FILE = Path(__file__).with_name("tolerances.yml")


@cache
def default_tolerances() -> dict[str, Tolerance]:
    """Tolerance by dtype name; every dtype that a tensor can have is there."""
    return read_file(RootModel[dict[str, Tolerance]], FILE).root
