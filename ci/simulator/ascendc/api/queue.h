// TQue, TQueBind, TBuf, TBufPool, TQueSync: buffers that pass between pipes with their flags.
#pragma once

#include "pipe.h"

namespace AscendC {

struct TQueConfig {
    bool nd2nz = false;
    bool nz2nd = false;
    bool scmBlockGroup = false;
    uint32_t bufferLen = 0;
    uint32_t bufferNumber = 0;
    uint32_t consumerSize = 0;
    TPosition consumer[8] = {};
    bool enableStaticEvtId = false;
    bool enableLoopQueue = false;
};

// Where the data of a queue at `position` comes from and goes to.
__aicore__ constexpr TPosition GetBufferLogicPos(TPosition position, bool source) {
    switch (position) {
        case TPosition::A1:
        case TPosition::B1:
        case TPosition::C1:
        case TPosition::VECIN: return source ? TPosition::GM : position;
        case TPosition::A2: return source ? TPosition::A1 : position;
        case TPosition::B2: return source ? TPosition::B1 : position;
        case TPosition::C2: return source ? TPosition::C1 : position;
        case TPosition::CO1: return source ? position : TPosition::CO2;
        case TPosition::CO2:
        case TPosition::VECOUT: return source ? position : TPosition::GM;
        default: return position;
    }
}

// The flag that hands a full buffer on (`forward`) or gives an empty one back.
__aicore__ constexpr HardEvent GetQueEvt(Hardware source, Hardware target, bool forward) {
    if (source == Hardware::GM && target == Hardware::UB) {
        return forward ? HardEvent::MTE2_V : HardEvent::V_MTE2;
    }
    if (source == Hardware::UB && target == Hardware::GM) {
        return forward ? HardEvent::V_MTE3 : HardEvent::MTE3_V;
    }
    if (source == Hardware::UB && target == Hardware::UB) {
        return forward ? HardEvent::MTE2_MTE3 : HardEvent::MTE3_MTE2;
    }
    if (source == Hardware::UB && target == Hardware::L1) {
        return forward ? HardEvent::MTE3_MTE1 : HardEvent::MTE1_MTE3;
    }
    if (source == Hardware::GM && target == Hardware::L1) {
        return forward ? HardEvent::MTE2_MTE1 : HardEvent::MTE1_MTE2;
    }
    if (source == Hardware::GM) return forward ? HardEvent::MTE2_M : HardEvent::M_MTE2;
    if (source == Hardware::L1 && target == Hardware::UB) {
        return forward ? HardEvent::MTE1_V : HardEvent::V_MTE1;
    }
    if (source == Hardware::L1 && target == Hardware::FIXBUF) {
        return forward ? HardEvent::MTE1_FIX : HardEvent::FIX_MTE1;
    }
    if (source == Hardware::L1) return forward ? HardEvent::MTE1_M : HardEvent::M_MTE1;
    if (source == Hardware::L0C) return forward ? HardEvent::M_FIX : HardEvent::FIX_M;
    return forward ? HardEvent::M_V : HardEvent::V_M;
}

template <TPosition src, TPosition dst, int32_t depth, auto mask = 0> class TQueBind {
public:
    static constexpr bool isTQue = true;
    static constexpr Hardware source = GetPhyType(src);
    static constexpr Hardware target = GetPhyType(dst);
    // The on-chip memory that holds the buffers: the target, unless that is global memory.
    static constexpr Hardware memory = target == Hardware::GM ? source : target;
    static constexpr TPosition position = target == Hardware::GM ? src : dst;
    static constexpr TPosition srcPosition = src;
    static constexpr TPosition dstPosition = dst;
    static constexpr HardEvent enQueEvt = GetQueEvt(source, target, true);
    static constexpr HardEvent freeBufEvt = GetQueEvt(source, target, false);

    __aicore__ TQueBind() {}

    // ---- the producer's side
    template <typename T> __aicore__ LocalTensor<T> AllocTensor() {
        return TensorOf<T>(AllocBuffer());
    }
    template <typename T> __aicore__ void AllocTensor(LocalTensor<T>& tensor) {
        tensor = TensorOf<T>(AllocBuffer());
    }
    template <typename T> __aicore__ bool EnQue(const LocalTensor<T>& tensor) {
        return EnQue(tensor.GetBufferHandle());
    }
    __aicore__ bool EnQue(TBufHandle handle) { return Put<enQueEvt>(handle); }
    // With the positions of the users named, the flag goes between their pipes.
    template <TPosition from, TPosition to, typename T>
    __aicore__ bool EnQue(const LocalTensor<T>& tensor) {
        return Put<user_event(from, to)>(tensor.GetBufferHandle());
    }

    // ---- the consumer's side
    template <typename T> __aicore__ LocalTensor<T> DeQue() {
        return TensorOf<T>(Next<enQueEvt>());
    }
    __aicore__ TBufHandle DeQue() { return reinterpret_cast<TBufHandle>(Next<enQueEvt>()); }
    template <TPosition from, TPosition to, typename T> __aicore__ LocalTensor<T> DeQue() {
        return TensorOf<T>(Next<user_event(from, to)>());
    }
    template <typename T> __aicore__ void DeQue(LocalTensor<T>& tensor) {
        if constexpr (depth == 0) {
            Receive<enQueEvt>(reinterpret_cast<TBufType*>(tensor.GetBufferHandle()));
        } else {
            tensor = TensorOf<T>(Next<enQueEvt>());
        }
    }
    template <typename T> __aicore__ void FreeTensor(const LocalTensor<T>& tensor) {
        FreeBuffer(tensor.GetBufferHandle());
    }
    __aicore__ void FreeBuffer(TBufHandle handle) {
        TBufType* buffer = reinterpret_cast<TBufType*>(handle);
        if (buffer == nullptr) dav_fail("FreeTensor was given a tensor that no queue allocated.");
        if (buffer->state == TBufState::FREE) {
            dav_fail("FreeTensor was given a tensor that is free already.");
        }
        if (allocated_ == 0) {
            dav_limit("FreeTensor was given a tensor of another queue: this one has none to free.");
            ++allocated_;
        }
        buffer->freeBufEvtID = g_tpipe->AllocEventID<freeBufEvt>();
        SetFlag<freeBufEvt>(buffer->freeBufEvtID);
        buffer->freeBufEvt = freeBufEvt;
        buffer->state = TBufState::FREE;
        ASC_FREE(buffer);
        --allocated_;
    }
    __aicore__ void FreeAllEvent() {
        for (int i = 0; i < buffer_count_; ++i) {
            if (first_[i].freeBufEvtID == INVALID_TEVENTID) continue;
            WaitFlag<freeBufEvt>(first_[i].freeBufEvtID);
            g_tpipe->ReleaseEventID<freeBufEvt>(first_[i].freeBufEvtID);
            first_[i].freeBufEvtID = INVALID_TEVENTID;
        }
    }

    __aicore__ bool VacantInQue() const { return used_ < depth; }
    __aicore__ bool HasTensorInQue() const { return used_ > 0; }
    __aicore__ int32_t GetTensorCountInQue() const { return used_; }
    __aicore__ bool HasIdleBuffer() const { return allocated_ < buffer_count_; }
    template <typename T> __aicore__ TBufState GetState(const LocalTensor<T>& tensor) const {
        return reinterpret_cast<TBufType*>(tensor.GetBufferHandle())->state;
    }

    __aicore__ void Start(TBufType* first, uint8_t count) {
        first_ = first;
        buffer_count_ = count;
        cursor_ = head_ = tail_ = used_ = allocated_ = 0;
    }
    __aicore__ TBuffAddr GetBufferAddr(TBufHandle handle) const {
        const TBufType* buffer = reinterpret_cast<const TBufType*>(handle);
        TBuffAddr address;
        address.dataLen = buffer->dataLen;
        address.logicPos.value = uint8_t(position);
        address.bufferHandle = handle;
        address.bufferAddr = buffer->address;
        ASC_EXTENT(address, buffer->address, buffer->dataLen);
        ASC_TAKE_FROM(address, buffer);
        return address;
    }

private:
    __aicore__ static constexpr HardEvent user_event(TPosition from, TPosition to) {
        const Hardware a = GetPhyType(from);
        const Hardware b = GetPhyType(to);
        return a == Hardware::UB && b == Hardware::UB ? HardEvent::V_V : GetQueEvt(a, b, true);
    }
    template <typename T> __aicore__ LocalTensor<T> TensorOf(TBufType* buffer) const {
        return LocalTensor<T>(GetBufferAddr(reinterpret_cast<TBufHandle>(buffer)));
    }
    // What was given back to another queue is free, too: the toolkit looks at the buffers alone.
    __aicore__ void Recount() {
        allocated_ = 0;
        for (int i = 0; i < buffer_count_; ++i) {
            if (first_[i].state != TBufState::FREE) ++allocated_;
        }
        if (allocated_ < buffer_count_) return;
        dav_fail(
            "AllocTensor found no free buffer: every buffer of the queue is allocated "
            "and not yet freed, so the kernel would wait for ever.");
    }
    // The next free buffer in turn, after its last user is done with it.
    __aicore__ TBufType* AllocBuffer() {
        if (buffer_count_ == 0) dav_fail("AllocTensor on a queue that InitBuffer never got.");
        if (allocated_ >= buffer_count_) Recount();
        TBufType* buffer;
        do {
            buffer = first_ + cursor_;
            if (++cursor_ == buffer_count_) cursor_ = 0;
        } while (buffer->state != TBufState::FREE);
        buffer->state = TBufState::OCCUPIED;
        ++allocated_;
        if (buffer->freeBufEvtID != INVALID_TEVENTID) {
            WaitFlag<freeBufEvt>(buffer->freeBufEvtID);
            g_tpipe->ReleaseEventID<freeBufEvt>(buffer->freeBufEvtID);
            buffer->freeBufEvtID = INVALID_TEVENTID;
        }
        return buffer;
    }
    template <HardEvent event> __aicore__ bool Put(TBufHandle handle) {
        TBufType* buffer = reinterpret_cast<TBufType*>(handle);
        if (buffer == nullptr) dav_fail("EnQue was given a tensor that no queue allocated.");
        if constexpr (depth != 0) {
            if (used_ >= depth) {
                dav_fail("EnQue on a full queue: more tensors are enqueued than its depth.");
            }
            waiting_[tail_] = buffer;
            if (++tail_ >= depth) tail_ = 0;
            ++used_;
        }
        buffer->state = TBufState::ENQUE;
        if constexpr (event != HardEvent::V_V) {
            buffer->enQueEvtID = g_tpipe->AllocEventID<event>();
            SetFlag<event>(buffer->enQueEvtID);
        }
        return true;
    }
    template <HardEvent event> __aicore__ TBufType* Next() {
        if (used_ == 0) dav_fail("DeQue on an empty queue: nothing was enqueued.");
        TBufType* buffer = waiting_[head_];
        if (++head_ >= capacity) head_ = 0;
        --used_;
        Receive<event>(buffer);
        return buffer;
    }
    template <HardEvent event> __aicore__ void Receive(TBufType* buffer) {
        buffer->state = TBufState::DEQUE;
        if constexpr (event == HardEvent::V_V) {
            WaitFlag<event>(0);
        } else if (buffer->enQueEvtID != INVALID_TEVENTID) {
            WaitFlag<event>(buffer->enQueEvtID);
            g_tpipe->ReleaseEventID<event>(buffer->enQueEvtID);
            buffer->enQueEvtID = INVALID_TEVENTID;
        }
    }

    static constexpr int32_t capacity = depth > 0 ? depth : 1;
    TBufType* first_ = nullptr;
    TBufType* waiting_[capacity];
    uint16_t head_ = 0;
    uint16_t tail_ = 0;
    uint8_t buffer_count_ = 0;
    uint8_t cursor_ = 0;
    uint8_t used_ = 0;
    uint8_t allocated_ = 0;
};

template <TPosition pos, int32_t depth, auto mask = 0>
class TQue
    : public TQueBind<GetBufferLogicPos(pos, true), GetBufferLogicPos(pos, false), depth, mask> {
public:
    __aicore__ TQue() {}
};

// A queue in L1, which copies fill from global memory or UB.
template <TPosition pos, int32_t depth = 1, auto mask = 0>
using TSCM = TQueBind<pos, TPosition::TSCM, depth, mask>;

// A buffer without a queue: the user orders the accesses.
template <TPosition pos> class TBuf {
public:
    static constexpr bool isTQue = false;

    __aicore__ TBuf() {}
    template <typename T> __aicore__ LocalTensor<T> Get() { return View<T>(0, bytes_); }
    template <typename T> __aicore__ LocalTensor<T> Get(uint32_t elements) {
        return View<T>(0, elements * sizeof(T));
    }
    template <typename T>
    __aicore__ LocalTensor<T> GetWithOffset(uint32_t elements, uint32_t offset) {
        return View<T>(offset, elements * sizeof(T));
    }
    template <typename T> __aicore__ LocalTensor<T> AllocTensor() { return Get<T>(); }
    template <typename T> __aicore__ void FreeTensor(const LocalTensor<T>&) {}
    template <typename T> __aicore__ bool EnQue(const LocalTensor<T>&) { return true; }
    template <typename T> __aicore__ LocalTensor<T> DeQue() { return Get<T>(); }
    __aicore__ uint32_t GetBufLen() const { return bytes_; }
    // Where a buffer lies, by the handle of a tensor of it: for a tensor, or as a number.
    struct Address : TBuffAddr {
        __aicore__ operator uint64_t() const { return bufferAddr; }
    };
    __aicore__ Address GetBufferAddr(TBufHandle handle) const {
        const TBufType* buffer = reinterpret_cast<const TBufType*>(handle);
        Address address;
        address.dataLen = buffer->dataLen;
        address.logicPos.value = uint8_t(pos);
        address.bufferHandle = handle;
        address.bufferAddr = buffer->address;
        ASC_EXTENT(address, buffer->address, buffer->dataLen);
        return address;
    }
    __aicore__ void Start(TBufType* buffer, uint32_t bytes) {
        buffer_ = buffer;
        bytes_ = bytes;
    }

private:
    template <typename T> __aicore__ LocalTensor<T> View(uint32_t offset, uint32_t bytes) const {
        TBuffAddr address;
        address.dataLen = bytes;
        address.logicPos.value = uint8_t(pos);
        if (buffer_ == nullptr) {
            // Kernels take a tensor of a buffer that this dtype never uses; the chip does not mind.
            // The tensor lies outside of UB, so touching it is a memory error.
            constexpr uint32_t NOWHERE = 512 * 1024;
            address.bufferAddr = NOWHERE;
            return LocalTensor<T>(address);
        }
        address.bufferHandle = reinterpret_cast<TBufHandle>(buffer_);
        address.bufferAddr = buffer_->address + offset;
        ASC_EXTENT(address, buffer_->address, bytes_);
        ASC_VIEW(address.bufferAddr, bytes);
        return LocalTensor<T>(address);
    }
    TBufType* buffer_ = nullptr;
    uint32_t bytes_ = 0;
};

// A region of UB that hands out buffers of its own and can be used again after Reset.
template <TPosition pos, uint32_t bufIDSize = 4> class TBufPool {
public:
    static constexpr TPosition poolPos = pos;

    template <class Queue> __aicore__ bool InitBuffer(Queue& queue, uint8_t count, uint32_t bytes) {
        for (uint8_t i = 0; i < count; ++i) {
            TBufType& buffer = Take(bytes);
            buffer.freeBufEvt = Queue::freeBufEvt;
            if (i == 0) queue.Start(&buffer, count);
        }
        return true;
    }
    template <TPosition p> __aicore__ bool InitBuffer(TBuf<p>& buffer, uint32_t bytes) {
        TBufType& taken = Take(bytes);
        buffer.Start(&taken, taken.dataLen);
        return true;
    }
    template <class Pool> __aicore__ bool InitBufPool(Pool& pool, uint32_t bytes) {
        pool.Start(start_ + used_, align_to_block(bytes));
        used_ += align_to_block(bytes);
        return true;
    }
    template <class Pool, class Shared>
    __aicore__ bool InitBufPool(Pool& pool, uint32_t bytes, Shared& shared) {
        pool.Start(shared.StartAddress(), align_to_block(bytes));
        return true;
    }
    __aicore__ void Reset() {
        for (uint32_t i = 0; i < count_; ++i) {
            if (taken_[i]->freeBufEvtID == INVALID_TEVENTID) continue;
            WaitFlagImpl(taken_[i]->freeBufEvt, taken_[i]->freeBufEvtID);
            taken_[i]->freeBufEvtID = INVALID_TEVENTID;
        }
        used_ = 0;
        count_ = 0;
    }
    __aicore__ void Start(uint64_t address, uint32_t bytes) {
        start_ = address;
        bytes_ = bytes;
        used_ = 0;
        count_ = 0;
    }
    __aicore__ uint64_t StartAddress() const { return start_; }

private:
    __aicore__ TBufType& Take(uint32_t bytes) {
        TBufType& buffer = g_tpipe->TakeAt(start_ + used_, align_to_block(bytes));
        used_ += buffer.dataLen;
        taken_[count_++ % QBUF_MAX_LEN] = &buffer;
        return buffer;
    }
    uint64_t start_ = 0;
    uint32_t bytes_ = 0;
    uint32_t used_ = 0;
    uint32_t count_ = 0;
    TBufType* taken_[QBUF_MAX_LEN];
};

// A flag between two pipes as an object.
template <pipe_t from, pipe_t to> class TQueSync {
public:
    __aicore__ void SetFlag(TEventID id) { set_flag(from, to, event_t(id)); }
    __aicore__ void WaitFlag(TEventID id) { wait_flag(from, to, event_t(id)); }
};

}  // namespace AscendC
