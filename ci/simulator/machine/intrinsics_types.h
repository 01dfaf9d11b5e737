// Enumerations that instructions take, under the device compiler's names. Their values matter only
// between a kernel and this machine; those of the atomics are the fields of the store configuration
// register.
#pragma once

#include <cstdint>

enum mem_dsb_t { DSB_ALL = 0, DSB_DDR, DSB_UB, DSB_SEQ };
enum atomic_type_t {
    ATOMIC_NONE = 0,
    ATOMIC_F32,
    ATOMIC_F16,
    ATOMIC_S16,
    ATOMIC_S32,
    ATOMIC_S8,
    ATOMIC_BF16,
};
enum atomic_op_t { ATOMIC_SUM = 0, ATOMIC_MAX = 1, ATOMIC_MIN = 2 };
