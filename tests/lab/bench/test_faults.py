from lab.bench.faults import Fault, faults, with_vector_barriers
from lab.model.sanitizers import KINDS

KERNEL = """
__aicore__ inline void Step() {
    // SetFlag<HardEvent::MTE2_V>(0) in words is no statement
    AscendC::SetFlag<AscendC::HardEvent::MTE2_V>(id);
    WaitFlag<HardEvent::MTE2_V>(id);
    AscendC::PipeBarrier<PIPE_V>();
    LocalTensor<half> xLocal = inQueue.AllocTensor<half>();
    DataCopy(xLocal, xGm, 8);
    inQueue.EnQue(xLocal);
    LocalTensor<half> yLocal = inQueue.DeQue<half>();
    Adds(yLocal, xLocal, 1, 8);
    Adds(xLocal, xLocal, 1, 8);
    inQueue.FreeTensor(xLocal);
    pipe.InitBuffer(inQueue, 2, TILE * sizeof(half));
    CrossCoreSetFlag<0x2, PIPE_MTE3>(3);
    CrossCoreWaitFlag(3);
    DataCacheCleanAndInvalid<half, CacheLine::SINGLE_CACHE_LINE>(xGm);
}
TQue<QuePosition::VECIN, 1> inQueue;
"""

LOOP = """
__aicore__ inline void Step() {
    SetFlag<HardEvent::V_MTE2>(0);
    for (int i = 0; i < 4; ++i) {
        WaitFlag<HardEvent::V_MTE2>(0);
        SetFlag<HardEvent::V_MTE2>(0);
    }
    WaitFlag<HardEvent::V_MTE2>(0);
}
"""


def of(kind: str, text: str = KERNEL) -> list[Fault]:
    return [fault for fault in faults(text) if fault.kind == kind]


def changed(fault: Fault, text: str = KERNEL) -> dict[int, str]:
    pairs = zip(text.splitlines(), fault.text.splitlines(), strict=True)
    return {n: new.strip() for n, (old, new) in enumerate(pairs, 1) if old != new}


def test_every_kind_of_fault_is_planted_here() -> None:
    assert {fault.kind for fault in faults(KERNEL)} == set(KINDS)


def test_each_ordering_statement_is_dropped_alone() -> None:
    dropped = of("statement dropped")
    assert [next(iter(changed(fault))) for fault in dropped] == [4, 5, 6, 9, 13, 15, 16, 17]
    assert all(list(changed(fault).values()) == [";"] for fault in dropped)
    assert [fault.line for fault in dropped] == [4, 5, 6, 9, 13, 15, 16, 17]


def test_both_halves_of_a_flag_are_dropped_together() -> None:
    assert [sorted(changed(fault)) for fault in of("pair dropped")] == [[4, 5], [15, 16]]


def test_flags_that_a_loop_carries_round_are_one_pair_of_groups() -> None:
    # The set in the loop meets the wait behind it; the first set starts the wait of the loop.
    together = [sorted(changed(fault, LOOP)) for fault in of("pair dropped", LOOP)]
    assert sorted(line for lines in together for line in lines) == [3, 5, 6, 8]


def test_a_flag_turned_round_keeps_its_two_halves_alike() -> None:
    (turned,) = of("wrong direction")
    assert all("V_MTE2" in line for line in changed(turned).values())
    assert sorted(changed(turned)) == [4, 5]


def test_other_faults_change_what_they_say() -> None:
    (event,) = of("wrong event")
    assert changed(event) == {5: "WaitFlag<HardEvent::MTE2_V>((static_cast<int32_t>(id) + 1) % 8);"}
    (pipe,) = of("wrong signalling pipe")
    assert changed(pipe) == {15: "CrossCoreSetFlag<0x2, PIPE_MTE2>(3);"}
    (queue,) = of("wrong queue position")
    assert changed(queue) == {19: "TQue<QuePosition::VECCALC, 1> inQueue;"}
    (early,) = of("handed over early")
    assert changed(early)[8] == "inQueue.EnQue(xLocal); DataCopy(xLocal, xGm, 8);"
    (freed,) = of("freed early")
    assert changed(freed)[12] == "inQueue.FreeTensor(xLocal); Adds(xLocal, xLocal, 1, 8);"
    (short,) = of("buffer too short")
    assert changed(short)[14] == "pipe.InitBuffer(inQueue, 2, (TILE * sizeof(half)) / 64 * 32);"


def test_a_probe_stops_the_kernel_at_the_place_and_changes_nothing_else() -> None:
    for fault in faults(KERNEL):
        pairs = zip(KERNEL.splitlines(), fault.probe.splitlines(), strict=True)
        differing = [new.strip() for old, new in pairs if old != new]
        assert differing == ["::trap();"], fault


def test_barriers_of_the_vector_pipe_are_written_out_and_nothing_else() -> None:
    text = with_vector_barriers(KERNEL)
    assert "{ Adds(yLocal, xLocal, 1, 8); AscendC::PipeBarrier<PIPE_V>(); }" in text
    bare = text.replace("{ Adds(", "Adds(").replace("; AscendC::PipeBarrier<PIPE_V>(); }", ";")
    assert bare == KERNEL
    assert with_vector_barriers("void F() { GET_TILING_DATA(t, g); }") == (
        "void F() { GET_TILING_DATA(t, g); }"
    )
