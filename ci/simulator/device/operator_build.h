// What the operator compiler fills in for a kernel: the tiling key and structure, the numbers of
// data types and formats. Both front doors start from it.
#pragma once

#include <cstddef>
#include <cstdint>

// ---- tiling
// The build gives the key and names the structure (AscendOptTilingData) that the host fills.
#ifndef ASCENDOPT_TILING_KEY
#define ASCENDOPT_TILING_KEY 0
#endif
#undef TILING_KEY_IS
#undef TILING_KEY_VAR
#define TILING_KEY_IS(key) ((key) == ASCENDOPT_TILING_KEY)
#define TILING_KEY_VAR ASCENDOPT_TILING_KEY
#ifdef DAV_CHECKED
#define ASC_TILING_SIZE(type) dav_tiling_size(sizeof(type))
#else
#define ASC_TILING_SIZE(type) ((void)0)
#endif
#define GET_TILING_DATA(name, pointer) \
    GET_TILING_DATA_WITH_STRUCT(AscendOptTilingData, name, pointer)
#define GET_TILING_DATA_WITH_STRUCT(type, name, pointer) \
    type name;                                           \
    ASC_TILING_SIZE(type);                               \
    __builtin_memcpy(static_cast<void*>(&name), (const void*)(pointer), sizeof(type))
#define GET_TILING_DATA_MEMBER(type, member, name, pointer) \
    decltype(type::member) name;                            \
    __builtin_memcpy(static_cast<void*>(&name),             \
                     (const uint8_t*)(pointer) + offsetof(type, member), sizeof(name))
#define GET_TILING_DATA_PTR_WITH_STRUCT(type, name, pointer) \
    ASC_TILING_SIZE(type);                                   \
    const __gm__ type* name = (const __gm__ type*)(pointer)
#define COPY_TILING_WITH_STRUCT(type, source, target) const type* target = (const type*)(source)
#define COPY_TILING_WITH_ARRAY(type, length, source, target) \
    const type* target = (const type*)(source)

// Some kernels copy parts of their tiling themselves, by words of 8 bytes.
#define copy_data_align64(target, source, bytes) \
    __builtin_memcpy((void*)(target), (const void*)(source), (bytes))

// Kernel types: marks in the built library, which say on what cores the kernel runs.
#define ASC_MARK(name) \
    asm volatile(".globl ascendopt_task_" #name "\n.set ascendopt_task_" #name ", 1")
#undef KERNEL_TASK_TYPE_DEFAULT
#undef KERNEL_TASK_TYPE
#define KERNEL_TASK_TYPE_DEFAULT(type) ASC_MARK(default_##type)
#define KERNEL_TASK_TYPE(key, type)                     \
    do {                                                \
        if (TILING_KEY_IS(key)) ASC_MARK(keyed_##type); \
    } while (false)

// ---- data types and formats, numbered as on the host
#define DT_FLOAT 0
#define DT_FLOAT16 1
#define DT_INT8 2
#define DT_INT32 3
#define DT_UINT8 4
#define DT_INT16 6
#define DT_UINT16 7
#define DT_UINT32 8
#define DT_INT64 9
#define DT_UINT64 10
#define DT_DOUBLE 11
#define DT_BOOL 12
#define DT_STRING 13
#define DT_COMPLEX64 16
#define DT_COMPLEX128 17
#define DT_QINT8 18
#define DT_QINT32 20
#define DT_BF16 27
#define DT_INT4 29
#define DT_UINT1 30
#define DT_INT2 31
#define FORMAT_NCHW 0
#define FORMAT_NHWC 1
#define FORMAT_ND 2
#define FORMAT_NC1HWC0 3
#define FORMAT_FRACTAL_Z 4
#define FORMAT_NC1C0HWPAD 5
#define FORMAT_HWCN 16
#define FORMAT_NDHWC 27
#define FORMAT_FRACTAL_NZ 29
#define FORMAT_NCDHW 30
#define FORMAT_DHWCN 31
#define FORMAT_NDC1HWC0 32
#define FORMAT_FRACTAL_Z_3D 33
#define FORMAT_NCL 47
