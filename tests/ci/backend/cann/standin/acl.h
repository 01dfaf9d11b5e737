// Stands in for the toolkit's acl: device memory is the host's. Declarations by the documentation
// of acl (aclrtMalloc, aclrtMemcpy, …) and of aclnn's meta functions.
#pragma once
#include <cstddef>
#include <cstdint>
using aclError = int;
using aclrtStream = void*;
constexpr aclError ACL_SUCCESS = 0;
enum aclrtMemMallocPolicy { ACL_MEM_MALLOC_HUGE_FIRST };
enum aclrtMemcpyKind { ACL_MEMCPY_HOST_TO_DEVICE = 1, ACL_MEMCPY_DEVICE_TO_HOST = 2 };
enum aclDataType { ACL_FLOAT = 0 };
enum aclFormat { ACL_FORMAT_ND = 2 };
extern "C" {
aclError aclInit(const char*);
aclError aclFinalize();
aclError aclrtSetDevice(int32_t);
aclError aclrtResetDevice(int32_t);
aclError aclrtCreateStream(aclrtStream*);
aclError aclrtDestroyStream(aclrtStream);
aclError aclrtSynchronizeStream(aclrtStream);
aclError aclrtMalloc(void**, size_t, aclrtMemMallocPolicy);
aclError aclrtFree(void*);
aclError aclrtMemcpy(void*, size_t, const void*, size_t, aclrtMemcpyKind);
const char* aclGetRecentErrMsg();
}
