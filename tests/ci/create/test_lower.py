"""Programs become kernels: what the passes put where."""

from pathlib import Path

import pytest

from ci.create.emit_kernel import kernel_text
from ci.create.layout import layout_of
from ci.create.lower import lower
from ci.create.passes.budget import EVENTS
from ci.create.passes.copies import queue_of
from ci.create.schedule import program_of
from ci.model.errors import InputError
from tests.ci.create.test_program import Shapes, layout, tracer
from tests.ci.create.test_references import made_of


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


def test_the_next_tile_is_loaded_before_this_one_is_computed() -> None:
    text = kernel("gelu", ((64, 70),))
    loop = method(text, "Phase0").split("for (uint64_t unit")[1]
    assert loop.index("LoadPhase0(unit + 1)") < loop.index("Arrived<")
    assert "CopyIn(inX" not in loop


def test_buffers_of_one_sweep_serve_the_next() -> None:
    text = kernel("softmax", ((64, 70),))
    streamed = method(text, "Phase0Streamed")
    assert streamed.count("= tile0Buf.Get") == 1 and "tile2Buf" not in streamed


def test_few_units_are_shared_and_what_was_folded_is_joined() -> None:
    streamed = method(kernel("softmax", ((3, 70001),)), "Phase0Streamed")
    joins = [line.strip() for line in streamed.splitlines() if "JoinParts" in line]
    assert [j.partition("(")[0] for j in joins] == ["JoinParts<Op::MAX>", "JoinParts<Op::ADD>"]
    assert "colStart = begin; colStart < end" in streamed


def test_whole_numbers_leave_through_half_where_they_have_a_byte() -> None:
    found = tracer("is_large").trace([((9, 70), "float32")], {}, [])
    made = layout_of(found, {0: ("x", "T")}, [("y", "bool")])
    text = kernel_text(lower(program_of("is_large", made)), "title")
    assert "GiveByte<uint8_t>(outY" in text


def test_a_tile_of_a_tensor_with_other_axes_last_is_turned_round() -> None:
    text = kernel("columns_first", ((2, 40, 70), (70,)))
    assert "GiveTurned<DTYPE_Y0>" in text
    copy = "CopyOutTurned(outY0, y0Gm[atA * lengthC * lengthB + colStart * lengthB + rowStart]"
    assert f"{copy}, cols, rows, lengthB);" in text


def test_tiles_have_long_rows_where_an_axis_of_few_elements_is_turned() -> None:
    text = kernel("columns_first", ((2, 70, 3), (3,)))
    where = "xGm[atA * lengthB * lengthC + colStart * lengthC + rowStart]"
    assert f"CopyInTurned(inX, {where}, cols, rows, lengthC);" in text
    assert "CopyOut(outY0" in text and "GiveTurned" not in text


def test_halves_of_an_axis_are_loaded_and_stored_as_parts_of_their_tensors() -> None:
    text = kernel("rotary_of_whole", ((2, 5, 12), (5, 12), (5, 12)))
    loads = {line.strip() for line in text.splitlines() if line.strip().startswith("CopyIn(inX")}
    assert loads == {
        "CopyIn(inXPart0, xGm[atA * lengthB * lengthC + rowStart * lengthC + colStart],"
        " rows, cols, lengthC);",
        "CopyIn(inXPart0, xGm[atA * lengthB * lengthC + rowStart * lengthC + colStart],"
        " 1, rows * lengthC, rows * lengthC);",
        "CopyIn(inXPart2, xGm[lengthF + atA * lengthB * lengthC + rowStart * lengthC + colStart],"
        " rows, cols, lengthC);",
    }
    assert text.count("CopyOut(outY0Part") == 3


def test_halves_of_a_row_go_in_one_copy_where_the_lengths_allow_it() -> None:
    text = kernel("rotary", ((2, 5, 64), (5, 32), (5, 32)))
    load = text.split("void LoadPhase0")[1].split("    }\n\n")[0]
    assert load.count("CopyIn(inX") == 3  # both, or one after the other
    assert "+ colStart], 1, rows * lengthC, rows * lengthC);" in load
    body = method(text, "Phase0")
    taken = [line.strip() for line in body.splitlines() if "HalfOf(" in line]
    assert [("loadedX[cols]" in line, "Arrived<" in line) for line in taken] == [
        (False, True),
        (True, True),
    ]
    assert body.index("HalfOf(narrowTile2, loadedX[cols]") < body.index("FreeTensor(loadedX)")
    assert body.count("outY0Part0.AllocTensor") == body.count("outY0Part0.EnQue(storedY0)") == 1


def test_ranges_that_are_no_halves_have_copies_of_their_own() -> None:
    assert "Pair" not in kernel("first_rows", ((3, 7, 5), (5,)))


def test_elements_in_steps_are_gathered_out_of_the_run_that_holds_them() -> None:
    text = kernel("every_other", ((4, 14),))
    where = "xGm[rowStart * lengthB + colStart * 2]"
    assert f"CopyInSteps(inXPart0, {where}, 2, 1, rows, cols, lengthB);" in text
    assert "Multiples<DTYPE_X>(colsStep2, 2);" in text
    assert "pipe.InitBuffer(inXPart0, 2, (2 * tiling.tile" in text
    assert "inXPart1" not in text and text.count("inXPart0Run, tileStep, colsStep2, 2, ") == 2


def test_rows_in_steps_are_copied_by_themselves() -> None:
    text = kernel("every_third_row", ((3, 12, 7), (7,)))
    where = "xGm[1 * lengthD + atA * lengthB * lengthD + rowStart * 3 * lengthD + colStart]"
    assert f"CopyIn(inXPart0, {where}, rows, cols, 3 * lengthD);" in text


def test_values_that_take_turns_are_stored_as_one_run() -> None:
    text = kernel("rotary_of_pairs", ((2, 5, 14), (5, 7), (5, 7)))
    where = "y0Gm[atA * lengthB * lengthE + rowStart * lengthE + colStart * 2]"
    assert f"CopyOut(outY0Part0, {where}, rows, 2 * cols, lengthE);" in text
    given = [line.strip().partition("(")[0] for line in text.splitlines() if "tileTurns2, " in line]
    assert given.count("Beside<DTYPE_Y0>") == 2 and given.count("GiveTurns<DTYPE_Y0>") == 1


def test_a_running_sum_beside_rows_of_others_has_one_row() -> None:
    text = kernel("drawn_by_chance", ((4, 70), (4, 9)))
    assert "rampRows, rampCols, 1, cols, pitch);" in text


def test_tensors_of_different_phases_share_a_queue_where_there_are_too_few(tmp_path: Path) -> None:
    _, made = made_of("deviation_from_the_median", tmp_path)
    queues = made.lowered.queues
    assert max(sum(q.out == side for q in queues) for side in (False, True)) <= EVENTS
    uses: dict[tuple[str, bool], set[int]] = {}
    for plan in made.lowered.streamed:
        for s in plan.phase.statements:
            if s.tensor is not None:
                uses.setdefault((s.tensor.name, s.op == "store"), set()).add(plan.phase.number)
    shared = [q for q in queues if q.others]
    kernel = made.files["op_kernel/deviation_from_the_median.cpp"]
    for queue in shared:
        phases = [uses[t.name, queue.out] for t in (queue.tensor, *queue.others)]
        assert len(set().union(*phases)) == sum(map(len, phases))
        assert not any(queue_of(t, queue.out) in kernel for t in queue.others)
    assert any(q.kind == "halo" and "tile" in q.kinds for q in shared)
    host = made.files["op_host/deviation_from_the_median.cpp"]
    assert "pitch, narrow};" in host  # rows of tiles of both widths are whole blocks


@pytest.mark.parametrize(("name", "depth"), [("gelu", 2), ("five_powers", 1)])
def test_outputs_have_no_more_buffers_than_a_pair_of_pipes_has_events(
    name: str, depth: int
) -> None:
    found = [q.depth for q in lower(program_of(name, layout(name, ((20, 70),)))).queues if q.out]
    assert set(found) == {depth} and sum(found) <= EVENTS


def test_bytes_in_steps_are_refused() -> None:
    found = tracer("every_other").trace([((4, 14), "int8")], {}, [])
    made = layout_of(found, {0: ("x", "int8")}, [("y", "int8")])
    with pytest.raises(InputError, match="'x' is int8 and read in steps along its last axis"):
        lower(program_of("every_other", made))


def test_ranges_that_are_taken_for_equally_long_are_held_to_it_by_the_host() -> None:
    made = layout("rotary_of_whole", ((2, 5, 12), (5, 12), (5, 12)))
    ((group, length),) = made.checks
    assert made.groups[[g.name for g in made.groups].index(group)].example == 6
    assert length.evaluate({"x.2": 13.0}, {}) == 6  # the other half of 13 has 7


def test_parts_of_other_lengths_are_stored_in_phases_of_their_own() -> None:
    program = program_of("beside", layout("beside", ((4, 6), (4, 11))))
    assert [[s.op for s in p.statements][-1] for p in program.phases] == ["store", "store"]
    assert "all cores meet" not in program.text()


def test_a_tile_is_divided_by_a_number_of_its_row_only_once() -> None:
    made = layout("softmax", ((64, 70),))
    divided = [i for i in made.items if i.op == "div"]
    assert [sorted(i.groups) for i in divided] == [["A"]]


def test_what_a_later_phase_reduces_over_another_axis_lies_in_the_workspace() -> None:
    program = program_of("grad", layout("rms_norm_grad", ((8, 70), (8, 70), (70,))))
    (kept,) = program.kept
    first, second = program.phases
    stored = {s.tensor.name for s in first.statements if s.op == "store" and s.tensor}
    assert stored == {"y0", kept.name}
    assert any(s.op == "load" and s.tensor == kept for s in second.statements)
    assert program.text().count("all cores meet") == 1
    text = kernel_text(lower(program), "title")
    assert text.index("SyncAll();") > text.index("void Process()")
    assert f"{kept.name}Gm.SetGlobalBuffer(next);" in text
    assert "GetUserWorkspace(workspace)" in text


def test_what_is_kept_has_a_name_that_no_other_tensor_has() -> None:
    program = program_of("named", layout("sums_of_kept", ((2, 6, 13),)))
    names = [t.name for t in (*program.inputs, *program.outputs, *program.kept)]
    assert len(set(names)) == len(names) and len(program.kept) > 1


def test_outputs_that_are_reduced_over_different_axes_have_phases_and_no_meeting() -> None:
    program = program_of("two", layout("sums_of_rows_and_columns", ((64, 70),)))
    assert [p.sequential for p in program.phases] == [("A",), ("B",)]
    assert not program.kept and "all cores meet" not in program.text()
    assert "SyncAll" not in kernel_text(lower(program), "title")


def test_the_mask_of_causal_scores_is_held_to_as_many_rows_as_columns() -> None:
    made = layout("causal_attention", ((2, 6, 4), (2, 6, 4), (2, 6, 5)))
    ((group, length),) = made.checks
    own = next(g.size for g in made.groups if g.name == group)
    said = {"q.1": 6.0, "k.1": 7.0}
    assert (own.evaluate(said, {}), length.evaluate(said, {})) == (6, 7)


def test_a_sum_over_an_axis_that_tiles_lack_is_collected_in_a_tile() -> None:
    text = kernel("causal_attention", ((2, 64, 16), (2, 64, 16), (2, 64, 24)))
    places = [line.strip() for line in text.splitlines() if "static_cast<float>(at" in line]
    assert places and all(line.startswith("Duplicate(cell") for line in places)
    assert "Duplicate(tile1, 0.0f, count);" in text
    assert "Add(tile1, tile1, tile0, count);" in text


def test_a_tile_that_meets_a_sum_is_loaded_behind_the_loop_of_the_sum() -> None:
    made = method(kernel("gated_by_keys", ((3, 7, 70), (3, 6, 70))), "Phase0")
    assert made.index("for (uint64_t atB") < made.index("CopyIn(inQ") < made.index("CopyOut(")
    assert made.count("const uint32_t count") == 1


@pytest.mark.parametrize(
    ("name", "shapes"),
    [
        ("transposed_product", ((12, 7), (12, 5))),
        ("squeeze_and_excite", ((2, 6, 3, 5), (6, 4), (4, 6))),
    ],
)
def test_tiles_are_runs_of_every_tensor_where_some_axes_make_them(
    name: str, shapes: Shapes
) -> None:
    text = kernel(name, shapes)
    assert "CopyInTurned" not in text and "CopyOut" in text


def test_the_diagonal_of_a_matrix_is_held_to_a_square_one() -> None:
    made = layout("by_own_diagonal", ((13, 13), (6, 13)))
    assert any(
        op == "eq" and a.evaluate({"a.0": 3.0, "a.1": 4.0}, {}) == 3 for op, a, _ in made.guards
    )


def test_scores_are_kept_for_the_product_with_the_values_and_nothing_is_turned() -> None:
    program = program_of("heads", layout("attention", ((2, 6, 4), (2, 7, 4), (2, 7, 5))))
    (kept,) = program.kept
    assert len(kept.groups) == 3
    assert not any(p.turns(s.tensor) for p in program.phases for s in p.statements if s.tensor)
