"""Bounds, alignment, padding, atomics and initialised-ness of the machine's memories."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.ci.simulator.machine_harness import MachineHarness

N = 1024
X = np.arange(N, dtype=np.float32)


def round_trip(copy_in: str, copy_out: str) -> str:
    return f"{copy_in} pipe_barrier(PIPE_ALL); {copy_out}"


@pytest.mark.parametrize(
    ("copy", "words"),
    [
        ("copy_gm_to_ubuf(ub<float>(0x2fff0), a[0], 0, 1, 2, 0, 0);", "multiple of 32"),
        ("copy_gm_to_ubuf(ub<float>(0x2ffe0), a[0], 0, 1, 2, 0, 0);", "beyond the 196608 bytes"),
        ("copy_gm_to_ubuf(ub<float>(0), a[0], 0, 1, 130, 0, 0);", "past the end of"),
        ("copy_gm_to_ubuf(ub<float>(0), a[0] + 8192, 0, 1, 1, 0, 0);", "out of bounds"),
        ("copy_gm_to_ubuf(ub<float>(0), a[0] - 32, 0, 1, 1, 0, 0);", "before the start of input 0"),
        ("copy_ubuf_to_gm(a[1], ub<float>(0), 0, 33, 2, 0, 2);", "past the end of"),
        ("vadds((float*)a[0], ub<float>(0), 1.0f, 1, 1, 1, 8, 8);", "not in the unified buffer"),
        ("vadds(ub<float>(0x2ff00), ub<float>(0), 1.0f, 2, 1, 1, 8, 8);", "beyond the"),
        ("dav_scalar_load(ub<float>(0x30000), 4);", "beyond the"),
        ("*(volatile float*)(a[0] + (3 << 19)) = 1;", "A store through a pointer"),
    ],
)
def test_access_out_of_bounds_is_a_memory_error(
    harness: MachineHarness, copy: str, words: str
) -> None:
    done = harness.run(copy, [X], [X])
    assert done.outcome == "memory_error", done.report
    assert words in done.message
    assert done.report["site"] != "0x0"


def test_a_launch_says_how_far_behind_a_tensor_it_may_read(harness: MachineHarness) -> None:
    body = round_trip("copy_gm_to_ubuf(ub<float>(0), a[0], 0, 1, 130, 0, 0);", "")
    assert harness.run(body, [X], [X]).outcome == "memory_error"
    assert harness.run(body, [X], [X], over_read=64).outcome == "ok"
    assert harness.run(body, [X], [X], over_read=63).outcome == "memory_error"


def test_read_of_the_padding_behind_a_tensor_is_allowed(harness: MachineHarness) -> None:
    short = np.arange(1020, dtype=np.float32)
    body = round_trip("copy_gm_to_ubuf(ub<float>(0), a[0], 0, 1, 128, 0, 0);", "")
    assert harness.run(body, [short], [X]).outcome == "ok"


def test_write_into_the_last_block_behind_a_tensor_is_a_warning(harness: MachineHarness) -> None:
    short = np.arange(1020, dtype=np.float32)
    body = round_trip(
        "copy_gm_to_ubuf(ub<float>(0), a[0], 0, 1, 128, 0, 0);",
        "copy_ubuf_to_gm(a[1], ub<float>(0), 0, 1, 128, 0, 0);",
    )
    done = harness.equals(body, [X], [short])
    assert "16 bytes into the padding" in done.warned("padding")[0]


def test_uninitialised_read_is_a_warning_with_site(harness: MachineHarness) -> None:
    done = harness.ok("copy_ubuf_to_gm(a[1], ub<float>(0), 0, 1, 128, 0, 0);", [X], [X])
    assert "nothing has written" in done.warned("uninitialised")[0]


# An output of a megabyte or more lies in its file while the kernel runs.
@pytest.mark.parametrize("elements", [128, (1 << 18) + 3])
def test_unwritten_output_holds_no_plausible_value(harness: MachineHarness, elements: int) -> None:
    like = np.zeros(elements, np.float32)
    done = harness.run("static void kernel(u8**) {}", [], [like])
    assert done.outcome == "ok"
    assert np.isnan(done.outputs[0]).all()
    assert done.report["unwritten"] == [["output 0", 0, like.nbytes, like.nbytes, "0x0", "0x0"]]


@pytest.mark.parametrize("elements", [128, (1 << 18) + 3])
def test_an_output_keeps_its_initial_values_where_nothing_is_written(
    harness: MachineHarness, elements: int
) -> None:
    likes = [np.zeros(elements, np.float32)]
    body = "vector_dup(ub<float>(0), 5.0f, 1, 1, 1, 8, 0); order(PIPE_V, PIPE_MTE3);"
    body += "copy_ubuf_to_gm(a[0] + 32, ub<float>(0), 0, 1, 1, 0, 0);"
    done = harness.ok(f"set_vector_mask(0, 0xff); {body}", [], likes, initial={0: 3.0})
    assert (done.outputs[0][8:16] == 5).all()
    assert (np.delete(done.outputs[0], np.s_[8:16]) == 3).all()


def test_each_byte_of_an_output_knows_whether_it_was_written(harness: MachineHarness) -> None:
    body = round_trip(
        "copy_gm_to_ubuf(ub<float>(0), a[0], 0, 1, 128, 0, 0);",
        "copy_ubuf_to_gm_align_b8(a[1] + BLOCK, ub<float>(0), 0, 1, LENGTH, 0, 0, 0, 0);",
    ).replace("BLOCK", "(get_block_idx() * 2048)")
    for length, unwritten in ((2048, []), (2047, [["output 0", 2047, 2, 4096, "0x0"]])):
        done = harness.run(body.replace("LENGTH", str(length)), [X], [X], block_dim=2)
        assert [hole for *hole, _ in done.report["unwritten"]] == unwritten
        assert all(writer != "0x0" for *_, writer in done.report["unwritten"])


def test_an_atomic_sum_onto_an_unwritten_output_leaves_it_unwritten(
    harness: MachineHarness,
) -> None:
    body = round_trip(
        "copy_gm_to_ubuf(ub<float>(0), a[0], 0, 1, 128, 0, 0); set_atomic_add(); set_atomic_f32();",
        "copy_ubuf_to_gm(a[1], ub<float>(0), 0, 1, 128, 0, 0); set_atomic_none();",
    )
    done = harness.run(body, [X], [X])
    (*hole, added, _) = done.report["unwritten"][0]
    assert hole == ["output 0", 0, 4096, 4096]
    assert added != "0x0"  # where it was added


def test_local_memory_holds_nothing_of_an_earlier_block(harness: MachineHarness) -> None:
    body = """
static void kernel(u8** a) {
    if (get_block_idx() == 0) copy_gm_to_ubuf(ub<float>(0), a[0], 0, 1, 128, 0, 0);
    pipe_barrier(PIPE_ALL);
    copy_ubuf_to_gm(a[1] + 4096 * get_block_idx(), ub<float>(0), 0, 1, 128, 0, 0);
}
"""
    done = harness.run(body, [X], [np.zeros(2 * N, np.float32)], block_dim=2)
    np.testing.assert_array_equal(done.outputs[0][:N], X)
    assert np.isnan(done.outputs[0][N:]).all()


def test_the_end_of_the_workspace_that_nobody_writes_is_counted(harness: MachineHarness) -> None:
    body = "static void kernel(u8** a) { ((int*)a[2])[24] = 1; *(int*)a[1] = ((int*)a[2])[0]; }"
    done = harness.run(body, [X], [np.zeros(1, np.int32)], workspace=3 << 20)
    assert done.report["workspace_unused_bytes"] == (3 << 20) - 100
    assert done.outputs[0][0] == -1


def test_strided_copies_keep_gaps_on_both_sides(harness: MachineHarness) -> None:
    # 8 bursts of 64 bytes, 64 bytes apart in GM, packed in UB, and the other way round.
    body = round_trip(
        "copy_gm_to_ubuf(ub<float>(0), a[0], 0, 8, 2, 2, 0);",
        "copy_ubuf_to_gm(a[1], ub<float>(0), 0, 8, 2, 0, 1);",
    )
    target = np.zeros(8 * 24, np.float32)
    done = harness.ok(body, [X], [target])
    packed = X.reshape(-1, 16)[:16:2]
    np.testing.assert_array_equal(done.outputs[0].reshape(8, 24)[:, :16], packed)


def test_padded_copy_fills_left_and_right_with_the_padding_value(harness: MachineHarness) -> None:
    body = round_trip(
        """float value = -7; uint64_t bits = 0; memcpy(&bits, &value, 4); set_mov_pad_val(bits);
        copy_gm_to_ubuf_align_b32(ub<float>(0), a[0], 0, 3, 20, 1, 2, 4, 0);""",
        "copy_ubuf_to_gm(a[1], ub<float>(0), 0, 1, 3, 0, 0);",
    )
    wanted = np.full((3, 8), -7, np.float32)
    wanted[:, 1:6] = X[:18].reshape(3, 6)[:, :5]
    harness.equals(body, [X], [wanted])


def test_unpadded_copy_fills_up_with_the_first_element(harness: MachineHarness) -> None:
    body = round_trip(
        "copy_gm_to_ubuf_align_b16(ub<float>(0), a[0] + 2, 0, 1, 10, 0, 0, 0, 0);",
        "copy_ubuf_to_gm(a[1], ub<float>(0), 0, 1, 1, 0, 0);",
    )
    halves = np.arange(1, 65, dtype=np.int16)
    harness.equals(body, [halves], [np.array([2, 3, 4, 5, 6] + [2] * 11, np.int16)])


def test_byte_exact_store_leaves_its_neighbours(harness: MachineHarness) -> None:
    body = round_trip(
        "copy_gm_to_ubuf(ub<float>(0), a[0], 0, 1, 1, 0, 0);",
        "copy_ubuf_to_gm_align_b8(a[1] + 3, ub<float>(0), 0, 2, 5, 0, 0, 0, 2);",
    )
    data = np.arange(1, 65, dtype=np.uint8)
    found = harness.ok(body, [data], [np.zeros(32, np.uint8)]).outputs[0]
    expected = np.full(32, 0xFF, np.uint8)
    expected[3:8] = data[:5]
    assert (found[:10] == expected[:10]).all()
    assert (found[15:] == 0xFF).all()


ATOMIC = """
    copy_gm_to_ubuf(ub<float>(0), a[0], 0, 1, 4, 0, 0);
    pipe_barrier(PIPE_ALL);
    copy_ubuf_to_gm(a[2], ub<float>(0), 0, 1, 4, 0, 0);
    copy_gm_to_ubuf(ub<float>(0x100), a[1], 0, 1, 4, 0, 0);
    pipe_barrier(PIPE_ALL);
    OPERATION
    copy_ubuf_to_gm(a[2], ub<float>(0x100), 0, 1, 4, 0, 0);
    set_atomic_none();
"""


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("dtype", "suffix"),
    [(np.float32, "f32"), (np.float16, "f16"), (np.int32, "s32"), (np.int16, "s16"),
     (np.int8, "s8")],
)  # fmt: skip
@pytest.mark.parametrize(
    ("operation", "expected"), [("add", np.add), ("max", np.maximum), ("min", np.minimum)]
)
def test_atomic_store_combines_with_memory(
    harness: MachineHarness, dtype: type, suffix: str, operation: str, expected: np.ufunc
) -> None:
    count = 128 // np.dtype(dtype).itemsize
    left = np.random.default_rng(1).integers(-60, 60, count).astype(dtype)
    right = np.random.default_rng(2).integers(-60, 60, count).astype(dtype)
    body = ATOMIC.replace("OPERATION", f"set_atomic_{operation}(); set_atomic_{suffix}();")
    harness.equals(body, [left, right], [expected(left, right)])


def test_integer_division_by_zero_goes_on_with_zero(harness: MachineHarness) -> None:
    body = """
    volatile int32_t zero = 0, one = -9; volatile int64_t wide = 77; volatile uint32_t u = 5;
    int32_t* out = (int32_t*)a[1];
    out[0] = one / zero; out[1] = one % zero; out[2] = (int32_t)(wide / zero);
    out[3] = (int32_t)(u % (uint32_t)zero); out[4] = 42;
"""
    done = harness.equals(body, [X], [np.array([0, -9, 0, 5, 42], np.int32)])
    assert done.warned("division")


def test_endless_loop_ends_as_launch_error(harness: MachineHarness) -> None:
    body = "for (volatile int i = 0; i >= 0; i = 1) {}"
    assert "endless loop" in harness.fails(
        "launch_error", body, [X], [X], constants={"limit.scalar_instructions": 1e6}
    )


def test_endless_recursion_ends_as_launch_error(harness: MachineHarness) -> None:
    body = """
static __attribute__((noinline)) int deep(volatile int* p) {
    volatile int big[32]; big[0] = *p + 1; return deep(big) + big[0];
}
static void kernel(u8** a) { volatile int start = 0; *(int*)a[1] = deep(&start); }
"""
    assert "stack" in harness.fails("launch_error", body, [X], [X])


def test_local_variables_fit_a_cores_stack_or_the_launch_ends(harness: MachineHarness) -> None:
    body = """
static void kernel(u8** a) {
    volatile char room[BYTES]; room[0] = 1; room[BYTES - 1] = 2;
    if (a[0] != nullptr) *(int*)a[1] = room[0] + room[BYTES - 1];
}
"""
    assert harness.run(body.replace("BYTES", "32000"), [X], [X]).outcome == "ok"
    done = harness.run(body.replace("BYTES", "33000"), [X], [X])
    assert done.outcome == "launch_error"
    assert "32768 bytes" in done.report["message"]


class CheckedHarness(MachineHarness):
    flavour = "checked"


def test_the_larger_frames_of_a_kernel_that_is_checked_are_not_held_to_the_stack(
    tmp_path: Path,
) -> None:
    body = """
    volatile char room[60000]; room[0] = 1; room[59999] = 2;
    *(int*)a[1] = room[0] + room[59999];
"""
    CheckedHarness(tmp_path).equals(body, [X], [np.full(1, 3, np.int32)])


def test_absent_input_is_a_null_pointer(harness: MachineHarness) -> None:
    harness.equals("*(int*)a[1] = a[0] == nullptr;", [None], [np.ones(1, np.int32)])


def test_tensor_list_arrives_as_the_descriptor_kernels_parse(harness: MachineHarness) -> None:
    body = """
    uint64_t* words = (uint64_t*)a[0];
    float** data = (float**)(words + words[0] / 8);
    float* out = (float*)a[1];
    out[0] = words[1] & 0xffffffff; out[1] = words[2]; out[2] = words[3];
    out[3] = words[4] >> 32; out[4] = data[0][1]; out[5] = data[1][0];
"""
    tensors = [X[:6].reshape(2, 3), X[6:10].reshape(4, 1)]
    harness.equals(body, [tensors], [np.array([2, 2, 3, 1, 1, 6], np.float32)])


COPIES = {
    "memcpy": "std::memcpy(to, from, 256);",
    "memmove": "std::memmove(to, from, 256);",
    "struct": "struct Block { float v[64]; }; *(Block*)to = *(Block*)from;",
    "large struct": "struct Block { float v[256]; }; *(Block*)to = *(Block*)from;",
    "std::copy": "std::copy(from, from + 64, to);",
    "initialisation": "struct Block { float v[64]; }; *(Block*)to = Block{};",
}
COPY = """
#include <algorithm>
static void kernel(u8** a) {
    copy_gm_to_ubuf(ub<float>(0), a[0], 0, 1, 128, 0, 0);
    WAIT
    float* from = (float*)a[0] + START; float* to = ub<float>(0);
    DO
}
"""


def copying(how: str, start: int = 0, wait: str = "pipe_barrier(PIPE_ALL);") -> str:
    return COPY.replace("WAIT", wait).replace("DO", how).replace("START", str(start))


@pytest.mark.few(2)
@pytest.mark.parametrize("how", COPIES.values(), ids=COPIES)
def test_what_copies_bytes_is_ordered_like_a_store(harness: MachineHarness, how: str) -> None:
    assert harness.run(copying(how), [X], [X]).outcome == "ok"
    done = harness.run(copying(how, wait=""), [X], [X])
    assert done.outcome == "race"
    assert "A store through a pointer" in done.report["message"]


@pytest.mark.parametrize("name", [name for name in COPIES if name != "initialisation"])
def test_what_copies_bytes_from_behind_a_tensor_is_refused(
    harness: MachineHarness, name: str
) -> None:
    assert harness.run(copying(COPIES[name], 1024), [X], [X]).outcome == "memory_error"


@pytest.mark.parametrize("name", [name for name in COPIES if name != "initialisation"])
def test_what_copies_bytes_costs_what_as_many_loads_and_stores_cost(
    harness: MachineHarness, name: str
) -> None:
    words = 128 if name == "large struct" else 32
    loop = f"for (int i = 0; i < {words}; ++i) ((volatile uint64_t*)to)[i] = ((uint64_t*)from)[i];"
    by_word = harness.run(copying(loop), [X], [X]).cycles
    nothing = harness.run(copying(""), [X], [X]).cycles
    block = harness.run(copying(COPIES[name]), [X], [X]).cycles
    assert block - nothing > 0.6 * (by_word - nothing)
    assert block - nothing < 1.1 * (by_word - nothing)
