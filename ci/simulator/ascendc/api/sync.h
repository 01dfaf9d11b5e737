// Flags, barriers and synchronisation between cores.
#pragma once

#include "tensor.h"

namespace AscendC {

struct EventPipes {
    pipe_t from;
    pipe_t to;
};

// The two pipes that a hard event orders: `from` sets the flag, `to` waits for it.
__aicore__ constexpr EventPipes pipes_of(HardEvent event) {
    switch (event) {
        case HardEvent::MTE2_MTE1: return {PIPE_MTE2, PIPE_MTE1};
        case HardEvent::MTE1_MTE2: return {PIPE_MTE1, PIPE_MTE2};
        case HardEvent::MTE1_M: return {PIPE_MTE1, PIPE_M};
        case HardEvent::M_MTE1: return {PIPE_M, PIPE_MTE1};
        case HardEvent::MTE2_V: return {PIPE_MTE2, PIPE_V};
        case HardEvent::V_MTE2: return {PIPE_V, PIPE_MTE2};
        case HardEvent::MTE3_V: return {PIPE_MTE3, PIPE_V};
        case HardEvent::V_MTE3: return {PIPE_V, PIPE_MTE3};
        case HardEvent::M_V: return {PIPE_M, PIPE_V};
        case HardEvent::V_M: return {PIPE_V, PIPE_M};
        case HardEvent::MTE3_MTE1: return {PIPE_MTE3, PIPE_MTE1};
        case HardEvent::MTE1_MTE3: return {PIPE_MTE1, PIPE_MTE3};
        case HardEvent::MTE1_V: return {PIPE_MTE1, PIPE_V};
        case HardEvent::MTE2_M: return {PIPE_MTE2, PIPE_M};
        case HardEvent::M_MTE2: return {PIPE_M, PIPE_MTE2};
        case HardEvent::V_MTE1: return {PIPE_V, PIPE_MTE1};
        case HardEvent::M_FIX: return {PIPE_M, PIPE_FIX};
        case HardEvent::FIX_M: return {PIPE_FIX, PIPE_M};
        case HardEvent::MTE3_MTE2: return {PIPE_MTE3, PIPE_MTE2};
        case HardEvent::MTE2_MTE3: return {PIPE_MTE2, PIPE_MTE3};
        case HardEvent::S_V: return {PIPE_S, PIPE_V};
        case HardEvent::V_S: return {PIPE_V, PIPE_S};
        case HardEvent::S_MTE2: return {PIPE_S, PIPE_MTE2};
        case HardEvent::MTE2_S: return {PIPE_MTE2, PIPE_S};
        case HardEvent::S_MTE3: return {PIPE_S, PIPE_MTE3};
        case HardEvent::MTE3_S: return {PIPE_MTE3, PIPE_S};
        case HardEvent::MTE2_FIX: return {PIPE_MTE2, PIPE_FIX};
        case HardEvent::FIX_MTE2: return {PIPE_FIX, PIPE_MTE2};
        case HardEvent::FIX_S: return {PIPE_FIX, PIPE_S};
        case HardEvent::M_S: return {PIPE_M, PIPE_S};
        case HardEvent::FIX_MTE3: return {PIPE_FIX, PIPE_MTE3};
        case HardEvent::MTE1_FIX: return {PIPE_MTE1, PIPE_FIX};
        case HardEvent::FIX_MTE1: return {PIPE_FIX, PIPE_MTE1};
        case HardEvent::FIX_V: return {PIPE_FIX, PIPE_V};
        default: return {PIPE_V, PIPE_V};
    }
}

#ifdef DAV_CHECKED
constexpr int32_t FIRST_RESERVED_EVENT = 6;
__aicore__ inline bool handed_out(HardEvent event, int32_t id);  // by TPipe
#define ASC_EVENT(event, id)                                                        \
    if ((id) >= FIRST_RESERVED_EVENT && !handed_out(event, id))                     \
    dav_limit("Events 6 and 7 are reserved; this one was not handed out by TPipe.", \
              "reserved_event")
#else
#define ASC_EVENT(event, id)
#endif

// A pipe needs no flag to itself: setting V_V does nothing, waiting for it is a barrier of V.
template <HardEvent event> __aicore__ inline void SetFlag(int32_t id) {
    constexpr EventPipes pipes = pipes_of(event);
    ASC_EVENT(event, id);
    if constexpr (pipes.from != pipes.to) set_flag(pipes.from, pipes.to, event_t(id));
}
template <HardEvent event> __aicore__ inline void WaitFlag(int32_t id) {
    constexpr EventPipes pipes = pipes_of(event);
    if constexpr (pipes.from != pipes.to) {
        wait_flag(pipes.from, pipes.to, event_t(id));
    } else {
        pipe_barrier(pipes.to);
    }
}
template <pipe_t from, pipe_t to> __aicore__ inline void SetFlag(int32_t id) {
    set_flag(from, to, event_t(id));
}
template <pipe_t from, pipe_t to> __aicore__ inline void WaitFlag(int32_t id) {
    wait_flag(from, to, event_t(id));
}
__aicore__ inline void SetFlagImpl(HardEvent event, int32_t id) {
    const EventPipes pipes = pipes_of(event);
    ASC_EVENT(event, id);
    if (pipes.from != pipes.to) set_flag(pipes.from, pipes.to, event_t(id));
}
__aicore__ inline void WaitFlagImpl(HardEvent event, int32_t id) {
    const EventPipes pipes = pipes_of(event);
    if (pipes.from != pipes.to) {
        wait_flag(pipes.from, pipes.to, event_t(id));
    } else {
        pipe_barrier(pipes.to);
    }
}
template <HardEvent event> __aicore__ inline void SetFlagImpl(int32_t id) { SetFlag<event>(id); }
template <HardEvent event> __aicore__ inline void WaitFlagImpl(int32_t id) { WaitFlag<event>(id); }
template <pipe_t pipe> __aicore__ inline void PipeBarrier() { pipe_barrier(pipe); }
template <pipe_t pipe> __aicore__ inline void PipeBarrierImpl() { pipe_barrier(pipe); }
template <MemDsbT scope> __aicore__ inline void DataSyncBarrier() { dsb(uint64_t(scope)); }
// Keeps the compiler from moving accesses over it; the pipes do not wait.
__aicore__ inline void Barrier() { __asm__ __volatile__("" ::: "memory"); }

// ---- between cores
// All blocks wait for each other; the soft form does it through flags in global memory.
template <bool isAIVOnly = true> __aicore__ inline void SyncAll() {
    if constexpr (isAIVOnly) {
        dav_sync_all();
    } else {
        dav_sync_all_kinds();
    }
}
template <bool isAIVOnly = true>
__aicore__ inline void SyncAll(const GlobalTensor<int32_t>& flags,
                               const LocalTensor<int32_t>& local, const int32_t usedCores = 0) {
    // A core publishes its arrival (one block out) and reads everyone's until all are there. The
    // flags themselves are not kept: the meeting is the machine's, the copies are what it costs.
    const int64_t all = get_block_num() * (g_coreType == AIC ? 1 : get_subblockdim());
    const int64_t cores = usedCores > 0 ? usedCores : all;
#ifdef DAV_CHECKED
    dav_sync_flags(flags.GetPhyAddr(), local.GetLength(), int32_t(cores));
#endif
    dav_scalar(uint32_t(4 * cores));
    pipe_barrier(PIPE_ALL);
    dav_sync_first(int32_t(cores));
}

// The flags that SyncAll uses on the chip; kernels that write such a barrier themselves name them.
constexpr uint16_t SYNC_AIC_FLAG = 11;
constexpr uint16_t SYNC_AIV_FLAG = 12;
constexpr uint16_t SYNC_AIC_AIV_FLAG = 13;

constexpr uint64_t ffts_config(uint8_t mode, uint16_t flag) {
    return 1 | (uint64_t(mode) << 4) | (uint64_t(flag) << 8);
}
// Where a program that launches a kernel has the flags of other cores lie; here nowhere.
__aicore__ inline void SetSyncBaseAddr(uint64_t address) { set_ffts_base_addr(address); }
template <uint8_t mode, pipe_t pipe> __aicore__ inline void CrossCoreSetFlag(uint16_t flag) {
#ifdef DAV_CHECKED
    if (flag > 15) dav_limit("CrossCoreSetFlag takes flags 0 to 15.");
#endif
    ffts_cross_core_sync(pipe, ffts_config(mode, flag));
}
template <uint8_t mode = 0, pipe_t pipe = PIPE_S>
__aicore__ inline void CrossCoreWaitFlag(uint16_t flag) {
    wait_flag_dev(flag);
}
// The same between a cube core and its vector cores.
template <pipe_t pipe> __aicore__ inline void NotifyEvent(uint16_t flag) {
    CrossCoreSetFlag<2, pipe>(flag);
}
template <pipe_t pipe = PIPE_S> __aicore__ inline void WaitEvent(uint16_t flag) {
    wait_flag_dev(flag);
}
template <bool isAIVOnly = true>
__aicore__ inline void IBSet(const GlobalTensor<int32_t>&, const LocalTensor<int32_t>&,
                             int32_t block, int32_t event) {
    static_assert(isAIVOnly, "Our IBSet is for vector cores alone");
    pipe_barrier(PIPE_ALL);
    dav_core_set(block, event);
}
template <bool isAIVOnly = true>
__aicore__ inline void IBWait(const GlobalTensor<int32_t>&, const LocalTensor<int32_t>&,
                              int32_t block, int32_t event) {
    static_assert(isAIVOnly, "Our IBWait is for vector cores alone");
    dav_core_wait(block, event);
}

// What orders the kernels of a super kernel has no effect on this chip (AscendC's documentation).
template <bool FORCE = false> __aicore__ inline void WaitPreTaskEnd() {}
template <pipe_t vector = PIPE_MTE3, pipe_t cube = PIPE_MTE3, bool FORCE = false>
__aicore__ inline void SetNextTaskStart() {}

}  // namespace AscendC
