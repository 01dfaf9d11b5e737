"""What the documentation forbids is named at the numbers where it begins, and not below them."""

from __future__ import annotations

import numpy as np
import pytest

from ci.model.launch import Tensors
from tests.ci.simulator.ascendc_harness import AscendCHarness
from tests.ci.simulator.machine_harness import Array, Launch


class CheckedHarness(AscendCHarness):
    """Kernels that are built to be checked; `OVER` is the number that their first input holds."""

    flavour = "checked"
    prelude = f"{AscendCHarness.prelude}\n#define OVER (*(__gm__ int32_t*)a[0])\n"

    def over(
        self, body: str, number: int, cores: tuple[int, int] = (0, 1), asked: int = 1024
    ) -> Launch:
        """A launch with this number, whose host side asks for so many bytes of workspace."""
        inputs: Tensors = [np.array([number] * 1024, np.int32)]
        outputs: list[Array] = [np.zeros(1024, np.int32)]
        return self.run(body, inputs, outputs, cores=cores, workspace=asked, least_workspace=1024)


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory) -> CheckedHarness:
    return CheckedHarness(tmp_path_factory.mktemp("limits"))


VECTOR = """
    TPipe pipe;
    const int32_t over = OVER;
    LocalTensor<float> first(TPosition::VECCALC, 0, 8192), second(TPosition::VECCALC, 40000, 2);
    LocalTensor<float> merged(TPosition::VECCALC, 80000, 8194);
    const uint16_t lengths[4] = {uint16_t(4095 + over), 1, 0, 0};
    MrgSort(merged, MrgSortSrcList<float>(first, second, first, first),
            MrgSort4Info(lengths, false, 3, 1));
    PipeBarrier<PIPE_ALL>();
    LocalTensor<half> many(TPosition::VECCALC, 0, 65600), room(TPosition::VECCALC, 140000, 4096);
    LocalTensor<half> most(TPosition::VECCALC, 160000, 16);
    Duplicate(many, half(1), 65664);
    PipeBarrier<PIPE_ALL>();
    ReduceMax(most, many, room, 65536 + over, true);
    CrossCoreSetFlag<0, PIPE_MTE3>(15 + over);
    CrossCoreWaitFlag(15 + over);
"""
IN_PLACE = """
    TPipe pipe;
    const int32_t apart = OVER * 8192;  // elements
    LocalTensor<float> all(TPosition::VECCALC, 0, 16384);
    LocalTensor<uint32_t> places(TPosition::VECCALC, 100000, 64);
    Duplicate(all, 1.0f, 16384);
    Duplicate(places, uint32_t(0), 64);
    PipeBarrier<PIPE_ALL>();
    Brcb(all[apart], all, 1, BrcbRepeatParams(1, 8));
    PipeBarrier<PIPE_ALL>();
    Gather(all[apart], all, places, 0, 64);
    PipeBarrier<PIPE_ALL>();
    const uint16_t lengths[4] = {8, 8, 0, 0};
    MrgSort(all[apart], MrgSortSrcList<float>(all, all[16], all, all),
            MrgSort4Info(lengths, false, 3, 1));
    PipeBarrier<PIPE_ALL>();
"""
CUBE = """
    const int32_t over = OVER;
    LocalTensor<half> l1(TPosition::A1, 0, 65536);
    Nd2NzParams matrices(1, 1, 16, 0, 16, 16384 + over, 1, 0);
    DataCopy(l1, global<half>(a[0]), matrices);
    LocalTensor<half> left(TPosition::A2, 0, 16), right(TPosition::B2, 0, 16);
    LocalTensor<float> sums(TPosition::CO1, 0, 16);
    MmadParams product;
    product.m = 4095 + over;
    product.n = 16;
    product.k = 1;
    Mmad(sums, left, right, product);
"""


PART = """
    const int32_t over = OVER;
    TPipe pipe;
    GlobalTensor<int32_t> given, taken, bare = global<int32_t>(a[0]);
    given.SetGlobalBuffer((__gm__ int32_t*)a[0], 512 - 8 * over);
    taken.SetGlobalBuffer((__gm__ int32_t*)a[1], 512 - over);
    LocalTensor<int32_t> local(TPosition::VECCALC, 0, 1024);
    DataCopy(local, bare, 1024);
    PipeBarrier<PIPE_ALL>();
    DataCopy(local, given[256], 256);
    PipeBarrier<PIPE_ALL>();
    DataCopyPad(taken[8], local, DataCopyExtParams(1, 504 * 4, 0, 0, 0));
    local.SetValue(0, given.GetValue(511));
    taken.SetValue(0, given(511 - 8 * over));
"""
EVENTS = """
    const int32_t over = OVER;
    TPipe pipe;
    TEventID own[7];
    for (int i = 0; i < 7; ++i) own[i] = pipe.AllocEventID<HardEvent::MTE2_V>();
    SetFlag<HardEvent::MTE2_V>(own[6]);
    WaitFlag<HardEvent::MTE2_V>(own[6]);
    for (int i = 0; i < 7; ++i) pipe.ReleaseEventID<HardEvent::MTE2_V>(own[i]);
    SetFlag<HardEvent::V_MTE3>(5 + over);
    WaitFlag<HardEvent::V_MTE3>(5 + over);
"""
SHIFTED = """
    const int32_t over = OVER;
    LocalTensor<float> local(TPosition::VECCALC, 0, 1024);
    Duplicate(local, 1.0f, 1024);
    PipeBarrier<PIPE_V>();
    Adds(local, local[64 - 56 * over], 1.0f, 64);
    PipeBarrier<PIPE_V>();
    Adds(local, local, 1.0f, 1024);
    PipeBarrier<PIPE_V>();
    Cast(local.ReinterpretCast<half>(), local, RoundMode::CAST_NONE, 64);
"""
PERMUTED = """
    const int32_t over = OVER;
    TPipe pipe;
    LocalTensor<float> local(TPosition::VECCALC, 0, 128);
    LocalTensor<uint32_t> places(TPosition::VECCALC, 100000, 128);
    Duplicate(local, 1.0f, 128);
    PipeBarrier<PIPE_ALL>();
    for (uint32_t i = 0; i < 128; ++i) places.SetValue(i, (i ^ (over ? 64 : 1)) * 4);
    PipeBarrier<PIPE_ALL>();
    Gather(local, local, places, 0, 128);
    PipeBarrier<PIPE_ALL>();
    for (uint32_t i = 0; i < 16; ++i) places.SetValue(i, (i ^ (over ? 8 : 1)) * 32);
    PipeBarrier<PIPE_ALL>();
    Gatherb(local, local, places, 2, GatherRepeatParams(1, 8));
"""
HINTS = """
    const int32_t over = OVER;
    TPipe pipe, other;
    TBuf<> one, two;
    pipe.InitBuffer(one, 4096);
    if (over) other.InitBuffer(two, 32);
    LocalTensor<float> low = one.GetWithOffset<float>(512, 0);
    LocalTensor<float> high = one.GetWithOffset<float>(512, 2048 - 32 * over);
    LocalTensor<float> within = one.GetWithOffset<float>(64, 32);
    DataCopyPad(low, global<float>(a[0]), DataCopyExtParams(1, 20, 0, 0, 0),
                DataCopyPadExtParams<float>(!over, 0, 3, 0.0f));
"""
FRACTALS = """
    const int32_t over = OVER;
    TPipe pipe;
    TBuf<TPosition::A1> rows;
    TBuf<TPosition::A2> left;
    TBuf<TPosition::CO1> result;
    pipe.InitBuffer(rows, 1024 - 512 * over);
    pipe.InitBuffer(left, 1024 - 512 * over);
    pipe.InitBuffer(result, 1024 - 512 * over);
    LocalTensor<half> from = rows.Get<half>(), to = left.Get<half>();
    LocalTensor<half> right(TPosition::B2, 0, 256);
    DataCopy(from, global<half>(a[0]), Nd2NzParams(1, 16, 32, 0, 32, 16, 1, 0));
    PipeBarrier<PIPE_ALL>();
    LoadData(to, from, LoadData2DParams(1, 1, 1, 0, 0, false, 0));
    LoadData(to[256], from, LoadData2DParams(0, 1, 1, 0, 0, false, 0));
    LoadData(right, from, LoadData2DParams(0, 1, 1, 0, 0, false, 0));
    PipeBarrier<PIPE_ALL>();
    MmadParams product;
    product.m = product.n = product.k = 16;
    product.cmatrixInitVal = true;
    Mmad(result.Get<float>(), to, right, product);
"""
SUMS = """
    TBuf<TPosition::CO1> sums;
    TPipe pipe;
    pipe.InitBuffer(sums, 1024);
    LocalTensor<half> l1(TPosition::A1, 0, 256), left(TPosition::A2, 0, 256);
    LocalTensor<half> right(TPosition::B2, 0, 256);
    DataCopy(l1, global<half>(a[0]), Nd2NzParams(1, 16, 16, 0, 16, 16, 1, 0));
    PipeBarrier<PIPE_ALL>();
    LoadData(left, l1, LoadData2DParams(0, 1, 1, 0, 0, false, 0));
    LoadData(right, l1, LoadData2DParams(0, 1, 1, 0, 0, false, 0));
    PipeBarrier<PIPE_ALL>();
    MmadParams product;
    product.m = product.n = product.k = 16;
    for (int32_t i = 0; i < 2; ++i) {
        product.cmatrixInitVal = i == 0 || OVER;
        Mmad(sums.Get<float>(), left, right, product);
        PipeBarrier<PIPE_M>();
    }
"""
ROUNDED = """
    LocalTensor<float> from(TPosition::VECCALC, 0, 64);
    LocalTensor<half> to(TPosition::VECCALC, 256, 64);
    Duplicate(from, 1.0f, 64);
    PipeBarrier<PIPE_V>();
    Cast(to, from, OVER ? RoundMode::CAST_TRUNC : RoundMode::CAST_RINT, 64);
    PipeBarrier<PIPE_V>();
    Cast(from, to, RoundMode::CAST_NONE, 64);
"""
SIZED = """
    GlobalTensor<half> x;
    x.SetGlobalBuffer((__gm__ half*)a[OVER ? 0 : 2], 16);
    GlobalTensor<float> y = global<float>(a[1]);
"""
COUNTED = """
    LocalTensor<float> from(TPosition::VECCALC, 0, 128);
    Duplicate(from, 1.0f, 128);
    PipeBarrier<PIPE_V>();
    if (OVER) SetMaskCount();
    SetVectorMask<float, MaskMode::COUNTER>(0, 64);
    Adds<float, false>(from, from, 1.0f, MASK_PLACEHOLDER, 2, {1, 1, 8, 8});
    SetMaskNorm();
    ResetMask();
"""
TAILS = """
    const int32_t over = OVER;
    TPipe pipe;
    LocalTensor<float> tile(TPosition::VECCALC, 0, 128), sum(TPosition::VECCALC, 1024, 64);
    for (int32_t length = 128; length >= 64; length -= 64) {
        DataCopy(tile, global<float>(a[0]), length);
        PipeBarrier<PIPE_ALL>();
        Adds(sum, tile, 1.0f, over ? 128 : length);
        PipeBarrier<PIPE_ALL>();
    }
"""
LEFT = """
    const int32_t over = OVER;
    GlobalTensor<int32_t> y = global<int32_t>(a[1]);
    y.SetValue(0, 1);
    if (!over) DataCacheCleanAndInvalid<int32_t, CacheLine::ENTIRE_DATA_CACHE>(y);
"""
ROOM = """
    GlobalTensor<int32_t> space = global<int32_t>(a[2]);
    LocalTensor<int32_t> local(TPosition::VECCALC, 0, 64);
    Duplicate(local, 1, 64);
    PipeBarrier<PIPE_ALL>();
    DataCopy(space[OVER * 8], local, 64);
"""
SIGNALS = """
    const int32_t over = OVER;
    for (int32_t i = 0; i < 1 + over; ++i) CrossCoreSetFlag<0, PIPE_MTE3>(3);
    CrossCoreWaitFlag(3);
"""


BARRIER = """
    const int32_t over = OVER;
    TPipe pipe;
    LocalTensor<int32_t> counts(TPosition::VECCALC, 0, 256);
    Duplicate(counts, over == 1 ? 1 : 0, 256);
    PipeBarrier<PIPE_ALL>();
    DataCopy(global<int32_t>(a[2]), counts, 256);
    PipeBarrier<PIPE_ALL>();
    GroupBarrier<PipeMode::MTE3_MODE> barrier(a[2] + (over == 2 ? 32 : 0), 1, over == 3 ? 3 : 1);
    barrier.Arrive(0);
    barrier.Wait(0);
"""


def test_what_may_explain_a_wrong_result_is_told_with_its_line(harness: CheckedHarness) -> None:
    kinds = ("two_pipes", "views", "padding_lanes")
    beyond, within = harness.over(HINTS, 1), harness.over(HINTS, 0)
    assert [len(beyond.warned(kind)) for kind in kinds] == [1, 1, 1]
    assert [len(within.warned(kind)) for kind in kinds] == [0, 0, 0]
    (filled,) = within.warned("filled_lanes")
    assert "12 bytes" in filled


@pytest.mark.parametrize(
    ("body", "cores", "kind", "said"),
    [
        (SUMS, (1, 0), "unused", "Of the 1024 bytes that mad writes, 0 are read"),
        (ROUNDED, (0, 1), "rounding", "toward zero"),
        (LEFT, (0, 1), "cache_left", "byte 0 of output 0"),
        (SIZED, (0, 1), "element_size", "input 0 have 4 bytes"),
        (COUNTED, (0, 1), "counter_mode", "2 repeats"),
        (TAILS, (0, 1), "left_over", "256 bytes of an earlier copy"),
    ],
)
def test_what_may_explain_a_result_is_told_only_where_it_is_done(
    harness: CheckedHarness, body: str, cores: tuple[int, int], kind: str, said: str
) -> None:
    (text,) = harness.over(body, 1, cores).warned(kind)
    assert said in text
    assert harness.over(body, 0, cores).warned(kind) == []


def test_what_leaves_a_buffer_of_the_cube_core_is_named(harness: CheckedHarness) -> None:
    cube = (1, 0)
    beyond = harness.over(FRACTALS, 1, cube).warned("overrun")
    verbs = ["writes 1024", "reads 512", "writes 512", "writes 1024"]
    assert [next(v for v in verbs if v in text) for text in beyond] == verbs
    assert harness.over(FRACTALS, 0, cube).warned("overrun") == []


COMPACTED = """
    const int32_t over = OVER;
    TPipe pipe;
    TBuf<> source, target;
    pipe.InitBuffer(source, 4096);
    pipe.InitBuffer(target, 4096);
    LocalTensor<float> from = source.Get<float>(), to = target.Get<float>();
    Duplicate(from, 1.0f, 1024);
    PipeBarrier<PIPE_V>();
    uint64_t kept = 0;
    const GatherMaskParams rows(1, ROWS, 38, 0);
    GatherMask(to, from, uint8_t(1), true, COUNT + 64 * over, rows, kept);
"""


@pytest.mark.parametrize(("rows", "count"), [(1, 1016), (3, 416), (2, 720)])
def test_a_compaction_in_counter_mode_reads_what_its_mask_counts(
    harness: CheckedHarness, rows: int, count: int
) -> None:
    """Rows begin 38 blocks apart; 52 blocks of the last of three are in the buffer of 128."""
    body = COMPACTED.replace("ROWS", str(rows)).replace("COUNT", str(count))
    (text,) = harness.over(body, 1).warned("overrun")
    assert "vreducev2 reads" in text
    assert harness.over(body, 0).warned("overrun") == []


def test_workspace_that_the_host_side_does_not_ask_for_is_named(harness: CheckedHarness) -> None:
    (text,) = harness.over(ROOM, 1, asked=256).warned("workspace")
    assert "up to byte 288" in text and "256 bytes" in text
    assert harness.over(ROOM, 0, asked=256).warned("workspace") == []


def test_a_cross_core_flag_that_ends_set_is_named(harness: CheckedHarness) -> None:
    (text,) = harness.over(SIGNALS, 1).warned("state")
    assert "flag 3" in text and "fewer waits than sets" in text
    assert harness.over(SIGNALS, 0).warned("state") == []


@pytest.mark.parametrize(
    ("over", "named"),
    [(0, []), (1, ["is not zero"]), (2, ["aligned to 512"]), (3, ["needs 1536 bytes"])],
)
def test_memory_in_which_a_group_barrier_cannot_count_is_named(
    harness: CheckedHarness, over: int, named: list[str]
) -> None:
    found = harness.over(BARRIER, over).warned("limit")
    assert {next(n for n in named if n in text) for text in found} == set(named)


def test_what_leaves_the_part_that_setglobalbuffer_was_given_is_named(
    harness: CheckedHarness,
) -> None:
    beyond = harness.over(PART, 1).warned("given_size")
    said = ["bytes 1024 to 2047", "bytes 32 to 2047", "bytes 2044 to 2047"]
    assert [next(n for n in said if n in text) for text in beyond] == said
    assert harness.over(PART, 0).warned("given_size") == []


def test_a_reserved_event_that_no_pipe_has_handed_out_is_named(harness: CheckedHarness) -> None:
    assert len(harness.over(EVENTS, 1).warned("reserved_event")) == 1
    assert harness.over(EVENTS, 0).warned("reserved_event") == []


def test_a_result_over_a_part_of_its_source_within_a_repeat_is_named(
    harness: CheckedHarness,
) -> None:
    (text,) = harness.over(SHIFTED, 1).warned("own_source")
    assert "within one repeat" in text
    assert harness.over(SHIFTED, 0).warned("own_source") == []


def test_a_gather_in_place_is_named_where_a_repeat_takes_what_an_earlier_one_wrote(
    harness: CheckedHarness,
) -> None:
    said = harness.over(PERMUTED, 1).warned("own_source")
    assert [text.split()[0] for text in said] == ["vgather", "vgatherb"]
    assert harness.over(PERMUTED, 0).warned("own_source") == []
    assert len(harness.over(PERMUTED, 0).warned("not_apart")) == 2


def test_a_result_that_must_lie_apart_from_its_source_is_named(harness: CheckedHarness) -> None:
    named = harness.over(IN_PLACE, 0).warned("not_apart")
    assert [text.split()[0] for text in named] == ["vbrcb", "vgather", "vmrgsort4"]
    assert harness.over(IN_PLACE, 1).warned("not_apart") == []


@pytest.mark.parametrize(
    ("body", "cores", "named"),
    [
        (VECTOR, (0, 1), ["MrgSort takes", "The index of ReduceMax", "CrossCoreSetFlag takes"]),
        (CUBE, (1, 0), ["A copy from ND to NZ", "Mmad takes"]),
    ],
)
def test_a_number_beyond_a_limit_is_named_and_the_limit_itself_is_not(
    harness: CheckedHarness, body: str, cores: tuple[int, int], named: list[str]
) -> None:
    beyond = harness.over(body, 1, cores).warned("limit")
    assert [next(n for n in named if text.startswith(n)) for text in beyond] == named
    assert harness.over(body, 0, cores).warned("limit") == []
