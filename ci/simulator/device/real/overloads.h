// Behind the AscendC headers: what this compiler or the machine wants otherwise.
#pragma once

// An operator that passes the address of Muls and its kin has the compiler choose between two
// templates of the same type. The device compiler takes the more special one, which this compiler
// holds to be ambiguous; a function that is no template settles it. It would also convert a scalar
// of another type, which the headers refuse: such a call finds a deleted function first.
#ifdef ASCENDC_MODULE_OPERATOR_VEC_BINARY_SCALAR_INTERFACE_H
namespace AscendC {

#define ASCENDOPT_PLAIN(name, T)                                                      \
    __aicore__ inline void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, \
                                const T& scalar, const int32_t& count) {              \
        name<T, true>(dst, src, scalar, count);                                       \
    }
#define ASCENDOPT_PLAIN_TYPES(name)                                                     \
    template <typename S, typename T, std::enable_if_t<!std::is_same_v<S, T>, int> = 0> \
    __aicore__ inline void name(const LocalTensor<T>&, const LocalTensor<T>&, const S&, \
                                const int32_t&) = delete;                               \
    ASCENDOPT_PLAIN(name, half)                                                         \
    ASCENDOPT_PLAIN(name, float)                                                        \
    ASCENDOPT_PLAIN(name, int16_t)                                                      \
    ASCENDOPT_PLAIN(name, int32_t)
ASCENDOPT_PLAIN_TYPES(Adds)
ASCENDOPT_PLAIN_TYPES(Muls)
ASCENDOPT_PLAIN_TYPES(Maxs)
ASCENDOPT_PLAIN_TYPES(Mins)
#undef ASCENDOPT_PLAIN_TYPES
#undef ASCENDOPT_PLAIN

}  // namespace AscendC
#endif

// The soft form of SyncAll has every core read the others' flags in global memory again and again.
// The meeting is the machine's, the loop over the flags is what it costs.
#if defined(ASCENDC_MODULE_OPERATOR_SYNC_IMPL_H) && __NPU_ARCH__ == 2201
namespace AscendC {
#define ASCENDOPT_SOFT_SYNC(all_kinds)                                                    \
    template <>                                                                           \
    __aicore__ inline void SoftSyncAllImpl<all_kinds>(__gm__ int32_t*, __ubuf__ int32_t*, \
                                                      const int usedCores) {              \
        if ASCEND_IS_AIC                                                                  \
            return;                                                                       \
        const int64_t all = get_block_num() * get_subblockdim();                          \
        const int64_t cores = usedCores > 0 ? usedCores : all;                            \
        dav_scalar(uint32_t(4 * cores));                                                  \
        pipe_barrier(PIPE_ALL);                                                           \
        dav_sync_first(int32_t(cores));                                                   \
    }
ASCENDOPT_SOFT_SYNC(true)
ASCENDOPT_SOFT_SYNC(false)
#undef ASCENDOPT_SOFT_SYNC
}  // namespace AscendC
#endif

// The headers read the counter by an instruction of the device's assembler.
#if defined(ASCENDC_MODULE_OPERATOR_SYS_VAR_INTERFACE_H) && __NPU_ARCH__ == 2201
namespace AscendC {
__aicore__ inline int64_t AscendOptSystemCycle() { return int64_t(get_sys_cnt()); }
}  // namespace AscendC
#define GetSystemCycle AscendOptSystemCycle
#endif
