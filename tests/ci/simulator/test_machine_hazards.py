"""Flags, barriers, races and automatic synchronisation on the machine."""

from __future__ import annotations

import numpy as np
import pytest

from tests.ci.simulator.machine_harness import Launch, MachineHarness

N = 2048
X = np.linspace(-4, 4, N, dtype=np.float32)

COPY_ADD = """
    set_vector_mask(~0ull, ~0ull);
    copy_gm_to_ubuf(ub<float>(0), a[0], 0, 1, 256, 0, 0);
    FIRST
    vadd(ub<float>(0x4000), ub<float>(0), ub<float>(0), 32, 1, 1, 1, 8, 8, 8);
    SECOND
    copy_ubuf_to_gm(a[1], ub<float>(0x4000), 0, 1, 256, 0, 0);
"""
FLAGS = {
    "FIRST": "order(PIPE_MTE2, PIPE_V);",
    "SECOND": "order(PIPE_V, PIPE_MTE3);",
}


def copy_add(harness: MachineHarness, *, auto_sync: bool, **changed: str) -> Launch:
    return harness.run(COPY_ADD, [X], [X], auto_sync=auto_sync, define=FLAGS | changed)


def test_flags_in_order_run_ok_without_inserted_waits(harness: MachineHarness) -> None:
    done = copy_add(harness, auto_sync=True)
    assert done.outcome == "ok"
    assert done.report["inserted_waits"] == 0
    np.testing.assert_array_equal(done.outputs[0], X + X)


@pytest.mark.parametrize("missing", ["FIRST", "SECOND"])
def test_missing_flag_is_a_race_that_names_both_pipes(
    harness: MachineHarness, missing: str
) -> None:
    done = copy_add(harness, auto_sync=False, **{missing: ""})
    assert done.outcome == "race"
    pipes = ("VECTOR", "MTE2") if missing == "FIRST" else ("MTE3", "VECTOR")
    assert all(pipe in done.message for pipe in pipes)
    assert done.report["site"] != "0x0" and done.report["other_site"] != "0x0"


@pytest.mark.parametrize("missing", ["FIRST", "SECOND"])
def test_automatic_sync_inserts_the_wait_and_never_gains_time(
    harness: MachineHarness, missing: str
) -> None:
    whole = copy_add(harness, auto_sync=True)
    done = copy_add(harness, auto_sync=True, **{missing: ""})
    assert done.outcome == "ok"
    assert done.report["inserted_waits"] == 1
    assert done.cycles >= whole.cycles - 2  # the issue of the two flags is saved
    np.testing.assert_array_equal(done.outputs[0], X + X)


SET, WAIT = (f"{name}_flag(PIPE_MTE2, PIPE_V, 0);" for name in ("set", "wait"))


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        (SET, FLAGS["SECOND"], "unbalanced flags: set_flag(MTE2, VECTOR, 0)"),
        (SET * 2 + WAIT, FLAGS["SECOND"], "unbalanced flags"),
        (SET * 16 + WAIT, FLAGS["SECOND"], "unbalanced flags"),
        (
            FLAGS["FIRST"],
            "wait_flag(PIPE_V, PIPE_MTE3, 5);",
            "deadlock: wait_flag(VECTOR, MTE3, 5)",
        ),
        ("set_flag(PIPE_MTE2, PIPE_V, 8);", FLAGS["SECOND"], "event 8"),
    ],
)
def test_flags_that_do_not_pair_are_named_with_pipes_and_event(
    harness: MachineHarness, first: str, second: str, words: str
) -> None:
    done = copy_add(harness, auto_sync=True, FIRST=first, SECOND=second)
    assert done.outcome == "launch_error"
    assert words in done.message


def test_flag_counts_its_sets(harness: MachineHarness) -> None:
    twice = copy_add(harness, auto_sync=False, FIRST=SET * 2 + WAIT * 2)
    assert twice.outcome == "ok", twice.report


def test_flag_order_is_transitive_over_a_third_pipe(harness: MachineHarness) -> None:
    body = """
    copy_gm_to_ubuf(ub<float>(0), a[0], 0, 1, 256, 0, 0);
    order(PIPE_MTE2, PIPE_S);
    order(PIPE_S, PIPE_MTE3);
    copy_ubuf_to_gm(a[1], ub<float>(0), 0, 1, 256, 0, 0);
"""
    harness.equals(body, [X], [X])


def vector_chain(harness: MachineHarness, between: str, *, auto_sync: bool) -> Launch:
    body = """
    set_vector_mask(~0ull, ~0ull);
    vector_dup(ub<float>(0), 3.0f, 32, 1, 1, 8, 8);
    BETWEEN
    vadds(ub<float>(0x4000), ub<float>(0), 1.0f, 32, 1, 1, 8, 8);
    pipe_barrier(PIPE_ALL);
    copy_ubuf_to_gm(a[1], ub<float>(0x4000), 0, 1, 256, 0, 0);
"""
    return harness.run(body, [X], [X], auto_sync=auto_sync, define={"BETWEEN": between})


def test_dependent_vector_instructions_need_a_barrier(harness: MachineHarness) -> None:
    assert vector_chain(harness, "pipe_barrier(PIPE_V);", auto_sync=False).outcome == "ok"
    missing = vector_chain(harness, "", auto_sync=False)
    assert missing.outcome == "race"
    assert "pipe_barrier" in missing.message
    inserted = vector_chain(harness, "", auto_sync=True)
    assert inserted.outcome == "ok"
    assert inserted.report["inserted_waits"] == 1
    assert (inserted.outputs[0] == 4.0).all()


def test_overwriting_a_buffer_that_is_still_read_is_a_race(harness: MachineHarness) -> None:
    body = """
    copy_gm_to_ubuf(ub<float>(0), a[0], 0, 1, 128, 0, 0);
    order(PIPE_MTE2, PIPE_MTE3);
    copy_ubuf_to_gm(a[1], ub<float>(0), 0, 1, 128, 0, 0);
    copy_gm_to_ubuf(ub<float>(0), a[0] + 4096, 0, 1, 128, 0, 0);
"""
    assert "overwrites what copy_ubuf_to_gm on MTE3 reads" in harness.fails("race", body, [X], [X])


def test_of_two_unordered_accesses_only_the_one_that_waited_for_the_other_is_named(
    harness: MachineHarness,
) -> None:
    refill = "copy_gm_to_ubuf(ub<float>(0x4000), a[0], 0, 1, 256, 0, 0);"
    defined = FLAGS | {"SECOND": "order(PIPE_V, PIPE_MTE3);"}
    done = harness.run(f"{COPY_ADD}{refill}", [X], [X], auto_sync=False, define=defined)
    assert done.outcome == "race" and "from MTE3 to MTE2" in done.message
    assert "VECTOR" not in done.message


def test_scalar_read_of_a_vector_result_needs_a_flag(harness: MachineHarness) -> None:
    body = """
    set_vector_mask(~0ull, ~0ull);
    vector_dup(ub<float>(0), 3.0f, 1, 1, 1, 8, 8);
    FLAG
    dav_scalar_load(ub<float>(0), 4);
    float value = *ub<float>(0);
    dav_scalar_store(a[1], 4);
    *(float*)a[1] = value;
"""
    flag = "set_flag(PIPE_V, PIPE_S, 1); wait_flag(PIPE_V, PIPE_S, 1);"
    one = np.zeros(1, np.float32)
    assert harness.run(body.replace("FLAG", ""), [one], [one]).outcome == "race"
    harness.equals(body.replace("FLAG", flag), [one], [one + 3])


def test_global_memory_written_and_read_back_needs_a_flag(harness: MachineHarness) -> None:
    body = """
    copy_gm_to_ubuf(ub<float>(0), a[0], 0, 1, 256, 0, 0);
    order(PIPE_MTE2, PIPE_MTE3);
    copy_ubuf_to_gm(a[1], ub<float>(0), 0, 1, 256, 0, 0);
    FLAG
    copy_gm_to_ubuf(ub<float>(0x4000), a[1], 0, 1, 256, 0, 0);
"""
    assert "global memory" in harness.fails("race", body.replace("FLAG", ""), [X], [X])
    harness.ok(body.replace("FLAG", "order(PIPE_MTE3, PIPE_MTE2);"), [X], [X])
