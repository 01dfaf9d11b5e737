// Types of the runtime that programs and the headers of kernels name.
#pragma once

using aclError = int;
constexpr aclError ACL_SUCCESS = 0;

using aclrtContext = void*;
using aclrtEvent = void*;
using aclrtNotify = void*;
using aclrtStream = void*;

// Types of tensors and their formats, numbered as in asc-devkit's docs of them.
#define ASCENDOPT_DTYPES(each)                                                                 \
    each(FLOAT, 0) each(FLOAT16, 1) each(INT8, 2) each(INT32, 3) each(UINT8, 4) each(INT16, 6) \
        each(UINT16, 7) each(UINT32, 8) each(INT64, 9) each(UINT64, 10) each(DOUBLE, 11)       \
            each(BOOL, 12) each(STRING, 13) each(COMPLEX64, 16) each(COMPLEX128, 17)           \
                each(BF16, 27) each(INT4, 29) each(UINT1, 30) each(COMPLEX32, 33)              \
                    each(HIFLOAT8, 34) each(FLOAT8_E5M2, 35) each(FLOAT8_E4M3FN, 36)           \
                        each(FLOAT8_E8M0, 37) each(FLOAT6_E3M2, 38) each(FLOAT6_E2M3, 39)      \
                            each(FLOAT4_E2M1, 40) each(FLOAT4_E1M2, 41)

enum aclDataType {
    ACL_DT_UNDEFINED = -1,
#define ASCENDOPT_ENUMERATOR(name, number) ACL_##name = number,
    ASCENDOPT_DTYPES(ASCENDOPT_ENUMERATOR)
#undef ASCENDOPT_ENUMERATOR
};
enum aclFormat {
    ACL_FORMAT_UNDEFINED = -1,
    ACL_FORMAT_NCHW = 0,
    ACL_FORMAT_NHWC = 1,
    ACL_FORMAT_ND = 2,
    ACL_FORMAT_NC1HWC0 = 3,
    ACL_FORMAT_FRACTAL_Z = 4,
    ACL_FORMAT_NC1HWC0_C04 = 12,
    ACL_FORMAT_HWCN = 16,
    ACL_FORMAT_NDHWC = 27,
    ACL_FORMAT_FRACTAL_NZ = 29,
    ACL_FORMAT_NCDHW = 30,
    ACL_FORMAT_NDC1HWC0 = 32,
    ACL_FRACTAL_Z_3D = 33,
    ACL_FORMAT_NC = 35,
    ACL_FORMAT_NCL = 47,
};
