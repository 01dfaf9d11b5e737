"""The scalar unit's data cache, signals of one pipe, and copies that overlap on one pipe."""

from __future__ import annotations

import numpy as np
import pytest

from tests.ci.simulator.machine_harness import MachineHarness

WORDS = np.arange(64, dtype=np.float32)


SCALAR_STORE = """
    float* word = (float*)a[0];
    dav_scalar_store(word, 4);
    *word = 7;
    CLEAN
    order(PIPE_S, PIPE_MTE2);
    copy_gm_to_ubuf(ub<float>(0), a[0] + SHIFT, 0, 1, 2, 0, 0);
"""
CLEAN_ONE = "dcci(a[0], SINGLE_CACHE_LINE);"
CLEAN_ALL = "dcci(a[0], ENTIRE_DATA_CACHE);"


@pytest.mark.parametrize(
    ("clean", "shift", "warns"),
    [("", 0, True), ("", 64, False), (CLEAN_ONE, 0, False), (CLEAN_ALL, 0, False)],
)
def test_a_copy_of_what_the_scalar_unit_wrote_needs_its_line_written_back(
    harness: MachineHarness, clean: str, shift: int, warns: bool
) -> None:
    done = harness.ok(SCALAR_STORE, [WORDS], [WORDS], define={"CLEAN": clean, "SHIFT": shift})
    assert bool(done.warned("cache")) == warns


@pytest.mark.parametrize(("clean", "warns"), [("", True), (CLEAN_ONE, False)])
def test_a_scalar_read_behind_a_copy_needs_a_fresh_line(
    harness: MachineHarness, clean: str, warns: bool
) -> None:
    text = """
        dav_scalar_load(a[1], 4);
        order(PIPE_S, PIPE_MTE3);
        set_vector_mask(~0ull, ~0ull);
        vector_dup(ub<float>(0), 1.0f, 1, 1, 1, 8, 0);
        order(PIPE_V, PIPE_MTE3);
        copy_ubuf_to_gm(a[1], ub<float>(0), 0, 1, 2, 0, 0);
        order(PIPE_MTE3, PIPE_S);
        CLEAN
        dav_scalar_load(a[1], 4);
"""
    done = harness.ok(text, [WORDS], [WORDS], define={"CLEAN": clean.replace("a[0]", "a[1]")})
    assert bool(done.warned("cache")) == warns


BETWEEN_CORES = """
    float* word = (float*)a[1];
    float* other = (float*)(a[1] + 128);
    EARLY
    if (get_block_idx() == 0) { dav_scalar_store(word, 4); *word = 3; WRITTEN }
    dav_sync_all();
    if (get_block_idx() == 1) {
        FRESH
        dav_scalar_load(word, 4);
        const float value = *word;
        dav_scalar_store(other, 4);
        *other = value;
    }
"""
CLEAN_WORD = "dcci(word, SINGLE_CACHE_LINE);"
LOOK_EARLY = "if (get_block_idx() == 1) dav_scalar_load(word + 1, 4);"


@pytest.mark.parametrize(
    ("early", "written", "fresh", "warns"),
    [
        ("", "", "", "writes the data cache's line back"),
        ("", CLEAN_WORD, "", ""),
        (LOOK_EARLY, CLEAN_WORD, "", "has held since"),
        (LOOK_EARLY, CLEAN_WORD, CLEAN_WORD, ""),
    ],
)
def test_scalar_values_pass_between_cores_through_global_memory(
    harness: MachineHarness, early: str, written: str, fresh: str, warns: str
) -> None:
    define = {"EARLY": early, "WRITTEN": written, "FRESH": fresh}
    said = harness.ok(BETWEEN_CORES, [WORDS], [WORDS], block_dim=2, define=define).warned("cache")
    assert (not said) if not warns else (len(said) == 1 and warns in said[0])


STORES_OF_TWO = """
    int* words = (int*)a[0];
    for (int i = 0; i < 4; ++i) {
        dav_scalar_store(words + i, 4);
        words[i] = FIRST;
        dav_scalar_store(words + i, 4);
        words[i] = LAST;
    }
"""


@pytest.mark.parametrize(
    ("first", "last", "racing"),
    [
        ("i + 1", "i + 1", False),  # each core makes the same table
        ("i + 1", "i + 1 + get_block_idx()", True),
        ("i + 7 * get_block_idx()", "i + 1", True),  # the last ones agree
        ("i + 1 + (int)get_block_idx() * (i == 3)", "i + 1", True),
    ],
)
def test_cores_may_store_equal_values_one_by_one(
    harness: MachineHarness, first: str, last: str, racing: bool
) -> None:
    how = {"block_dim": 2, "define": {"FIRST": first, "LAST": last}}
    if racing:
        said = harness.fails("race", STORES_OF_TWO, [], [np.zeros(64, np.int32)], **how)
        assert "Core 0 writes and core 1 writes" in said
    else:
        done = harness.ok(STORES_OF_TWO, [], [np.zeros(64, np.int32)], **how)
        assert done.warned("overlap") and not done.warned("shared_line")


def test_the_last_store_of_a_core_is_seen_when_its_turn_ends(harness: MachineHarness) -> None:
    body = "dav_scalar_store(a[0], 4); *(int*)a[0] = 1 + get_block_idx();"
    harness.fails("race", body, [], [np.zeros(64, np.int32)], block_dim=2)


@pytest.mark.parametrize(("pipe", "outcome"), [("PIPE_MTE3", "ok"), ("PIPE_MTE2", "race")])
def test_a_signal_tells_of_the_pipe_that_sends_it_only(
    harness: MachineHarness, pipe: str, outcome: str
) -> None:
    text = """
        if (get_block_idx() == 0) {
            set_vector_mask(~0ull, ~0ull);
            vector_dup(ub<float>(0), 1.0f, 1, 1, 1, 8, 0);
            order(PIPE_V, PIPE_MTE3);
            copy_ubuf_to_gm(a[1], ub<float>(0), 0, 1, 2, 0, 0);
        }
        ffts_cross_core_sync(PIPE, 1 | (0 << 4) | (3 << 8));
        wait_flag_dev(3);
        if (get_block_idx() == 1) copy_gm_to_ubuf(ub<float>(0), a[1], 0, 1, 2, 0, 0);
"""
    done = harness.run(text, [WORDS], [WORDS], block_dim=2, define={"PIPE": pipe})
    assert done.outcome == outcome, done.message


@pytest.mark.parametrize(("pipe", "outcome"), [("PIPE_MTE3", "ok"), ("PIPE_MTE2", "race")])
def test_a_signal_covers_what_automatic_waits_lead_to(
    harness: MachineHarness, pipe: str, outcome: str
) -> None:
    text = """
        set_vector_mask(~0ull, ~0ull);
        if (get_block_idx() == 0) {
            copy_gm_to_ubuf(ub<float>(0), a[1], 0, 1, 8, 0, 0);
            vadd(ub<int32_t>(0x100), ub<int32_t>(0), ub<int32_t>(0), 1, 1, 1, 1, 8, 8, 8);
            copy_ubuf_to_gm(a[2], ub<int32_t>(0x100), 0, 1, 8, 0, 0);
        }
        ffts_cross_core_sync(PIPE, 1 | (0 << 4) | (3 << 8));
        wait_flag_dev(3);
        if (get_block_idx() == 1) {
            vector_dup(ub<float>(0), 1.0f, 1, 1, 1, 8, 0);
            copy_ubuf_to_gm(a[1], ub<float>(0), 0, 1, 8, 0, 0);
            copy_ubuf_to_gm(a[2], ub<float>(0), 0, 1, 8, 0, 0);
        }
"""
    how = {"block_dim": 2, "auto_sync": True, "define": {"PIPE": pipe}}
    done = harness.run(text, [WORDS], [WORDS, WORDS], **how)
    assert done.outcome == outcome, done.message


OVERLAPPING = {
    "MTE3": """
        set_vector_mask(~0ull, ~0ull);
        vector_dup(ub<float>(0), 1.0f, 1, 1, 1, 8, 0);
        order(PIPE_V, PIPE_MTE3);
        copy_ubuf_to_gm(a[1], ub<float>(0), 0, 1, 2, 0, 0);
        BARRIER
        copy_ubuf_to_gm(a[1] + SHIFT, ub<float>(0x40), 0, 1, 2, 0, 0);
    """,
    "MTE2": """
        copy_gm_to_ubuf(ub<float>(0), a[0], 0, 1, 2, 0, 0);
        BARRIER
        copy_gm_to_ubuf(ub<float>(SHIFT), a[0], 0, 1, 2, 0, 0);
    """,
}


@pytest.mark.parametrize("pipe", OVERLAPPING)
@pytest.mark.parametrize(("shift", "barrier"), [(32, False), (64, False), (32, True)])
def test_overlapping_targets_of_copies_on_one_pipe_need_a_barrier(
    harness: MachineHarness, pipe: str, shift: int, barrier: bool
) -> None:
    define = {"SHIFT": shift, "BARRIER": f"pipe_barrier(PIPE_{pipe});" if barrier else ""}
    done = harness.ok(OVERLAPPING[pipe], [WORDS], [WORDS], define=define)
    assert bool(done.warned("copy_order")) == (shift < 64 and not barrier)
