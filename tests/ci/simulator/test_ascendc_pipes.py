"""Queues, copies, atomics and synchronisation of the kernel API on the machine."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.ci.simulator.ascendc_harness import AscendCHarness
from tests.ci.simulator.machine_harness import Launch

RANDOM = np.random.default_rng(8)

# Eight blocks of 2048 halves, each in 16 tiles through queues of two buffers.
ADD = """
class AddKernel {
public:
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR z) {
        const uint32_t offset = 2048 * GetBlockIdx();
        xGm_.SetGlobalBuffer((__gm__ half*)x + offset, 2048);
        yGm_.SetGlobalBuffer((__gm__ half*)y + offset, 2048);
        zGm_.SetGlobalBuffer((__gm__ half*)z + offset, 2048);
        pipe_.InitBuffer(inX_, 2, 256);
        pipe_.InitBuffer(inY_, 2, 256);
        pipe_.InitBuffer(outZ_, 2, 256);
    }
    __aicore__ inline void Process() {
        AscendC::WaitPreTaskEnd();  // means nothing on this chip, as the two others
        PRELOAD(2);
        for (int32_t i = 0; i < 16; ++i) {
            CopyIn(i);
            Compute(i);
            CopyOut(i);
        }
        AscendC::SetNextTaskStart();
        static_assert(sizeof(AscendC::int4b_t) == 1);
    }

private:
    __aicore__ inline void CopyIn(int32_t i) {
        LocalTensor<half> x = inX_.AllocTensor<half>();
        LocalTensor<half> y = inY_.AllocTensor<half>();
        DataCopy(x, xGm_[i * 128], 128);
        DataCopy(y, yGm_[i * 128], 128);
        inX_.EnQue(x);
        inY_.EnQue(y);
    }
    __aicore__ inline void Compute(int32_t i) {
        LocalTensor<half> x = inX_.DeQue<half>();
        LocalTensor<half> y = inY_.DeQue<half>();
        LocalTensor<half> z = outZ_.AllocTensor<half>();
        Add(z, x, y, 128);
        outZ_.EnQue(z);
        inX_.FreeTensor(x);
        inY_.FreeTensor(y);
    }
    __aicore__ inline void CopyOut(int32_t i) {
        LocalTensor<half> z = outZ_.DeQue<half>();
        DataCopy(zGm_[i * 128], z, 128);
        outZ_.FreeTensor(z);
    }
    TPipe pipe_;
    TQue<QuePosition::VECIN, 2> inX_, inY_;
    TQue<QuePosition::VECOUT, 2> outZ_;
    GlobalTensor<half> xGm_, yGm_, zGm_;
};
__aicore__ inline void kernel(GM_ADDR* a) {
    AddKernel op;
    op.Init(a[0], a[1], a[2]);
    op.Process();
}
"""


def test_queues_issue_the_instructions_of_the_device_headers(kernels: AscendCHarness) -> None:
    x, y = (RANDOM.uniform(-1, 1, 16384).astype(np.float16) for _ in range(2))
    ran = kernels.equals(ADD, [x, y], [x + y], block_dim=8)
    # Counted on the vendor's headers for this kernel.
    assert ran.report["instructions"] == {
        "copy_gm_to_ubuf": 256,
        "copy_ubuf_to_gm": 128,
        "vadd": 128,
        "set_flag": 768,
        "wait_flag": 768,
        "pipe_barrier": 8,
    }


@pytest.mark.parametrize(
    ("taken_out", "message"),
    [
        ("        outZ_.FreeTensor(z);\n", "no free buffer"),
        ("        inX_.EnQue(x);\n", "empty queue"),
        ("        pipe_.InitBuffer(inY_, 2, 256);\n", "InitBuffer never got"),
    ],
)
def test_a_misused_queue_ends_the_launch_with_a_sentence(
    kernels: AscendCHarness, taken_out: str, message: str
) -> None:
    x = np.zeros(16384, np.float16)
    body = ADD.replace(taken_out, "")
    assert message in kernels.fails("launch_error", body, [x, x], [x], block_dim=8)


def test_a_tensor_that_is_given_back_to_another_queue_is_a_warning_and_free(
    kernels: AscendCHarness,
) -> None:
    x, y = (RANDOM.uniform(-1, 1, 16384).astype(np.float16) for _ in range(2))
    body = ADD.replace("inY_.FreeTensor(y)", "inX_.FreeTensor(y)").replace("VECIN, 2", "VECIN, 1")
    for i in ("inX_", "inY_"):
        body = body.replace(f"pipe_.InitBuffer({i}, 2", f"pipe_.InitBuffer({i}, 1")
    ran = kernels.equals(body, [x, y], [x + y], block_dim=8)
    assert any("a tensor of another queue" in said for said in ran.warned("limit"))


def test_padding_fills_and_gaps_skip(kernels: AscendCHarness) -> None:
    x = np.arange(1, 61, dtype=np.int32)
    body = """
    Desk desk;
    auto local = desk.empty<int32_t>(64);
    // Four rows of 5 out of rows of 15, two elements of -7 before and one after.
    DataCopyPad(local, global<int32_t>(a[0]), DataCopyExtParams{4, 20, 40, 0, 0},
                DataCopyPadExtParams<int32_t>{true, 2, 1, -7});
    PipeBarrier<PIPE_ALL>();
    DataCopy(global<int32_t>(a[1]), local, 32);
    PipeBarrier<PIPE_ALL>();
    // The rows without their padding go out, three elements apart.
    DataCopyPad(global<int32_t>(a[2]), local, DataCopyExtParams{4, 28, 0, 12, 0});
"""
    likes = [np.zeros(32, np.int32), np.zeros(40, np.int32)]
    ran = kernels.ok(body, [x], likes, auto_sync=True)
    wanted = np.full((4, 8), -7, np.int32)
    wanted[:, 2:7] = x.reshape(4, 15)[:, :5]
    np.testing.assert_array_equal(ran.outputs[0].reshape(4, 8), wanted)
    np.testing.assert_array_equal(ran.outputs[1].reshape(4, 10)[:, :7], wanted[:, :7])


def test_a_set_padding_value_counts_until_a_copy_has_its_own(kernels: AscendCHarness) -> None:
    x = np.arange(1, 6, dtype=np.int32)
    body = """
    Desk desk;
    auto local = desk.empty<int32_t>(32);
    const DataCopyPadExtParams<int32_t> told{true, 0, 3, -7}, untold{false, 0, 3, 0};
    const DataCopyExtParams row{1, 20, 0, 0, 0};
    SetPadValue<int32_t>(5);
    DataCopyPad(local, global<int32_t>(a[0]), row, untold);
    DataCopyPad(local[8], global<int32_t>(a[0]), row, untold);
    DataCopyPad(local[16], global<int32_t>(a[0]), row, told);
    DataCopyPad(local[24], global<int32_t>(a[0]), row, untold);  // any value
    PipeBarrier<PIPE_ALL>();
    DataCopy(global<int32_t>(a[1]), local, 32);
"""
    rows = kernels.ok(body, [x], [np.zeros(32, np.int32)], auto_sync=True).outputs[0].reshape(4, 8)
    np.testing.assert_array_equal(rows[:, :5], np.tile(x, (4, 1)))
    assert rows[:3, 5:].tolist() == [[5] * 3, [5] * 3, [-7] * 3]
    assert not {5, -7} & {*rows[3, 5:].tolist()}


def test_slices_copy_a_window(kernels: AscendCHarness) -> None:
    x = np.arange(4 * 64, dtype=np.float32)
    body = """
    Desk desk;
    auto local = desk.empty<float>(48);
    // Columns 16..23 and 40..47 of rows 1..3, packed.
    SliceInfo from[] = {{16, 47, 16, 1, 64}, {1, 3, 0, 1, 4}};
    SliceInfo to[] = {{0, 15, 0, 1, 16}, {0, 2, 0, 1, 3}};
    DataCopy(local, global<float>(a[0]), to, from, 2);
    PipeBarrier<PIPE_ALL>();
    DataCopy(global<float>(a[1]), local, 48);
"""
    window = x.reshape(4, 64)[1:4]
    wanted = np.concatenate([window[:, 16:24], window[:, 40:48]], axis=1)
    kernels.equals(body, [x], [wanted], auto_sync=True)


def test_blocks_add_up_atomically_and_meet_at_sync_all(kernels: AscendCHarness) -> None:
    body = """
    Desk desk;
    auto local = desk.empty<float>(64);
    auto sum = global<float>(a[0]), copy = global<float>(a[1], 64 * GetBlockIdx());
    if (GetBlockIdx() == 0) {
        InitOutput<float>(sum, 64, 0.5f);
    }
    SyncAll();
    Duplicate(local, float(GetBlockIdx() + 1), 64);
    PipeBarrier<PIPE_ALL>();
    SetAtomicAdd<float>();
    DataCopy(sum, local, 64);
    SetAtomicNone();
    PipeBarrier<PIPE_ALL>();
    SyncAll();
    DataCopy(local, sum, 64);
    PipeBarrier<PIPE_ALL>();
    DataCopy(copy, local, 64);
"""
    wanted = [np.full(64, 10.5, np.float32), np.full((4, 64), 10.5, np.float32)]
    kernels.equals(body, [], wanted, block_dim=4, auto_sync=True)


# Sums of floats that depend on the order: 1e8, 1, -1e8 and 1 of blocks 0 to 3, in two turns.
TURNS = """
    Desk desk;
    auto local = desk.empty<float>(64);
    auto turns = desk.empty<int32_t>(8 * 4 + 8);
    auto sum = global<float>(a[0]);
    auto workspace = global<int32_t>(a[1]);
    const int32_t me = GetBlockIdx();
    BEGIN
    Duplicate(local, me == 0 ? 1e8f : me == 2 ? -1e8f : 1.0f, 64);
    PipeBarrier<PIPE_ALL>();
    for (int32_t turn = 0; turn < 2; ++turn) {
        WAIT
        SetAtomicAdd<float>();
        DataCopy(sum[64 * turn], local, 64);
        DisableDmaAtomic();
        NOTIFY
    }
"""
IN_TURN = {
    "BEGIN": "InitDetermineComputeWorkspace(workspace, turns);",
    "WAIT": "WaitPreBlock(workspace, turns);",
    "NOTIFY": "NotifyNextBlock(workspace, turns);",
}


def turns(kernels: AscendCHarness, **left_out: str) -> Launch:
    likes = [np.zeros((2, 64), np.float32), np.zeros((4, 8), np.int32)]
    how: dict[str, Any] = {"define": {**IN_TURN, **left_out}, "initial": {0: 0, 1: 7}}
    return kernels.run(TURNS, [], likes, block_dim=4, auto_sync=True, **how)


def test_blocks_that_take_turns_add_up_in_the_order_of_their_index(
    kernels: AscendCHarness,
) -> None:
    found = turns(kernels)
    assert found.outcome == "ok", found.message
    np.testing.assert_array_equal(found.outputs[0], np.ones((2, 64), np.float32))


@pytest.mark.parametrize(
    ("left_out", "said"),
    [
        ("BEGIN", "InitDetermineComputeWorkspace was not called first"),
        ("NOTIFY", "WaitPreBlock"),
    ],
)
def test_turns_that_never_come_end_the_launch(
    kernels: AscendCHarness, left_out: str, said: str
) -> None:
    found = turns(kernels, **{left_out: ""})
    assert found.outcome == "launch_error"
    assert said in found.message


# Block 0 waits for a flag that block 1 sets behind a number.
PAST_THE_CACHE = """
    auto* words = (__gm__ int32_t*)a[0];
    if (GetBlockIdx() == 1) {
        WriteGmByPassDCache<int32_t>(words + AT, 7);
        DataSyncBarrier<MemDsbT::DDR>();
        WriteGmByPassDCache<int32_t>(words, 6);
        return;
    }
    while (ReadGmByPassDCache<int32_t>(words) != 6 && !ONCE) {
    }
    WriteGmByPassDCache<int32_t>((__gm__ int32_t*)a[1],
                                 2 * ReadGmByPassDCache<int32_t>(words + AT));
"""


def test_a_block_sees_what_another_one_writes_past_the_cache(kernels: AscendCHarness) -> None:
    wanted = [np.zeros(32, np.int32), np.array([14, 0, 0, 0], np.int32)]
    wanted[0][[0, 16]] = 6, 7
    how: dict[str, Any] = {"outputs": wanted, "block_dim": 2, "initial": {0: 0, 1: 0}}
    found = kernels.run(PAST_THE_CACHE, define={"ONCE": 0, "AT": 16}, **how)
    assert found.outcome == "ok", found.message
    for array, like in zip(found.outputs, wanted, strict=True):
        np.testing.assert_array_equal(array, like)
    assert not found.report["warnings"]
    for place in (1, 16):  # on the line of the flag, and on another one
        looks_once = {"ONCE": 1, "AT": place}
        assert kernels.run(PAST_THE_CACHE, define=looks_once, **how).outcome == "race"


def test_saturation_is_a_bit_of_the_control_register(kernels: AscendCHarness) -> None:
    x = np.array([60000, -60000, 1, 2], np.float16).repeat(16)
    largest = np.float16(65504)
    sums = np.array([largest, -largest, 2, 4], np.float16).repeat(16)
    infinite = np.array([np.inf, -np.inf, 2, 4], np.float16).repeat(16)
    double = "Add(d, x, x, 64); PipeBarrier<PIPE_ALL>();"
    floats = "SaturationMode::FLOAT"
    kernels.agree(
        {
            f"SetSaturationFlag<{floats}>(true); {double}": sums,
            f"SetCtrlSpr<48, 48>(1); if (GetCtrlSpr<40, 55>() >> 8 == 1) {double}": infinite,
            # `d` keeps what the line before gave where the question has another answer.
            f"SetSaturationFlag<{floats}>(true);"
            f" if (GetSaturationFlag<{floats}>() && GetCtrlSpr<48, 48>() == 0) {double}": sums,
        },
        {"x": x},
        np.float16,
    )


GROUPS = """
    Desk desk;
    auto local = desk.empty<float>(64);
    auto handed = global<float>(a[0]), copies = global<float>(a[1]);
    // Cores 0 and 1 hand two tiles over to cores 2, 3 and 4, twice.
    GroupBarrier<PipeMode::MTE3_MODE> barrier(a[2], 2, 3);
    const int32_t me = GetBlockIdx();
    for (int32_t round = 0; round < 2; ++round) {
        if (me < 2) {
            Duplicate(local, float(10 * round + me), 64);
            DataCopy(handed[128 * round + 64 * me], local, 64);
            ARRIVE
        } else {
            WAIT
            DataCopy(local, handed[128 * round + 64 * (me % 2)], 64);
            DataCopy(copies[64 * (3 * round + me - 2)], local, 64);
            PipeBarrier<PIPE_ALL>();
        }
    }
"""


def groups(arrive: str = "barrier.Arrive(me);", wait: str = "barrier.Wait(me - 2);") -> str:
    return GROUPS.replace("ARRIVE", arrive).replace("WAIT", wait)


def test_one_group_of_cores_waits_for_another_round_by_round(kernels: AscendCHarness) -> None:
    likes = [np.zeros(256, np.float32), np.zeros((6, 64), np.float32)]
    how: dict[str, Any] = {"block_dim": 5, "workspace": 4096, "auto_sync": True}
    ran = kernels.ok(groups(), [], likes, **how)
    np.testing.assert_array_equal(ran.outputs[1][:, 0], [0, 1, 0, 10, 11, 10])
    assert ran.report["wait_cycles"]["SCALAR<-OTHER_CORES"] > 0
    for broken in (groups(arrive=""), groups(wait="")):
        assert kernels.run(broken, [], likes, **how).outcome in ("race", "launch_error")
    late = groups(wait="barrier.Wait(me - 2);\n            barrier.Wait(me - 2);")
    assert "deadlock" in kernels.fails("launch_error", late, [], likes, **how)
    twice = groups(arrive="if (round == 0) { barrier.Arrive(me); } barrier.Arrive(me);")
    assert kernels.run(twice, [], likes, **how).outcome == "race"
    more = groups("barrier.Arrive(0);").replace("a[2], 2, 3", "a[2], 1, 3")
    assert "More than the 1 cores" in kernels.fails("launch_error", more, [], likes, **how)
    beyond = groups(wait="barrier.Wait(me);")
    assert "below the size" in kernels.fails("launch_error", beyond, [], likes, **how)
    apart = groups().replace("a[2], 2, 3", "a[2], 2 + GetBlockIdx() / 4, 3")
    assert "2 and 3 cores" in kernels.fails("launch_error", apart, [], likes, **how)


def test_work_without_the_queues_flags_is_a_race(kernels: AscendCHarness) -> None:
    body = """
    Desk desk;
    auto local = desk.empty<float>(64);
    DataCopy(local, global<float>(a[0]), 64);
    const int32_t loaded = desk.pipe.FetchEventID(HardEvent::MTE2_V);
    SetFlag<HardEvent::MTE2_V>(loaded);
    WaitFlag<HardEvent::MTE2_V>(loaded);
    Adds(local, local, 1.0f, 64);
    const int32_t done = desk.pipe.FetchEventID(HardEvent::V_MTE3);
    SetFlag<HardEvent::V_MTE3>(done);
    WaitFlag<HardEvent::V_MTE3>(done);
    DataCopy(global<float>(a[1]), local, 64);
"""
    x = np.arange(64, dtype=np.float32)
    kernels.equals(body, [x], [x + 1])
    without_wait = body.replace("    WaitFlag<HardEvent::V_MTE3>(done);\n", "")
    assert kernels.run(without_wait, [x], [x]).outcome != "ok"


def test_buffers_of_a_pool_are_used_again_after_reset(kernels: AscendCHarness) -> None:
    body = """
    TPipe pipe;
    TBufPool<TPosition::VECCALC> pool;
    pipe.InitBufPool(pool, 512);
    for (int pass = 0; pass < 2; ++pass) {
        TBuf<TPosition::VECCALC> first, second;
        pool.InitBuffer(first, 256);
        pool.InitBuffer(second, 256);
        auto local = second.Get<float>();
        local.SetValue(0, float(local.GetPhyAddr() - uint64_t(dav_ub_base())));
        PipeBarrier<PIPE_ALL>();
        DataCopy(global<float>(a[0], pass * 8), local, 8);
        PipeBarrier<PIPE_ALL>();
        pool.Reset();
    }
    SetMaskNorm();
"""
    ran = kernels.ok(body, [], [np.zeros(16, np.float32)], auto_sync=True)
    assert ran.outputs[0][0] == ran.outputs[0][8] == 256


def test_the_cache_hint_sends_copies_past_l2_which_is_slower_for_what_it_holds(
    kernels: AscendCHarness,
) -> None:
    body = """
    Desk desk;
    auto local = desk.empty<float>(32768);
    auto x = global<float>(a[0], 32768 * GetBlockIdx());
    auto y = global<float>(a[1], 32768 * GetBlockIdx());
    HINT
    DataCopy(local, x, 32768);
    PipeBarrier<PIPE_ALL>();
    DataCopy(y, local, 32768);
"""
    x = np.arange(32768 * 40, dtype=np.float32)
    hint = (
        "y.SetL2CacheHint(CacheMode::CACHE_MODE_DISABLE);"
        "x.SetL2CacheHint<CacheRwMode::READ>(CacheMode::CACHE_MODE_DISABLE);"
    )
    cached, streamed = (
        kernels.equals(body, [x], [x], block_dim=40, define={"HINT": h}) for h in ("", hint)
    )
    assert streamed.cycles > 1.5 * cached.cycles


def test_an_allocator_lays_tensors_one_behind_the_other(kernels: AscendCHarness) -> None:
    x = np.arange(64, dtype=np.float32)
    body = """
    LocalMemAllocator ub;
    LocalMemAllocator<Hardware::L1> l1;
    auto in = ub.Alloc<float, 64>();
    auto twice = ub.Alloc<TPosition::VECOUT, float>(64);
    auto places = ub.Alloc<TPosition::VECCALC, int32_t, 8>();
    auto behind = ub.Alloc<half>(16);
    auto matrix = l1.Alloc<half, 256>();
    DataCopy(in, global<float>(a[0]), 64);
    PipeBarrier<PIPE_ALL>();
    Add(twice, in, in, 64);
    places.SetValue(0, int32_t(behind.GetPhyAddr() - in.GetPhyAddr()));
    places.SetValue(1, int32_t(ub.GetCurAddr()));
    places.SetValue(2, int32_t(l1.GetCurAddr()));
    PipeBarrier<PIPE_ALL>();
    DataCopy(global<float>(a[1]), twice, 64);
    DataCopy(global<int32_t>(a[2]), places, 8);
    PipeBarrier<PIPE_ALL>();
"""
    outputs = [np.zeros(64, np.float32), np.zeros(8, np.int32)]
    ran = kernels.ok(body, [x], outputs, auto_sync=True)
    assert np.array_equal(ran.outputs[0], 2 * x)
    assert ran.outputs[1][:3].tolist() == [544, 576, 512]
