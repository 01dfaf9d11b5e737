// LocalTensor and GlobalTensor: typed views of the unified buffer and of global memory.
#pragma once

#include "params.h"

namespace AscendC {

__aicore__ constexpr Hardware GetPhyType(TPosition position) {
    switch (position) {
        case TPosition::A1:
        case TPosition::B1:
        case TPosition::C1:
        case TPosition::TSCM: return Hardware::L1;
        case TPosition::A2: return Hardware::L0A;
        case TPosition::B2: return Hardware::L0B;
        case TPosition::C2: return Hardware::BIAS;
        case TPosition::CO1: return Hardware::L0C;
        case TPosition::C2PIPE2GM: return Hardware::FIXBUF;
        case TPosition::GM:
        case TPosition::CO2: return Hardware::GM;
        default: return Hardware::UB;
    }
}

// Where a memory of this core starts, as the addresses of tensors count it.
__aicore__ inline uint64_t base_of(Hardware memory) {
    if (memory == Hardware::GM || memory == Hardware::MAX) return 0;
    return dav_memory_base(uint32_t(memory) - uint32_t(Hardware::UB));  // in the same order
}

struct ShapeInfo {
    __aicore__ ShapeInfo() {}
    __aicore__ ShapeInfo(const uint8_t dims, const uint32_t sizes[], const uint8_t original_dims,
                         const uint32_t original_sizes[], const DataFormat format)
        : shapeDim(dims), originalShapeDim(original_dims), dataFormat(format) {
        for (int i = 0; i < dims; ++i) shape[i] = sizes[i];
        for (int i = 0; i < original_dims; ++i) originalShape[i] = original_sizes[i];
    }
    __aicore__ ShapeInfo(const uint8_t dims, const uint32_t sizes[],
                         const DataFormat format = DataFormat::ND)
        : ShapeInfo(dims, sizes, dims, sizes, format) {}
    uint8_t shapeDim;
    uint8_t originalShapeDim;
    uint32_t shape[K_MAX_SHAPE_DIM];
    uint32_t originalShape[K_MAX_SHAPE_DIM];
    DataFormat dataFormat;
};

__aicore__ inline uint64_t GetShapeSize(const ShapeInfo& info) {
    uint64_t size = 1;
    for (int i = 0; i < info.shapeDim; ++i) size *= info.shape[i];
    return size;
}

// The position of a local tensor. Addresses are counted from the memory's start on the device, so a
// kernel that assigns a position moves the tensor into that memory; here they are the host's.
struct TensorPosition {
    uint8_t value = 0;
    __aicore__ operator uint8_t() const { return value; }
    __aicore__ TensorPosition& operator=(const uint8_t position);
};

// Where a local tensor lies: host address, bytes, and the queue buffer it belongs to (or null).
struct TBuffAddr {
    uint32_t dataLen = 0;
    TensorPosition logicPos;
    TBufHandle bufferHandle = nullptr;
    uint64_t bufferAddr = 0;
#ifdef DAV_CHECKED  // the buffer that the tensor was taken from, or 0
    uint64_t first = 0;
    uint64_t last = 0;
    const uint32_t* frees = nullptr;  // of a queue's buffer: how often it was freed by now,
    uint32_t freed = 0;               // and when the tensor was taken from it
#endif
};
__aicore__ inline TensorPosition& TensorPosition::operator=(const uint8_t position) {
    TBuffAddr* whole =
        reinterpret_cast<TBuffAddr*>(reinterpret_cast<char*>(this) - offsetof(TBuffAddr, logicPos));
    whole->bufferAddr +=
        base_of(GetPhyType(TPosition(position))) - base_of(GetPhyType(TPosition(value)));
    value = position;
    return *this;
}
#ifdef DAV_CHECKED
#define ASC_TAKE_FROM(tensor, buffer) (tensor).freed = *((tensor).frees = &(buffer)->frees)
#define ASC_FREE(buffer) dav_free(&(buffer)->frees), ++(buffer)->frees
#define ASC_LIVE(tensor)                                                \
    if ((tensor).frees != nullptr && *(tensor).frees != (tensor).freed) \
    dav_use_freed((tensor).frees)
#define ASC_EXTENT(tensor, begin, bytes) (tensor).last = ((tensor).first = (begin)) + (bytes)
#define ASC_USE(where, tensor) dav_extent(uint64_t(where), (tensor).first, (tensor).last)
#define ASC_VIEW(address, bytes) dav_view(address, bytes)
// The dtype of a tensor's elements, or "".
template <typename T> constexpr const char* dtype_name() {
    if constexpr (IsSameType<T, float>::value) return "float32";
    if constexpr (IsSameType<T, half>::value) return "float16";
    if constexpr (IsSameType<T, bfloat16_t>::value) return "bfloat16";
    if constexpr (IsSameType<T, int4b_t>::value) return "int4";
    if constexpr (IsSameType<T, bool>::value) return "bool";
    if constexpr (IsSameType<T, int8_t>::value) return "int8";
    if constexpr (IsSameType<T, int16_t>::value) return "int16";
    if constexpr (IsSameType<T, int32_t>::value) return "int32";
    if constexpr (IsSameType<T, int64_t>::value) return "int64";
    if constexpr (IsSameType<T, uint8_t>::value) return "uint8";
    if constexpr (IsSameType<T, uint16_t>::value) return "uint16";
    if constexpr (IsSameType<T, uint32_t>::value) return "uint32";
    if constexpr (IsSameType<T, uint64_t>::value) return "uint64";
    return "";
}
#define ASC_ELEMENTS(address, T) dav_elements(uint64_t(address), sizeof(T), dtype_name<T>())
#define ASC_LIMIT(holds, ...) \
    if (!(holds)) dav_limit(__VA_ARGS__)
// Does the buffer of a tensor have so many bytes from the tensor's start on?
#define ASC_ROOM(tensor, bytes)     \
    ((tensor).address_.last == 0 || \
     (tensor).address_.bufferAddr + uint64_t(bytes) <= (tensor).address_.last)
#else
#define ASC_TAKE_FROM(tensor, buffer)
#define ASC_FREE(buffer)
#define ASC_LIVE(tensor)
#define ASC_LIMIT(holds, ...)
#define ASC_EXTENT(tensor, begin, bytes)
#define ASC_VIEW(address, bytes)
#define ASC_ELEMENTS(address, T)
#define ASC_USE(where, tensor)
#endif

// One element that the scalar unit reads or writes: reading converts, assigning stores.
template <typename T> class ScalarElement {
public:
    __aicore__ explicit ScalarElement(T* element) : element_(element) {}
    __aicore__ operator T() const {
        dav_scalar_load(element_, sizeof(T));
        return *element_;
    }
    __aicore__ ScalarElement& operator=(const T& value) {
        dav_scalar_store(element_, sizeof(T));
        *element_ = value;
        return *this;
    }
    __aicore__ ScalarElement& operator=(const ScalarElement& other) { return *this = T(other); }
    __aicore__ ScalarElement& operator+=(const T& value) { return *this = T(*this) + value; }
    __aicore__ ScalarElement& operator-=(const T& value) { return *this = T(*this) - value; }
    __aicore__ ScalarElement& operator*=(const T& value) { return *this = T(*this) * value; }

private:
    T* element_;
};

template <typename T> class LocalTensor;

// What `a + b`, `a >= b` … between tensors stand for until they are assigned to a tensor.
enum class TensorOperator { ADD, SUB, MUL, DIV, OR, AND };
template <typename T, TensorOperator op> struct TensorExpression {
    const LocalTensor<T>& first;
    const LocalTensor<T>& second;
};
template <typename T> struct TensorComparison {
    const LocalTensor<T>& first;
    const LocalTensor<T>& second;
    CMPMODE mode;
};

template <typename T> class LocalTensor {
public:
    using PrimType = T;

    __aicore__ LocalTensor() {}
    __aicore__ explicit LocalTensor(const TBuffAddr& address) : address_(address) {}
    __aicore__ LocalTensor(TPosition position, uint32_t offset, uint32_t elements) {
        address_.logicPos.value = uint8_t(position);
        address_.dataLen = elements * sizeof(T);
        address_.bufferAddr = base_of(GetPhyType(position)) + offset;
        ASC_VIEW(address_.bufferAddr, address_.dataLen);
    }

    // Deprecated, and in many kernels: the position is assigned before or after it.
    __aicore__ void InitBuffer(const uint32_t offset, const uint32_t elements) {
        address_.bufferAddr = base_of(GetPhyType(TPosition(address_.logicPos.value))) + offset;
        address_.dataLen = bytes_of(elements);
    }

    __aicore__ uint64_t GetPhyAddr() const { return address_.bufferAddr; }
    __aicore__ uint64_t GetPhyAddr(const uint32_t offset) const {
        return address_.bufferAddr + bytes_of(offset);
    }
    // The same for the implementation of this API, typed.
    __aicore__ T* pointer() const {
        ASC_LIVE(address_);
        ASC_USE(address_.bufferAddr, address_);
        return reinterpret_cast<T*>(address_.bufferAddr);
    }

    __aicore__ T GetValue(const uint32_t index) const {
        ASC_USE(pointer() + index, address_);
        dav_scalar_load(pointer() + index, sizeof(T));
        return pointer()[index];
    }
    template <typename S> __aicore__ void SetValue(const uint32_t index, const S value) const {
        ASC_USE(pointer() + index, address_);
        dav_scalar_store(pointer() + index, sizeof(T));
        pointer()[index] = static_cast<T>(value);
    }
    __aicore__ ScalarElement<T> operator()(const uint32_t index) const {
        ASC_USE(pointer() + index, address_);
        return ScalarElement<T>(pointer() + index);
    }
    __aicore__ LocalTensor operator[](const uint32_t offset) const {
        LocalTensor view(*this);
        view.address_.bufferAddr += bytes_of(offset);
        view.address_.dataLen -= bytes_of(offset);
        return view;
    }
    template <typename U> __aicore__ LocalTensor<U> ReinterpretCast() const {
        LocalTensor<U> view(address_);
        view.shapeInfo_ = shapeInfo_;
        return view;
    }
    template <typename S>
    __aicore__ void SetAddrWithOffset(LocalTensor<S>& source, uint32_t offset) {
        address_ = source.address_;
        address_.bufferAddr += offset * sizeof(T);
    }

    __aicore__ uint32_t GetSize() const {
        if constexpr (IsSameType<T, int4b_t>::value) return address_.dataLen * 2;
        return address_.dataLen / sizeof(T);
    }
    __aicore__ void SetSize(const uint32_t elements) { address_.dataLen = bytes_of(elements); }
    __aicore__ uint32_t GetLength() const { return address_.dataLen; }
    __aicore__ void SetBufferLen(uint32_t elements) { address_.dataLen = bytes_of(elements); }
    __aicore__ int32_t GetPosition() const { return address_.logicPos; }
    __aicore__ TBufHandle GetBufferHandle() const { return address_.bufferHandle; }
    __aicore__ void SetAddr(const TBuffAddr& address) { address_ = address; }
    __aicore__ void SetAddr(const uint32_t offset) { address_.bufferAddr += bytes_of(offset); }
    __aicore__ void SetUserTag(const TTagType) {}
    __aicore__ TTagType GetUserTag() const { return -1; }
    __aicore__ void SetShapeInfo(const ShapeInfo& info) { shapeInfo_ = info; }
    __aicore__ ShapeInfo GetShapeInfo() const { return shapeInfo_; }
    __aicore__ void Print() {}
    __aicore__ void Print(uint32_t) {}

#define ASC_TENSOR_OPERATOR(sign, op, Function)                                                    \
    __aicore__ TensorExpression<T, TensorOperator::op> operator sign(const LocalTensor& b) const { \
        return {*this, b};                                                                         \
    }                                                                                              \
    __aicore__ void operator=(const TensorExpression<T, TensorOperator::op>& expression) {         \
        Function(*this, expression.first, expression.second, int32_t(GetSize()));                  \
    }
    ASC_TENSOR_OPERATOR(+, ADD, Add)
    ASC_TENSOR_OPERATOR(-, SUB, Sub)
    ASC_TENSOR_OPERATOR(*, MUL, Mul)
    ASC_TENSOR_OPERATOR(/, DIV, Div)
    ASC_TENSOR_OPERATOR(|, OR, Or)
    ASC_TENSOR_OPERATOR(&, AND, And)
#undef ASC_TENSOR_OPERATOR
#define ASC_TENSOR_COMPARISON(sign, mode)                                      \
    __aicore__ TensorComparison<T> operator sign(const LocalTensor& b) const { \
        return {*this, b, CMPMODE::mode};                                      \
    }
    ASC_TENSOR_COMPARISON(<, LT)
    ASC_TENSOR_COMPARISON(>, GT)
    ASC_TENSOR_COMPARISON(==, EQ)
    ASC_TENSOR_COMPARISON(<=, LE)
    ASC_TENSOR_COMPARISON(>=, GE)
    ASC_TENSOR_COMPARISON(!=, NE)
#undef ASC_TENSOR_COMPARISON

    template <typename S> __aicore__ void operator=(const TensorComparison<S>& comparison) {
        Compare(*this, comparison.first, comparison.second, comparison.mode,
                comparison.first.GetSize());
    }

    TBuffAddr address_;
    ShapeInfo shapeInfo_;

private:
    // Two 4-bit elements share a byte.
    static __aicore__ uint32_t bytes_of(uint32_t elements) {
        if constexpr (IsSameType<T, int4b_t>::value) return elements / 2;
        return elements * uint32_t(sizeof(T));
    }
};

#ifdef DAV_CHECKED
// An index that knows how many bits it was computed with.
struct GlobalIndex {
    template <typename I>
    __aicore__ GlobalIndex(const I index) : value(static_cast<uint64_t>(index)) {
        if constexpr (std::is_integral_v<I> && sizeof(I) <= sizeof(uint32_t))
            if (!__builtin_constant_p(index)) bits = sizeof(I) * 8 - std::is_signed_v<I>;
    }
    __aicore__ operator uint64_t() const { return value; }
    uint64_t value;
    uint32_t bits = 64;
};
#else
using GlobalIndex = uint64_t;
#endif

template <typename T> class GlobalTensor {
public:
    using PrimType = T;

    __aicore__ GlobalTensor() {}
    __aicore__ void SetGlobalBuffer(__gm__ T* buffer, uint64_t elements) {
        address_ = buffer;
        bufferSize_ = elements;
        ASC_EXTENT(*this, uint64_t(buffer), bytes_of(elements));
        ASC_ELEMENTS(buffer, T);
    }
    __aicore__ void SetGlobalBuffer(__gm__ T* buffer) {
        address_ = buffer;
        ASC_EXTENT(*this, 0, 0);
        ASC_ELEMENTS(buffer, T);
    }
    __aicore__ const __gm__ T* GetPhyAddr() const { return address_; }
    __aicore__ __gm__ T* GetPhyAddr(const GlobalIndex index) const {
        return address_ + bytes_of(counted(index)) / sizeof(T);
    }

    __aicore__ T GetValue(const GlobalIndex index) const {
        __gm__ T* element = address_ + counted(index);
        ASC_USE(element, *this);
        dav_scalar_load(element, sizeof(T));
        return *element;
    }
    __aicore__ void SetValue(const GlobalIndex index, T value) const {
        __gm__ T* element = address_ + counted(index);
        ASC_USE(element, *this);
        dav_scalar_store(element, sizeof(T));
        *element = value;
    }
    __aicore__ ScalarElement<T> operator()(const GlobalIndex index) const {
        ASC_USE(address_ + counted(index), *this);
        return ScalarElement<T>(address_ + counted(index));
    }
    __aicore__ GlobalTensor operator[](const GlobalIndex index) const {
        const uint64_t offset = counted(index);
        GlobalTensor view(*this);
        view.address_ += bytes_of(offset) / sizeof(T);
        return view;
    }
    __aicore__ uint64_t GetSize() const { return bufferSize_; }
    __aicore__ void SetShapeInfo(const ShapeInfo& info) { shapeInfo_ = info; }
    __aicore__ ShapeInfo GetShapeInfo() const { return shapeInfo_; }
    // A tensor without caching goes past L2: right for data that is touched once.
    template <CacheRwMode mode = CacheRwMode::RW> __aicore__ void SetL2CacheHint(CacheMode cache) {
        const bool past = cache == CacheMode::CACHE_MODE_DISABLE;
        if constexpr (mode != CacheRwMode::WRITE) reads_past_l2_ = past;
        if constexpr (mode != CacheRwMode::READ) writes_past_l2_ = past;
    }
    // For the implementation of this API, right before a copy.
    __aicore__ void announce_read() const {
        ASC_USE(address_, *this);
        if (reads_past_l2_) dav_bypass_l2();
    }
    __aicore__ void announce_write() const {
        ASC_USE(address_, *this);
        if (writes_past_l2_) dav_bypass_l2();
    }

    __gm__ T* address_ = nullptr;
    uint64_t bufferSize_ = 0;
    ShapeInfo shapeInfo_;
#ifdef DAV_CHECKED  // what SetGlobalBuffer was given, or 0
    uint64_t first = 0;
    uint64_t last = 0;
#endif

private:
    bool reads_past_l2_ = false;
    bool writes_past_l2_ = false;

    __aicore__ uint64_t counted(const GlobalIndex index) const {
#ifdef DAV_CHECKED
        if (index.bits < 64) dav_offset(uint64_t(address_), index.bits, sizeof(T));
#endif
        return index;
    }
    static __aicore__ uint64_t bytes_of(uint64_t elements) {
        if constexpr (IsSameType<T, int4b_t>::value) return elements / 2;
        return elements * sizeof(T);
    }
};

}  // namespace AscendC
