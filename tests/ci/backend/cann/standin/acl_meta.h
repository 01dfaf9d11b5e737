#pragma once
#include <acl/acl.h>
struct aclTensor {
    void* data;
    size_t count;
};
struct aclTensorList;
struct aclOpExecutor;
struct aclIntArray;
struct aclFloatArray;
struct aclBoolArray;
struct aclScalar;
struct aclScalarList;
using aclnnStatus = int32_t;
extern "C" {
aclTensor* aclCreateTensor(const int64_t*, uint64_t, aclDataType, const int64_t*, int64_t, aclFormat,
                           const int64_t*, uint64_t, void*);
aclTensorList* aclCreateTensorList(const aclTensor* const*, uint64_t);
aclIntArray* aclCreateIntArray(const int64_t*, uint64_t);
aclFloatArray* aclCreateFloatArray(const float*, uint64_t);
aclBoolArray* aclCreateBoolArray(const bool*, uint64_t);
aclScalar* aclCreateScalar(void*, aclDataType);
aclScalarList* aclCreateScalarList(const aclScalar* const*, uint64_t);
}
