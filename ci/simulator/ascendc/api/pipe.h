// TPipe: hands out the unified buffer and event ids to queues and buffers.
#pragma once

#include "sync.h"

namespace AscendC {

// A buffer of a queue, and the flags by which its users hand it on.
struct TBufType {
    TBufState state = TBufState::FREE;
    HardEvent freeBufEvt = HardEvent::MAX;
    TEventID enQueEvtID = INVALID_TEVENTID;
    TEventID freeBufEvtID = INVALID_TEVENTID;
    uint8_t position = 0;
    uint32_t dataLen = 0;
    uint64_t address = 0;
#ifdef DAV_CHECKED
    uint32_t frees = 0;
#endif
};

template <TPosition pos = TPosition::LCM> class TBuf;
template <TPosition pos, uint32_t bufIDSize> class TBufPool;
template <typename T, TPosition pos>
__aicore__ inline bool PopStackBuffer(LocalTensor<T>& popBuffer);

__aicore__ inline uint32_t align_to_block(uint32_t bytes) {
    return (bytes + ONE_BLK_SIZE - 1) / ONE_BLK_SIZE * ONE_BLK_SIZE;
}

// What messages call a buffer at this position.
__aicore__ constexpr const char* name_of(TPosition position) {
    switch (position) {
        case TPosition::VECIN: return "VECIN";
        case TPosition::VECOUT: return "VECOUT";
        default: return "VECCALC";
    }
}

class TPipe;
#ifdef DAV_CHECKED
inline TPipe* g_ub_pipe = nullptr;  // which gave the last buffer of UB
#endif
// The pipe of the running block. The machine keeps a copy of the kernel's globals for each block.
inline TPipe* g_tpipe = nullptr;
inline GM_ADDR g_sysWorkspaceReserved = nullptr;

class TPipe {
public:
    __aicore__ TPipe() { Init(); }
    __aicore__ ~TPipe() {
        if (!destroyed_) Destroy();
    }
    __aicore__ void Init() {
        set_atomic_none();
        set_mask_norm();
        set_vector_mask(FULL_MASK, FULL_MASK);
        ResetPool();
        destroyed_ = false;
        g_tpipe = this;
    }

    // `count` buffers of `bytes` each for a queue.
    template <class Queue> __aicore__ bool InitBuffer(Queue& queue, uint8_t count, uint32_t bytes) {
        static_assert(Queue::isTQue, "a TBuf takes one length, not a number of buffers");
        constexpr Hardware memory = Queue::memory;
        queue.Start(buffers_ + buffer_count_, count);
        for (uint8_t i = 0; i < count; ++i) {
            TBufType& buffer = Take(memory, bytes, name_of(Queue::position));
            buffer.freeBufEvt = Queue::freeBufEvt;
            buffer.position = uint8_t(Queue::position);
        }
        return true;
    }
    template <TPosition pos> __aicore__ bool InitBuffer(TBuf<pos>& buffer, uint32_t bytes) {
        TBufType& taken = Take(GetPhyType(pos), bytes, name_of(pos));
        taken.position = uint8_t(pos);
        buffer.Start(&taken, taken.dataLen);
        return true;
    }
    template <class Pool> __aicore__ bool InitBufPool(Pool& pool, uint32_t bytes) {
        constexpr Hardware memory = GetPhyType(Pool::poolPos);
        pool.Start(base(memory) + top_[int(memory)], align_to_block(bytes));
        top_[int(memory)] += align_to_block(bytes);
        return true;
    }
    template <class Pool, class Shared>
    __aicore__ bool InitBufPool(Pool& pool, uint32_t bytes, Shared& shared) {
        pool.Start(shared.StartAddress(), align_to_block(bytes));
        return true;
    }

    template <HardEvent event> __aicore__ TEventID AllocEventID() {
        const TEventID id = FetchEventID(event);
        occupied_[int(event)] |= uint8_t(1U << id);
        return id;
    }
    template <HardEvent event> __aicore__ void ReleaseEventID(TEventID id) {
        occupied_[int(event)] &= uint8_t(~(1U << id));
    }
    // The lowest event id that nobody has allocated; fetching does not allocate it.
    template <HardEvent event> __aicore__ TEventID FetchEventID() { return FetchEventID(event); }
    __aicore__ TEventID FetchEventID(HardEvent event) {
        const int id = __builtin_ctz(~uint32_t(occupied_[int(event)]));
        if (id >= MAX_EVENT_ID) {
            constexpr const char* SAID =
                "All 8 event ids between two pipes are in use: too many queue buffers wait "
                "for the same pair of pipes, or an id was never released.";
            dav_limit(SAID, "event_ids");
            dav_fail(SAID);
        }
#ifdef DAV_CHECKED
        handed_[int(event)] |= uint8_t(1U << id);
#endif
        return TEventID(id);
    }

    template <TPosition pos, typename T>
    __aicore__ LocalTensor<T> GetAbsAddr(int32_t offset, int32_t elements) const {
        TBuffAddr address;
        address.logicPos.value = uint8_t(pos);
        address.dataLen = uint32_t(elements) * sizeof(T);
        address.bufferAddr = base(GetPhyType(pos)) + uint32_t(offset);
        return LocalTensor<T>(address);
    }
    // Bytes of UB handed out so far; what lies above is free for temporaries.
    template <TPosition pos> __aicore__ uint32_t GetQueueEndAddress() const {
        return top_[int(GetPhyType(pos))];
    }

    __aicore__ void DestroyWithoutPipeAll() {
        destroyed_ = true;
#ifdef DAV_CHECKED
        if (g_ub_pipe == this) g_ub_pipe = nullptr;
#endif
        WaitForFreedBuffers();
    }
    __aicore__ void Destroy() {
        DestroyWithoutPipeAll();
        pipe_barrier(PIPE_ALL);
    }
    __aicore__ void Reset() {
        WaitForFreedBuffers();
        set_atomic_none();
        set_mask_norm();
        set_vector_mask(FULL_MASK, FULL_MASK);
        ResetPool();
    }

    __aicore__ static uint64_t base(Hardware memory) { return base_of(memory); }
    // The next buffer record, `bytes` (rounded up to a block) of a memory.
    __aicore__ TBufType& Take(Hardware memory, uint32_t bytes, const char* name) {
        uint32_t& top = top_[int(memory)];
#ifdef DAV_CHECKED
        if (memory == Hardware::UB) {
            if (g_ub_pipe != nullptr && g_ub_pipe != this) {
                dav_limit(
                    "This TPipe and another one that has not ended both give buffers of UB"
                    " from its first byte on: they share them.",
                    "two_pipes");
            }
            g_ub_pipe = this;
        }
#endif
        TBufType& buffer = TakeAt(base(memory) + top, align_to_block(bytes));
        if (memory == Hardware::UB) dav_ub_note(top, buffer.dataLen, name);
        top += buffer.dataLen;
        return buffer;
    }
    __aicore__ TBufType& TakeAt(uint64_t address, uint32_t bytes) {
        if (buffer_count_ >= QBUF_MAX_LEN) {
            dav_fail("InitBuffer was asked for more than 64 buffers.");
        }
        TBufType& buffer = buffers_[buffer_count_++];
        buffer = TBufType();
        buffer.address = address;
        buffer.dataLen = bytes;
        return buffer;
    }

private:
    __aicore__ void ResetPool() {
        buffer_count_ = 0;
        for (uint32_t& top : top_) top = 0;
        for (uint8_t& ids : occupied_) ids = 0;
    }
    // A freed buffer's flag that nobody waited for would be left set for the next kernel.
    __aicore__ void WaitForFreedBuffers() {
        for (int i = 0; i < buffer_count_; ++i) {
            if (buffers_[i].freeBufEvtID == INVALID_TEVENTID) continue;
            WaitFlagImpl(buffers_[i].freeBufEvt, buffers_[i].freeBufEvtID);
            buffers_[i].freeBufEvtID = INVALID_TEVENTID;
        }
    }

    TBufType buffers_[QBUF_MAX_LEN];
    int buffer_count_ = 0;
    uint32_t top_[int(Hardware::MAX)] = {0};
    uint8_t occupied_[int(HardEvent::MAX)] = {0};
#ifdef DAV_CHECKED
    uint8_t handed_[int(HardEvent::MAX)] = {0};  // ids that were ever given
    friend bool handed_out(HardEvent event, int32_t id);
#endif
    bool destroyed_ = false;
};

#ifdef DAV_CHECKED
__aicore__ inline bool handed_out(HardEvent event, int32_t id) {
    return g_tpipe != nullptr && (g_tpipe->handed_[int(event)] >> id & 1) != 0;
}
#endif

}  // namespace AscendC

__aicore__ inline AscendC::TPipe* GetTPipePtr() { return AscendC::g_tpipe; }

namespace AscendC {
using ::GetTPipePtr;

// The part of UB that no InitBuffer has taken, as scratch space; it stays valid until the next
// InitBuffer.
template <typename T, TPosition pos>
__aicore__ inline bool PopStackBuffer(LocalTensor<T>& popBuffer) {
    const uint32_t used = g_tpipe->GetQueueEndAddress<pos>();
    if (used >= POP_STACK_END) {
        dav_fail(
            "No unified buffer is left for an API's temporary space: InitBuffer has taken "
            "all of it; take less, or pass a sharedTmpBuffer.");
    }
    TBuffAddr address;
    address.logicPos.value = uint8_t(pos);
    address.dataLen = POP_STACK_END - used;
    address.bufferAddr = TPipe::base(Hardware::UB) + used;
    popBuffer.SetAddr(address);
    return true;
}
// The same for the forms of calls that are given no buffer.
__aicore__ inline LocalTensor<uint8_t> free_scratch() {
    LocalTensor<uint8_t> scratch;
    PopStackBuffer<uint8_t, TPosition::LCM>(scratch);
    return scratch;
}
// The second pipe of an event waits for the first.
template <HardEvent event> __aicore__ inline void order_pipes() {
    const TEventID id = g_tpipe->FetchEventID(event);
    SetFlag<event>(id);
    WaitFlag<event>(id);
}
}  // namespace AscendC
