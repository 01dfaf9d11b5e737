// The runtime that an example's host program calls: memory of this computer, one stream, launches
// that are written down. See launch.h.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "../launch.h"

using aclError = int;
using aclrtStream = void*;
using aclrtContext = void*;
using aclrtEvent = void*;
constexpr aclError ACL_SUCCESS = 0;
constexpr aclError ACL_ERROR_NONE = 0;
enum aclrtMemMallocPolicy {
    ACL_MEM_MALLOC_HUGE_FIRST,
    ACL_MEM_MALLOC_HUGE_ONLY,
    ACL_MEM_MALLOC_NORMAL_ONLY
};
enum aclrtMemcpyKind {
    ACL_MEMCPY_HOST_TO_HOST,
    ACL_MEMCPY_HOST_TO_DEVICE,
    ACL_MEMCPY_DEVICE_TO_HOST,
    ACL_MEMCPY_DEVICE_TO_DEVICE,
};

inline aclError aclInit(const char*) { return ACL_SUCCESS; }
inline aclError aclFinalize() { return ACL_SUCCESS; }
inline aclError aclrtSetDevice(int32_t) { return ACL_SUCCESS; }
inline aclError aclrtResetDevice(int32_t) { return ACL_SUCCESS; }
inline aclError aclrtCreateContext(aclrtContext*, int32_t) { return ACL_SUCCESS; }
inline aclError aclrtDestroyContext(aclrtContext) { return ACL_SUCCESS; }
inline aclError aclrtCreateStream(aclrtStream*) { return ACL_SUCCESS; }
inline aclError aclrtDestroyStream(aclrtStream) { return ACL_SUCCESS; }
inline aclError aclrtSynchronizeStream(aclrtStream) { return ACL_SUCCESS; }
inline aclError aclrtSynchronizeDevice() { return ACL_SUCCESS; }
inline const char* aclGetRecentErrMsg() { return ""; }

inline aclError aclrtMalloc(void** memory, size_t bytes, aclrtMemMallocPolicy) {
    *memory = ascendopt_example::new_buffer(bytes);
    return ACL_SUCCESS;
}
inline aclError aclrtFree(void* memory) {
    ascendopt_example::free_buffer(memory);
    return ACL_SUCCESS;
}
inline aclError aclrtMallocHost(void** memory, size_t bytes) {
    *memory = calloc(bytes, 1);
    return ACL_SUCCESS;
}
inline aclError aclrtFreeHost(void* memory) {
    free(memory);
    return ACL_SUCCESS;
}
inline aclError aclrtMemcpy(void* to, size_t, const void* from, size_t bytes, aclrtMemcpyKind) {
    memcpy(to, from, bytes);
    return ACL_SUCCESS;
}
inline aclError aclrtMemcpyAsync(void* to, size_t room, const void* from, size_t bytes,
                                 aclrtMemcpyKind kind, aclrtStream) {
    return aclrtMemcpy(to, room, from, bytes, kind);
}
inline aclError aclrtMemset(void* memory, size_t, int32_t value, size_t bytes) {
    memset(memory, value, bytes);
    return ACL_SUCCESS;
}
