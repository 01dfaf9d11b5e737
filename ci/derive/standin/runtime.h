// The runtime as a program that calls operators sees it: memory is the computer's own, nothing is
// launched, and calls are written down (written.h).
#pragma once

#include "absent_files.h"
#include "written.h"

inline aclError aclInit(const char*) { return ACL_SUCCESS; }
inline aclError aclFinalize() { return ACL_SUCCESS; }
inline aclError aclrtSetDevice(int32_t) { return ACL_SUCCESS; }
inline aclError aclrtResetDevice(int32_t) { return ACL_SUCCESS; }
inline aclError aclrtCreateContext(aclrtContext*, int32_t) { return ACL_SUCCESS; }
inline aclError aclrtSetCurrentContext(aclrtContext) { return ACL_SUCCESS; }
inline aclError aclrtDestroyContext(aclrtContext) { return ACL_SUCCESS; }
inline aclError aclrtCreateStream(aclrtStream*) { return ACL_SUCCESS; }
inline aclError aclrtDestroyStream(aclrtStream) { return ACL_SUCCESS; }
inline aclError aclrtSynchronizeStream(aclrtStream) { return ACL_SUCCESS; }
inline aclError aclrtSynchronizeStreamWithTimeout(aclrtStream, int32_t) { return ACL_SUCCESS; }
inline aclError aclrtSynchronizeDevice() { return ACL_SUCCESS; }
inline aclError aclrtGetRunMode(aclrtRunMode* mode) {
    *mode = ACL_HOST;
    return ACL_SUCCESS;
}
inline aclError aclrtMalloc(void** at, size_t bytes, aclrtMemMallocPolicy = {}) {
    *at = std::calloc(bytes + 32, 1);
    int number = int(ascendopt::memory().size());
    if (*at) ascendopt::memory()[static_cast<char*>(*at)] = {bytes, number, false};
    return *at ? ACL_SUCCESS : 1;
}
inline aclError aclrtMallocHost(void** at, size_t bytes) { return aclrtMalloc(at, bytes); }
// Nothing is given back: what is read of a buffer later has to be known as its own.
inline aclError aclrtFree(void*) { return ACL_SUCCESS; }
inline aclError aclrtFreeHost(void*) { return ACL_SUCCESS; }
inline aclError aclrtMemset(void* at, size_t, int32_t value, size_t bytes) {
    std::memset(at, value, std::min(bytes, ascendopt::room(at)));
    if (auto [buffer, rest] = ascendopt::held_at(at); buffer && value == 0) {
        buffer->zeroed = rest == buffer->bytes && bytes >= rest && !buffer->filled;
    }
    return ACL_SUCCESS;
}
inline aclError aclrtMemcpy(void* to, size_t most, const void* from, size_t bytes,
                            aclrtMemcpyKind kind = {}) {
    bytes = std::min(bytes, most);
    auto [target, there] = ascendopt::held_at(to);
    auto [source, known] = ascendopt::held_at(from);
    // Programs copy more than there is; only what was allocated here has a known end.
    if (target) bytes = std::min(bytes, there);
    if (source) bytes = std::min(bytes, known);
    if (to && from) std::memcpy(to, from, bytes);
    if (target && kind == ACL_MEMCPY_HOST_TO_DEVICE) target->filled = true;
    if (source && kind == ACL_MEMCPY_DEVICE_TO_HOST) {
        ascendopt::Row row;
        row.text += '{';
        row.key("taken"), row.number(source->number);
        row.text += '}';
        ascendopt::write(row);
    }
    return ACL_SUCCESS;
}
inline aclError aclrtMemcpyAsync(void* to, size_t most, const void* from, size_t bytes,
                                 aclrtMemcpyKind kind, aclrtStream) {
    return aclrtMemcpy(to, most, from, bytes, kind);
}

inline size_t aclDataTypeSize(aclDataType dtype) {
    switch (dtype) {
        case ACL_FLOAT:
        case ACL_INT32:
        case ACL_UINT32: return 4;
        case ACL_FLOAT16:
        case ACL_BF16:
        case ACL_INT16:
        case ACL_UINT16: return 2;
        case ACL_INT8:
        case ACL_UINT8:
        case ACL_BOOL: return 1;
        default: return 8;
    }
}

// Descriptions, by which programs of several files tell themselves what they made.
struct aclTensorDesc {
    std::vector<int64_t> shape;
    aclDataType dtype;
    aclFormat format;
};
inline aclTensorDesc* aclCreateTensorDesc(aclDataType dtype, int rank, const int64_t* lengths,
                                          aclFormat format) {
    return new aclTensorDesc{{lengths, lengths + rank}, dtype, format};
}
inline void aclDestroyTensorDesc(const aclTensorDesc*) {}
inline aclDataType aclGetTensorDescType(const aclTensorDesc* one) { return one->dtype; }
inline aclFormat aclGetTensorDescFormat(const aclTensorDesc* one) { return one->format; }
inline size_t aclGetTensorDescNumDims(const aclTensorDesc* one) { return one->shape.size(); }
inline size_t aclGetTensorDescElementCount(const aclTensorDesc* one) {
    size_t count = 1;
    for (int64_t length : one->shape) count *= length;
    return count;
}
inline size_t aclGetTensorDescSize(const aclTensorDesc* one) {
    return aclGetTensorDescElementCount(one) * aclDataTypeSize(one->dtype);
}
inline int64_t aclGetTensorDescDim(const aclTensorDesc* one, size_t place) {
    return place < one->shape.size() ? one->shape[place] : -1;
}
inline aclError aclGetTensorDescDimV2(const aclTensorDesc* one, size_t place, int64_t* length) {
    *length = aclGetTensorDescDim(one, place);
    return place < one->shape.size() ? ACL_SUCCESS : 1;
}
struct aclDataBuffer {
    void* data;
    size_t bytes;
};
inline aclDataBuffer* aclCreateDataBuffer(void* data, size_t bytes) {
    return new aclDataBuffer{data, bytes};
}
inline aclError aclDestroyDataBuffer(const aclDataBuffer*) { return ACL_SUCCESS; }
inline void* aclGetDataBufferAddr(const aclDataBuffer* one) { return one->data; }
inline size_t aclGetDataBufferSizeV2(const aclDataBuffer* one) { return one->bytes; }

inline aclTensor* aclCreateTensor(const int64_t* lengths, uint64_t rank, aclDataType dtype,
                                  const int64_t*, int64_t offset, aclFormat, const int64_t*,
                                  uint64_t, void* data) {
    (void)offset;
    return new aclTensor{{lengths, lengths + rank}, dtype, data};
}
inline aclScalar* aclCreateScalar(const void* value, aclDataType dtype) {
    auto* at = static_cast<const unsigned char*>(value);
    return new aclScalar{{at, at + aclDataTypeSize(dtype)}, dtype};
}
template <typename Array, typename Element>
Array* ascendopt_array(const Element* values, uint64_t count) {
    auto* made = new Array;
    made->held.assign(values, values + count);
    return made;
}
inline aclIntArray* aclCreateIntArray(const int64_t* values, uint64_t count) {
    return ascendopt_array<aclIntArray>(values, count);
}
inline aclFloatArray* aclCreateFloatArray(const float* values, uint64_t count) {
    return ascendopt_array<aclFloatArray>(values, count);
}
inline aclBoolArray* aclCreateBoolArray(const bool* values, uint64_t count) {
    return ascendopt_array<aclBoolArray>(values, count);
}
inline aclTensorList* aclCreateTensorList(const aclTensor* const* values, uint64_t count) {
    return ascendopt_array<aclTensorList>(values, count);
}
inline aclScalarList* aclCreateScalarList(const aclScalar* const* values, uint64_t count) {
    return ascendopt_array<aclScalarList>(values, count);
}
inline aclnnStatus aclDestroyTensor(const aclTensor*) { return ACL_SUCCESS; }
inline aclnnStatus aclDestroyScalar(const aclScalar*) { return ACL_SUCCESS; }
inline aclnnStatus aclDestroyIntArray(const aclIntArray*) { return ACL_SUCCESS; }
inline aclnnStatus aclDestroyFloatArray(const aclFloatArray*) { return ACL_SUCCESS; }
inline aclnnStatus aclDestroyBoolArray(const aclBoolArray*) { return ACL_SUCCESS; }
inline aclnnStatus aclDestroyTensorList(const aclTensorList*) { return ACL_SUCCESS; }
inline aclnnStatus aclDestroyScalarList(const aclScalarList*) { return ACL_SUCCESS; }
inline const char* aclGetRecentErrMsg() { return ""; }
inline uint16_t aclFloatToFloat16(float value) {
    int exponent;
    float fraction = std::frexp(std::fabs(value), &exponent);
    uint16_t sign = std::signbit(value) ? 0x8000 : 0;
    if (!std::isfinite(value) || exponent > 16) return sign | 0x7c00 | (std::isnan(value) ? 1 : 0);
    if (exponent < -13) return sign | uint16_t(std::nearbyint(std::ldexp(std::fabs(value), 24)));
    return sign | uint16_t((exponent + 13 << 10) + int(std::nearbyint(std::ldexp(fraction, 11))));
}
inline float aclFloat16ToFloat(uint16_t bits) { return ascendopt::of_half(bits); }
