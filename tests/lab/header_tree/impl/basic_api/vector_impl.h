#pragma once

namespace AscendC {

constexpr uint32_t BLOCK = 32;

__BLOCK_LOCAL__ inline uint64_t g_next = 0;
__BLOCK_LOCAL__ inline GM_ADDR g_workspace = nullptr;

template <TPosition position>
class TBuf {
public:
    template <typename T>
    __aicore__ inline LocalTensor<T> Get() const
    {
        return LocalTensor<T>(address_, bytes_ / sizeof(T));
    }
    uint64_t address_ = 0;
    uint32_t bytes_ = 0;
};

class TPipe {
public:
    __aicore__ inline TPipe()
    {
        set_atomic_none();
        set_mask_norm();
        set_vector_mask(static_cast<uint64_t>(-1), static_cast<uint64_t>(-1));
    }
    __aicore__ inline ~TPipe() { pipe_barrier(PIPE_ALL); }
    template <TPosition position>
    __aicore__ inline void InitBuffer(TBuf<position>& buffer, uint32_t bytes)
    {
        buffer.address_ = g_next;
        buffer.bytes_ = bytes;
        g_next += (bytes + BLOCK - 1) / BLOCK * BLOCK;
    }
};

__aicore__ inline int64_t GetBlockIdx() { return get_block_idx(); }
__aicore__ inline void SetSysWorkspaceForce(GM_ADDR workspace) { g_workspace = workspace; }
__aicore__ inline GM_ADDR GetUserWorkspace(GM_ADDR workspace) { return workspace + (16 << 20); }

template <HardEvent event>
__aicore__ inline constexpr pipe_t From()
{
    return event == HardEvent::MTE2_V ? PIPE_MTE2
           : event == HardEvent::MTE3_MTE2 ? PIPE_MTE3
           : event == HardEvent::S_V ? PIPE_S : PIPE_V;
}
template <HardEvent event>
__aicore__ inline constexpr pipe_t To()
{
    return event == HardEvent::V_MTE3 ? PIPE_MTE3
           : event == HardEvent::MTE3_MTE2 ? PIPE_MTE2
           : event == HardEvent::V_S ? PIPE_S : PIPE_V;
}
template <HardEvent event>
__aicore__ inline void SetFlag(int id)
{
    set_flag(From<event>(), To<event>(), static_cast<event_t>(id));
}
template <HardEvent event>
__aicore__ inline void WaitFlag(int id)
{
    wait_flag(From<event>(), To<event>(), static_cast<event_t>(id));
}
template <pipe_t pipe>
__aicore__ inline void PipeBarrier()
{
    pipe_barrier(pipe);
}

template <typename T>
__aicore__ inline void DataCopy(LocalTensor<T> dst, GlobalTensor<T> src, uint32_t count)
{
    copy_gm_to_ubuf((__ubuf__ void*)dst.GetPhyAddr(), (__gm__ void*)src.GetPhyAddr(), 0, 1,
                    count * sizeof(T) / BLOCK, 0, 0);
}
template <typename T>
__aicore__ inline void DataCopy(GlobalTensor<T> dst, LocalTensor<T> src, uint32_t count)
{
    copy_ubuf_to_gm((__gm__ void*)dst.GetPhyAddr(), (__ubuf__ void*)src.GetPhyAddr(), 0, 1,
                    count * sizeof(T) / BLOCK, 0, 0);
}

// Calls `step(offset, repeats)` in counter mode.
template <typename T, typename Step>
__aicore__ inline void InRepeats(uint32_t count, Step step)
{
    set_mask_count();
    set_vector_mask(0, count);
    step(0, 1);
    set_mask_norm();
    set_vector_mask(static_cast<uint64_t>(-1), static_cast<uint64_t>(-1));
}

// The two forms of a real tree, whose address is ambiguous to some compilers.
#define ASCENDC_MODULE_OPERATOR_VEC_BINARY_SCALAR_INTERFACE_H
#define MINIATURE_SCALAR(name, instruction)                                                      \
    template <typename T, bool isSetMask = true>                                                 \
    __aicore__ inline void name(const LocalTensor<T>& dst, const LocalTensor<T>& src,            \
                                const T& scalar, const int32_t& count)                           \
    {                                                                                            \
        InRepeats<T>(count, [&](uint32_t offset, uint8_t repeats) {                              \
            instruction((__ubuf__ T*)dst.GetPhyAddr(offset), (__ubuf__ T*)src.GetPhyAddr(offset), \
                        scalar, repeats, 1, 1, 8, 8);                                            \
        });                                                                                      \
    }                                                                                            \
    template <typename T, typename U, bool isSetMask = true,                                     \
              typename std::enable_if<std::is_same<T, U>::value, bool>::type = true>             \
    __aicore__ inline void name(const LocalTensor<T>& dst, const LocalTensor<T>& src,            \
                                const U& scalar, const int32_t& count)                           \
    {                                                                                            \
        name<T, isSetMask>(dst, src, scalar, count);                                             \
    }
MINIATURE_SCALAR(Adds, vadds)
MINIATURE_SCALAR(Muls, vmuls)
MINIATURE_SCALAR(Maxs, vmaxs)
MINIATURE_SCALAR(Mins, vmins)
#undef MINIATURE_SCALAR

// Soft synchronisation: a real tree polls global memory, which no single core's turn can end.
#define ASCENDC_MODULE_OPERATOR_SYNC_IMPL_H
template <bool isAIVOnly = true>
__aicore__ inline void SoftSyncAllImpl(__gm__ int32_t* flags, __ubuf__ int32_t*, const int usedCores)
{
    while (flags[0] < usedCores) dsb(0);
}

// The counter: a real tree reads it by an instruction on a register that no computer has.
#define ASCENDC_MODULE_OPERATOR_SYS_VAR_INTERFACE_H
__aicore__ inline int64_t GetSystemCycle()
{
    int64_t ticks = 0;
    asm volatile("MOV %0, THE_COUNTER\n" : "+r"(ticks));
    return ticks;
}

}  // namespace AscendC
