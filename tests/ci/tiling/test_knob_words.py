from pathlib import Path

import pytest

from ci.testing.model_operator import write
from ci.tiling.knob_words import knob_changes, moved, set_to
from ci.tiling.synthesize import synthesize
from ci.tiling.template import KnobValue


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (
            {"coreNum.work": 8192},
            "At least 8192 elements a core, so that small inputs start fewer cores (coreNum).",
        ),
        (
            {"coreNum.output": 512},
            "At least 512 elements of the output a core, so that small inputs start fewer cores"
            " (coreNum).",
        ),
        (
            {"ubSize.share": 8, "ubParts": 3},
            "Tiles for 8/16 of the unified buffer (ubSize). ubParts is 3 instead of 4.",
        ),
    ],
)
def test_a_setting_is_said_in_words(
    tmp_path: Path, values: dict[str, KnobValue], said: str
) -> None:
    assert moved(synthesize(write(tmp_path), "910B4"), values) == said


def test_a_limit_that_is_taken_back_is_said_with_what_it_was(tmp_path: Path) -> None:
    operator = write(tmp_path)
    files = synthesize(operator, "910B4").changes({"coreNum.work": 1024})
    template = synthesize(operator, "910B4", files=files)
    back = "As many cores for small inputs as for large ones (coreNum, 1024 before)."
    assert moved(template, {"coreNum.work": 0}) == back


def test_a_number_that_stands_in_several_places_is_said_by_its_place(tmp_path: Path) -> None:
    knob = next(k for k in synthesize(write(tmp_path), "910B4").knobs if k.name == "ubParts")
    second = knob.model_copy(update={"name": "ubParts.1"})
    assert set_to(second, 6, 12) == "ubParts (place 2) is 12 instead of 6"


@pytest.mark.parametrize(
    ("name", "before", "value", "reasoned"),
    [
        ("coreNum.work", 0, 1024, True),
        ("coreNum.work", 1024, 8192, True),
        ("coreNum.work", 8192, 1024, False),
        ("coreNum.work", 8192, 0, False),
        ("ubSize.share", 16, 8, True),
        ("ubSize.share", 4, 8, False),
        ("ubParts", 6, 4, True),
    ],
)
def test_the_reason_of_a_limit_is_given_where_it_is_tightened(
    tmp_path: Path, name: str, before: KnobValue, value: KnobValue, reasoned: bool
) -> None:
    template = synthesize(write(tmp_path), "910B4").at({name: before})
    (change,) = knob_changes(template, {name: value})
    assert bool(change.why) is reasoned
