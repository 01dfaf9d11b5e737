from __future__ import annotations

from pathlib import Path

import pytest

from ci.testing.scale_shift import OPERATOR
from lab.bench.screen import measure
from lab.from_trials import learn
from lab.model.screen import ScreenBenchSettings


@pytest.mark.long
def test_a_screened_search_ends_as_one_on_the_device_alone(tmp_path: Path) -> None:
    settings = ScreenBenchSettings(budget=5, out=tmp_path)
    (row,) = measure([OPERATOR], settings, lambda said: None).rows
    assert row.speedup_screened == row.speedup_alone
    assert row.screened + row.spared == row.alone
    assert row.spared >= 1
    found = learn([tmp_path / "screened" / OPERATOR.name], settings.device)
    assert len(found.as_it_was) >= len(found.groups[0].rows) >= 1
