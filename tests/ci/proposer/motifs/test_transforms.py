"""Each transform on code as operators have it (transforms.yml): what it makes of it."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from ci.proposer.motifs.match import apply_matches
from ci.proposer.motifs.transforms import TRANSFORMS
from ci.source.cpp_source import parse

CASES = yaml.safe_load(Path(__file__).with_name("transforms.yml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["says"])
def test_a_transform_changes_what_it_should_and_nothing_else(case: dict[str, Any]) -> None:
    source = parse(case["before"])
    matches = TRANSFORMS[case["transform"]](source, case.get("with", {}))
    assert apply_matches(source, matches) == case.get("after")
