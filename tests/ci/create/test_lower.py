"""Programs become kernels: what the passes put where."""

from ci.create.emit_kernel import kernel_text
from ci.create.lower import lower
from ci.create.schedule import program_of
from tests.ci.create.test_program import Shapes, layout


def kernel(name: str, shapes: Shapes) -> str:
    return kernel_text(lower(program_of(name, layout(name, shapes))), name)


def method(text: str, name: str) -> str:
    """The text of a method of the kernel."""
    return text.split(f"inline void {name}()")[1].split("\n    }\n")[0]


def test_a_number_that_all_tiles_meet_is_loaded_before_the_first() -> None:
    made = method(kernel("scaled_by_one", ((64, 70), (1,))), "Phase0")
    before, after = made.split("for (uint64_t unit")
    assert "CopyIn(inGain" in before and "CopyIn(inX" not in before
    assert "CopyIn(inX" in after and "CopyIn(inGain" not in after


def test_a_row_that_all_rows_meet_is_loaded_once_where_a_tile_has_all_of_it() -> None:
    text = kernel("rms_norm", ((64, 70), (70,)))
    whole = method(text, "Phase0Resident").split("for (uint64_t unit")
    assert "CopyIn(inGamma" in whole[0] and "CopyIn(inGamma" not in whole[1]
    parts = method(text, "Phase0Streamed").split("for (uint64_t unit")
    assert "CopyIn(inGamma" in parts[1] and "CopyIn(inGamma" not in parts[0]
