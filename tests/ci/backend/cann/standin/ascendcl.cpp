#include <aclnn/acl_meta.h>
#include <cstdlib>
#include <cstring>
extern "C" {
aclError aclInit(const char*) { return 0; }
aclError aclFinalize() { return 0; }
aclError aclrtSetDevice(int32_t device) { return device == 0 ? 0 : 107001; }
aclError aclrtResetDevice(int32_t) { return 0; }
aclError aclrtCreateStream(aclrtStream*) { return 0; }
aclError aclrtDestroyStream(aclrtStream) { return 0; }
aclError aclrtSynchronizeStream(aclrtStream) { return 0; }
aclError aclrtMalloc(void** place, size_t bytes, aclrtMemMallocPolicy) {
    *place = std::malloc(bytes);
    return *place ? 0 : 207001;
}
aclError aclrtFree(void* place) {
    std::free(place);
    return 0;
}
aclError aclrtMemcpy(void* to, size_t, const void* from, size_t bytes, aclrtMemcpyKind) {
    std::memcpy(to, from, bytes);
    return 0;
}
const char* aclGetRecentErrMsg() { return "stand-in"; }
aclTensor* aclCreateTensor(const int64_t* dims, uint64_t rank, aclDataType, const int64_t* strides, int64_t,
                           aclFormat, const int64_t*, uint64_t, void* data) {
    size_t count = 1;
    for (uint64_t i = rank; i-- > 0;) {
        if (strides[i] != static_cast<int64_t>(count)) return nullptr;
        count *= static_cast<size_t>(dims[i]);
    }
    return new aclTensor{data, count};
}
aclTensorList* aclCreateTensorList(const aclTensor* const*, uint64_t) { return nullptr; }
aclIntArray* aclCreateIntArray(const int64_t*, uint64_t) { return nullptr; }
aclFloatArray* aclCreateFloatArray(const float*, uint64_t) { return nullptr; }
aclBoolArray* aclCreateBoolArray(const bool*, uint64_t) { return nullptr; }
aclScalar* aclCreateScalar(void*, aclDataType) { return nullptr; }
aclScalarList* aclCreateScalarList(const aclScalar* const*, uint64_t) { return nullptr; }
}
