"""Blocks with a cube core and vector cores: flags between them, conflicts, deadlocks."""

from __future__ import annotations

import numpy as np
import pytest

from ci.simulator.kernel_cores import CUBE, VECTOR, Cores, cores_of
from rules.architectures import load_architecture
from tests.ci.simulator.machine_harness import Launch, MachineHarness

CHIP = load_architecture("dav-c220")

# A cube core puts its block's number into L1 and from there into global memory.
CUBE_WRITES = """
    const int block = (int)get_block_idx();
    create_cbuf_matrix((uint32_t*)0, 1 | 1 << 16, (uint32_t)(block + 1));
    order(PIPE_MTE2, PIPE_MTE3);
    copy_cbuf_to_gm(a[0] + block * 32, (void*)0, 0, 1, 1, 0, 0);
    SIGNAL
"""

# A vector core adds its own sub-block's number times 100 to what the cube core wrote.
VECTOR_ADDS = """
    const int block = (int)get_block_idx(), sub = (int)get_subblockid();
    WAIT
    int* x = (int*)ub<int>(0);
    copy_gm_to_ubuf(x, a[0] + block * 32, 0, 1, 1, 0, 0);
    order(PIPE_MTE2, PIPE_V);
    set_vector_mask(0, 0xff);
    vadds(x, x, 100 * sub, 1, 1, 1, 8, 8);
    order(PIPE_V, PIPE_MTE3);
    copy_ubuf_to_gm(a[1] + (block * 2 + sub) * 32, x, 0, 1, 1, 0, 0);
"""

SET_MODE_2 = "ffts_cross_core_sync(PIPE_MTE3, 1 | 2 << 4 | 5 << 8);"
WAIT_5 = "wait_flag_dev(5);"


def launch(harness: MachineHarness, signal: str, wait: str, blocks: int = 3) -> Launch:
    likes = [np.zeros((blocks * each, 8), np.int32) for each in (1, 2)]
    define = {"SIGNAL": signal, "WAIT": wait}
    how = {"block_dim": blocks, "cores": (1, 2), "cube_body": CUBE_WRITES, "define": define}
    return harness.run(VECTOR_ADDS, [], likes, **how)


def test_vector_cores_read_what_their_cube_core_signalled(harness: MachineHarness) -> None:
    found = launch(harness, SET_MODE_2, WAIT_5)
    assert found.outcome == "ok", found.message
    expected = np.array([[b + 1 + 100 * s] * 8 for b in range(3) for s in range(2)])
    np.testing.assert_array_equal(found.outputs[1], expected)
    assert found.report["wait_cycles"]["SCALAR<-OTHER_CORES"] > 0


def test_reading_without_the_signal_is_a_race(harness: MachineHarness) -> None:
    found = launch(harness, SET_MODE_2, "")
    assert found.outcome == "race"
    assert "no SyncAll or cross-core flag" in found.message


def test_waiting_for_a_signal_that_nobody_sends_is_a_deadlock(harness: MachineHarness) -> None:
    found = launch(harness, "", WAIT_5)
    assert found.outcome == "launch_error"
    assert "cross-core flag" in found.message


def test_both_vector_cores_have_to_signal_their_cube_core(harness: MachineHarness) -> None:
    signal = "ffts_cross_core_sync(PIPE_MTE3, 0x321);"
    how = {"cores": (1, 2), "cube_body": "wait_flag_dev(3);"}
    harness.ok(signal, **how)
    once = f"if (!get_subblockid()) {signal}"
    assert "deadlock" in harness.fails("launch_error", once, **how)


def test_vector_cores_of_a_block_meet_in_mode_1(harness: MachineHarness) -> None:
    body = "ffts_cross_core_sync(PIPE_MTE3, 1 | 1 << 4 | 2 << 8); wait_flag_dev(2);"
    harness.ok(body, block_dim=2, cores=(1, 2), cube_body="")


def test_more_blocks_than_cube_cores_run_in_turns(harness: MachineHarness) -> None:
    few = launch(harness, SET_MODE_2, WAIT_5, 20)
    many = launch(harness, SET_MODE_2, WAIT_5, 50)
    assert many.outcome == "ok"
    np.testing.assert_array_equal(many.outputs[0][:, 0], np.arange(1, 51))
    assert many.cycles > 2 * few.cycles


def test_a_launch_takes_as_many_blocks_as_the_chip_does(harness: MachineHarness) -> None:
    harness.ok("", block_dim=5000)
    assert "1 to 65535" in harness.run("", block_dim=65536).message


def test_a_second_event_of_ibset_waits_for_the_first_to_be_taken(harness: MachineHarness) -> None:
    body = """
        for (int i = 0; i < 3; ++i) {
            if (get_block_idx() == 0) dav_core_set(0, 1);
            else dav_core_wait(0, 1);
        }
        if (get_block_idx() != 0) WAIT
"""
    harness.ok(body, block_dim=2, define={"WAIT": "return;"})
    fourth = {"WAIT": "dav_core_wait(0, 1);"}
    assert "deadlock" in harness.fails("launch_error", body, block_dim=2, define=fourth)


def test_small_sums_need_a_barrier_on_the_cube(harness: MachineHarness) -> None:
    body = """
        create_ca_matrix((half*)0, 1 | 1 << 16, (half)1);
        create_cb_matrix((half*)0, 1 | 1 << 16, (half)1);
        order(PIPE_MTE1, PIPE_M);
        mad((float*)0, (half*)0, (half*)0, 16, 16, 16, 0, false, false, true);
        BARRIER
        mad((float*)0, (half*)0, (half*)0, 16, 16, 16, 0, false, false, false);
"""
    harness.fails("race", body, cores=(1, 0), define={"BARRIER": ""})
    harness.ok(body, cores=(1, 0), define={"BARRIER": "pipe_barrier(PIPE_M);"})


@pytest.mark.parametrize(
    ("statement", "outcome", "words"),
    [
        ("load_cbuf_to_ca((half*)65536, (half*)0, ONE, false, inc);", "memory_error", "the 65536"),
        ("load_cbuf_to_ca((half*)32, (half*)0, ONE, false, inc);", "memory_error", "of 512"),
        (
            "copy_gm_to_cbuf((void*)0x7ffe0, a[0], 0, 1, 2, 0, 0, PAD_NONE);",
            "memory_error",
            "of L1",
        ),
        ("load_cbuf_to_ca((int8_t*)0, (int8_t*)0, ONE, true, inc);", "launch_error", "16-bit"),
    ],
)
def test_accesses_outside_a_memory_end_the_launch(
    harness: MachineHarness, statement: str, outcome: str, words: str
) -> None:
    how = {"cores": (1, 0), "define": {"ONE": "0, 1, 0, 0, 0"}}
    assert words in harness.fails(outcome, statement, [np.zeros(64, np.uint8)], **how)


def test_cores_follow_the_kernel_type_then_what_was_used() -> None:
    mark = "ascendopt_task_"
    product = "_Z3madPfPDF16_S0_tttbbbb"
    assert cores_of(CHIP, [], ["_Z4vaddPf"], []) == VECTOR
    assert cores_of(CHIP, [mark + "default_KERNEL_TYPE_MIX_AIC_1_1"], [], []) == Cores(1, 1)
    both = [mark + "default_KERNEL_TYPE_AIV_ONLY", mark + "keyed_KERNEL_TYPE_AIC_ONLY"]
    assert cores_of(CHIP, both, [], []) == CUBE
    assert cores_of(CHIP, [mark + "matmul"], [], []) == Cores(1, 2)
    assert cores_of(CHIP, [], [product], []) == CUBE
    assert cores_of(CHIP, [], [product, "_Z4vaddPf"], []) == Cores(1, 2)
    # Each kind of core takes its own part of a template.
    own = ["template <int core = g_coreType> void run();"]
    assert cores_of(CHIP, [], [], [], lambda: [product]) == CUBE
    assert cores_of(CHIP, [], ["_Z4vaddPf"], own, lambda: [product]) == Cores(1, 2)
    assert cores_of(CHIP, [], ["_Z4vaddPf"], own, list) == VECTOR
    assert cores_of(CHIP, [], ["_Z4vaddPf"], [], lambda: [product]) == VECTOR, "it waits for none"
    waits = ["_Z4vaddPf", "_Z13wait_flag_devt"]
    assert cores_of(CHIP, [], waits, [], lambda: [product]) == Cores(1, 2)
    # A Matmul object that the kernel's cube cores alone have.
    multiplies = "_Z10dav_matmulRK9DavMatmul"
    assert cores_of(CHIP, [], waits, [], lambda: [multiplies]) == Cores(1, 2)
    assert cores_of(CHIP, [], waits, [], lambda: ["_Z15dav_matmul_waiti"]) == VECTOR
    # Real headers leave no mark of the Matmul API.
    through = ["    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), op.mm);\n"]
    assert cores_of(CHIP, [], [], through) == Cores(1, 2)
    assert cores_of(CHIP, [], [], ["// REGIST_MATMUL_OBJ(a)\n"]) == VECTOR
    assert cores_of(CHIP, [], [], [*through, "#define ASCENDC_CUBE_ONLY\n"]) == CUBE


# A vector core leaves a message in a mailbox of the workspace (a[2]), the cube core answers with
# data and empties the mailbox; the vector core copies the data when it finds the mailbox empty.
POSTS = """
    volatile int* box = (volatile int*)(a[2] + 64 * get_block_idx());
    for (int turn = 1; turn <= 3; ++turn) {
        LOOK
        int* x = (int*)ub<int>(0);
        dav_scalar_store(x, 4);
        *x = turn;
        order(PIPE_S, PIPE_MTE3);
        POST
        order(PIPE_MTE3, PIPE_S);
        LOOK
        while (*box != 0) LOOK
        int* y = (int*)ub<int>(64);
        copy_gm_to_ubuf(y, a[0] + get_block_idx() * 32, 0, 1, 1, 0, 0);
        order(PIPE_MTE2, PIPE_MTE3);
        copy_ubuf_to_gm(a[1] + get_block_idx() * 32, y, 0, 1, 1, 0, 0);
        order(PIPE_MTE3, PIPE_MTE2);
    }
"""
ANSWERS = """
    volatile int* box = (volatile int*)(a[2] + 64 * get_block_idx());
    for (int turn = 1; turn <= 3; ++turn) {
        LOOK while (*box == 0) LOOK
        create_cbuf_matrix((uint32_t*)0, 1 | 1 << 16, (uint32_t)(*box * 10));
        order(PIPE_MTE2, PIPE_MTE3);
        copy_cbuf_to_gm(a[0] + get_block_idx() * 32, (void*)0, 0, 1, 1, 0, 0);
        order(PIPE_MTE3, PIPE_S);
        *box = 0;
        LOOK
        order(PIPE_MTE3, PIPE_MTE2);
    }
"""
POST = "copy_ubuf_to_gm((void*)box, x, 0, 1, 1, 0, 0);"


def by_mail(harness: MachineHarness, body: str, post: str = "") -> Launch:
    define = {"POST": post, "LOOK": "dcci((void*)box, SINGLE_CACHE_LINE, CACHELINE_OUT);"}
    how = {"block_dim": 2, "cores": (1, 1), "cube_body": ANSWERS, "define": define}
    return harness.run(body, [], [np.zeros((2, 8), np.int32)] * 2, **how)


def test_cores_pass_messages_through_global_memory(harness: MachineHarness) -> None:
    found = by_mail(harness, POSTS, POST)
    assert found.outcome == "ok", found.message
    np.testing.assert_array_equal(found.outputs[1], np.full((2, 8), 30))
    assert found.report["wait_cycles"]["SCALAR<-OTHER_CORES"] > 0


def test_a_message_that_nobody_sends_is_a_deadlock(harness: MachineHarness) -> None:
    assert by_mail(harness, POSTS).outcome == "launch_error"
    silent = by_mail(harness, "wait_flag_dev(5);")
    assert silent.outcome == "launch_error"
    assert "waits at a cross-core flag for ever" in silent.message


def test_polling_for_what_no_other_core_can_write_ends_in_words(harness: MachineHarness) -> None:
    body = "while (*(volatile int*)a[0] != 1) dcci(a[0], SINGLE_CACHE_LINE, CACHELINE_OUT);"
    message = harness.fails("launch_error", body, [], [np.zeros(8, dtype=np.int32)])
    assert "waits at a message in global memory for ever" in message


def test_the_flag_of_a_core_that_never_looks_at_it_may_overflow(harness: MachineHarness) -> None:
    """A cube core answers the first vector core; the second gets every flag along."""
    asks = """
        for (int i = 0; i < 40 && !get_subblockid(); ++i) {
            SET
            wait_flag_dev(3);
        }
"""
    answers = """
        for (int i = 0; i < 40; ++i) {
            WAIT
            ffts_cross_core_sync(PIPE_MTE3, 1 | 2 << 4 | 3 << 8);
        }
"""
    box = "((volatile int*)a[1])"
    look = "dcci(a[1], SINGLE_CACHE_LINE, CACHELINE_OUT);"
    define = {
        "SET": f"{box}[0] = i + 1; {look}",
        "WAIT": f"do {look} while ({box}[0] != i + 1);",
    }
    how = {"outputs": [np.zeros(16, np.int32)], "cores": (1, 2), "cube_body": answers}
    harness.ok(asks, define=define, **how)


def test_a_core_executed_ahead_lets_others_take_its_signals(harness: MachineHarness) -> None:
    """The cube core is executed first, and sets forty times what a counter of 4 bits holds."""
    sets = "for (int i = 0; i < 40; ++i) ffts_cross_core_sync(PIPE_FIX, 1 | 2 << 4 | 3 << 8);"
    waits = "for (int i = 0; i < TIMES; ++i) wait_flag_dev(3);"
    how = {"outputs": [np.zeros(16, np.int32)], "cores": (1, 2), "cube_body": sets}
    harness.ok(waits, define={"TIMES": "40"}, **how)
    few = harness.run(waits, define={"TIMES": "5"}, **how)
    assert few.outcome == "launch_error"
    assert "cross-core flag 3 is set for core 1 for the 16th time without a wait" in few.message


def test_a_signal_behind_unit_flags_covers_what_the_product_read(harness: MachineHarness) -> None:
    """The fixpipe waits for the product by unit flags, and so for the copies before it."""
    multiplies = """
        copy_gm_to_cbuf((void*)0, a[1], 0, 1, 16, 0, 0, PAD_NONE);
        order(PIPE_MTE2, PIPE_MTE1);
        load_cbuf_to_ca((half*)0, (half*)0, 0, 1, 0, 0, 0, false, inc);
        create_cb_matrix((half*)0, 1 | 1 << 16, (half)1);
        order(PIPE_MTE1, PIPE_M);
        mad((float*)0, (half*)0, (half*)0, 16, 16, 16, 3, false, false, true);
        copy_matrix_cc_to_gm((float*)a[0], (float*)0, 0, 16, 16, 16, 16, 3, NoQuant, 0, false,
                             true);
        ffts_cross_core_sync(PIPE, 1 | 2 << 4 | 3 << 8);
"""
    overwrites = """
        wait_flag_dev(3);
        int* x = (int*)ub<int>(0);
        set_vector_mask(0, 0xff);
        vector_dup(x, 7, 1, 1, 1, 8, 8);
        order(PIPE_V, PIPE_MTE3);
        copy_ubuf_to_gm(a[1], x, 0, 1, 1, 0, 0);
"""

    def through(pipe: str) -> str:
        how = {"cores": (1, 1), "cube_body": multiplies, "define": {"PIPE": pipe}}
        return harness.run(overwrites, [], [np.zeros((16, 16), np.float32)], **how).outcome

    assert through("PIPE_FIX") == "ok"
    assert through("PIPE_MTE3") == "race"


def test_the_fixpipe_writes_behind_what_the_flagged_product_waited_for(
    harness: MachineHarness,
) -> None:
    """The filling of L1 is complete where the product begins, whose unit flags order the rest."""
    body = """
        create_cbuf_matrix((half*)512, 16 | 1 << 16, (half)0);
        pipe_barrier(PIPE_MTE2);
        copy_gm_to_cbuf((void*)0, a[1], 0, 1, 16, 0, 0, PAD_NONE);
        order(PIPE_MTE2, PIPE_MTE1);
        load_cbuf_to_ca((half*)0, (half*)0, 0, 1, 0, 0, 0, false, inc);
        create_cb_matrix((half*)0, 1 | 1 << 16, (half)1);
        order(PIPE_MTE1, PIPE_M);
        mad((float*)0, (half*)0, (half*)0, 16, 16, 16, UNIT, false, false, true);
        copy_matrix_cc_to_cbuf((half*)512, (float*)0, 0, 16, 16, 16, 16, UNIT, F322F16, 0, false,
                               false);
        order(PIPE_FIX, PIPE_MTE3);
        copy_cbuf_to_gm(a[0], (void*)512, 0, 1, 16, 0, 0);
"""

    def ended(unit: str) -> str:
        how = {"cores": (1, 0), "define": {"UNIT": unit}}
        return harness.run(body, [], [np.zeros((16, 16), np.float16)], **how).outcome

    assert ended("3") == "ok"
    assert ended("0") == "race"


@pytest.mark.parametrize(
    ("meeting", "answer"),
    [
        ("ffts_cross_core_sync(PIPE, 1 | 5 << 8); wait_flag_dev(5);", ""),
        (
            "ffts_cross_core_sync(PIPE, 1 | 2 << 4 | 5 << 8); wait_flag_dev(6);",
            "wait_flag_dev(5); ffts_cross_core_sync(PIPE_MTE3, 1 | 2 << 4 | 6 << 8);",
        ),
    ],
    ids=["its own signal", "the answer to its signal"],
)
def test_a_core_finds_done_what_a_signal_covers_that_comes_back_to_it(
    harness: MachineHarness, meeting: str, answer: str
) -> None:
    again = """
    copy_gm_to_cbuf((void*)1024, a[0] + block * 32, 0, 1, 1, 0, 0, PAD_NONE);
    order(PIPE_MTE2, PIPE_MTE3);
"""

    def through(pipe: str) -> str:
        body = CUBE_WRITES.replace("SIGNAL", meeting.replace("PIPE,", f"{pipe},")) + again
        how = {"block_dim": 2, "cores": (1, 2), "cube_body": body}
        return harness.run(answer, [], [np.zeros((2, 8), np.int32)], **how).outcome

    assert through("PIPE_MTE3") == "ok"
    assert through("PIPE_MTE1") == "race"
