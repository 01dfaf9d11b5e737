// Instructions of the machine that are not vector arithmetic: synchronisation, copies, atomics,
// core numbers, and the hooks by which the scalar unit's memory accesses become visible.
// Names and argument orders are those of the dav-c220 compiler's intrinsics.
#pragma once

#include <cstdint>

#include "intrinsics_types.h"

#ifndef __ubuf__
#define __ubuf__
#endif
#ifndef __gm__
#define __gm__
#endif
#ifndef __cbuf__
#define __cbuf__
#endif

enum pipe_t {
    PIPE_S = 0,
    PIPE_V = 1,
    PIPE_M = 2,
    PIPE_MTE1 = 3,
    PIPE_MTE2 = 4,
    PIPE_MTE3 = 5,
    PIPE_ALL = 6,
    PIPE_FIX = 7,
};
enum event_t {
    EVENT_ID0 = 0,
    EVENT_ID1,
    EVENT_ID2,
    EVENT_ID3,
    EVENT_ID4,
    EVENT_ID5,
    EVENT_ID6,
    EVENT_ID7,
};
enum cache_line_t : uint64_t { SINGLE_CACHE_LINE = 0, ENTIRE_DATA_CACHE = 1 };
enum dcci_dst_t : uint64_t {
    CACHELINE_ALL = 0,
    CACHELINE_UB = 1,
    CACHELINE_OUT = 2,
    CACHELINE_ATOMIC = 3,
};

// --- synchronisation within a core
void set_flag(pipe_t from, pipe_t to, event_t event);
void wait_flag(pipe_t from, pipe_t to, event_t event);
void set_flag(pipe_t from, pipe_t to, int event);
void wait_flag(pipe_t from, pipe_t to, int event);
void pipe_barrier(pipe_t pipe);

// --- synchronisation between cores
// Waits for every core of the running core's kind (vector, cube), with all their pipes drained.
// SyncAll lowers to it; in a launch of both kinds its other form waits for all of both, its soft
// form for the first `cores` of a kind.
void dav_sync_all();
void dav_sync_all_kinds();
void dav_sync_first(int32_t cores);
// `config` is 1 | mode << 4 | flag << 8. Mode 0: among all cores of a kind, 1: among the vector
// cores of a block, 2: from a block's cube core to its vector cores, or from them all to it. The
// signal leaves when `pipe` has come so far.
void ffts_cross_core_sync(pipe_t pipe, uint64_t config);
void wait_flag_dev(int64_t flag);
void set_ffts_base_addr(uint64_t address);
// IBSet/IBWait: core `block` publishes event `event`; a wait blocks until it is there. Blocks that
// take turns (NotifyNextBlock, WaitPreBlock) have an event of their own.
constexpr int32_t BLOCK_TURN = -1;
void dav_core_set(int32_t block, int32_t event);
void dav_core_wait(int32_t block, int32_t event);
// A signal of a group of cores: kind and round of the barrier whose counts lie at `place`. It is
// given when so many cores have come so far with `pipe`.
void dav_group_set(pipe_t pipe, const void* place, int kind, uint32_t round, uint32_t expected);
void dav_group_wait(const void* place, int kind, uint32_t round, uint32_t expected);

// --- copies. `bursts` bursts; lengths and gaps in 32-byte blocks.
void copy_gm_to_ubuf(__ubuf__ void* dst, __gm__ void* src, uint8_t sid, uint16_t bursts,
                     uint16_t length, uint16_t src_gap, uint16_t dst_gap);
void copy_ubuf_to_gm(__gm__ void* dst, __ubuf__ void* src, uint8_t sid, uint16_t bursts,
                     uint16_t length, uint16_t src_gap, uint16_t dst_gap);
void copy_ubuf_to_ubuf(__ubuf__ void* dst, __ubuf__ void* src, uint8_t sid, uint16_t bursts,
                       uint16_t length, uint16_t src_gap, uint16_t dst_gap);
// Length in bytes, GM gap in bytes, UB gap in 32-byte blocks, padding in elements of the suffix.
void copy_gm_to_ubuf_align_b8(__ubuf__ void* dst, __gm__ void* src, uint8_t sid, uint16_t bursts,
                              uint32_t length, uint8_t left_padding, uint8_t right_padding,
                              uint32_t src_gap, uint32_t dst_gap);
void copy_gm_to_ubuf_align_b16(__ubuf__ void* dst, __gm__ void* src, uint8_t sid, uint16_t bursts,
                               uint32_t length, uint8_t left_padding, uint8_t right_padding,
                               uint32_t src_gap, uint32_t dst_gap);
void copy_gm_to_ubuf_align_b32(__ubuf__ void* dst, __gm__ void* src, uint8_t sid, uint16_t bursts,
                               uint32_t length, uint8_t left_padding, uint8_t right_padding,
                               uint32_t src_gap, uint32_t dst_gap);
void copy_ubuf_to_gm_align_b8(__gm__ void* dst, __ubuf__ void* src, uint8_t sid, uint16_t bursts,
                              uint32_t length, uint8_t left_padding, uint8_t right_padding,
                              uint32_t src_gap, uint32_t dst_gap);
void copy_ubuf_to_gm_align_b16(__gm__ void* dst, __ubuf__ void* src, uint8_t sid, uint16_t bursts,
                               uint32_t length, uint8_t left_padding, uint8_t right_padding,
                               uint32_t src_gap, uint32_t dst_gap);
void copy_ubuf_to_gm_align_b32(__gm__ void* dst, __ubuf__ void* src, uint8_t sid, uint16_t bursts,
                               uint32_t length, uint8_t left_padding, uint8_t right_padding,
                               uint32_t src_gap, uint32_t dst_gap);
// The value that padding takes (the bits of one element). Unset, both paddings and the fill up to
// 32 bytes take the burst's first element, as the documentation says of unpadded copies.
void set_mov_pad_val(uint64_t bits);
// The padding value is no copy's own: it is what later copies pad with that are told none.
void dav_pad_value_stays();
// Forgets the padding value of an earlier copy (a DataCopyPad with isPad false).
void dav_no_pad_value();

// The next copy bypasses L2 (a GlobalTensor whose cache hint is CACHE_MODE_DISABLE). Call it right
// before the copy; later copies are not concerned.
void dav_bypass_l2();

// --- atomics: how later UB→GM copies combine with what GM holds
void set_atomic_none();
void set_atomic_add();
void set_atomic_max();
void set_atomic_min();
void set_atomic_f32();
void set_atomic_f16();
void set_atomic_bf16();
void set_atomic_s32();
void set_atomic_s16();
void set_atomic_s8();
// Store configuration register: bits 0..2 the type (1 f32, 2 f16, 3 s16, 4 s32, 5 s8, 6 bf16),
// bits 4..5 the operation (0 add, 1 max, 2 min); type 0: no atomics.
void set_st_atomic_cfg(uint64_t config);
inline void set_st_atomic_cfg(atomic_type_t type, atomic_op_t operation) {
    set_st_atomic_cfg(uint64_t(type) | uint64_t(operation) << 4);
}
uint64_t get_st_atomic_cfg();

// --- who and where am I
int64_t get_block_idx();
int64_t get_block_num();
int64_t get_subblockid();
int64_t get_subblockdim();
int64_t get_coreid();
// Cycles of the system counter (50 MHz on the chip); here derived from scalar time alone.
uint64_t get_sys_cnt();

// --- caches and the rest
void dcci(__gm__ void* address, uint64_t line);
void dcci(__gm__ void* address, uint64_t line, uint64_t destination);
// Global memory past the data cache; the offset is in elements. As if the line were written back
// and forgotten at once.
template <typename T> inline T ld_dev(__gm__ T* source, int16_t offset) {
    dcci(source + offset, SINGLE_CACHE_LINE);
    return *static_cast<volatile T*>(source + offset);
}
template <typename T> inline void st_dev(T value, __gm__ T* target, int16_t offset) {
    *static_cast<volatile T*>(target + offset) = value;
    dcci(target + offset, SINGLE_CACHE_LINE);
}
void dsb(uint64_t scope);
[[noreturn]] void trap();
// Four registers that watch UB: blocks of 32 bytes behind number [63:48] up to number [47:32]; bits
// 31 to 26: scalar reads, writes, vector reads, writes, copies' reads, writes; bit 0: on.
void set_data_exp_0(uint64_t config);
void set_data_exp_1(uint64_t config);
void set_data_exp_2(uint64_t config);
void set_data_exp_3(uint64_t config);

// --- hooks that our own headers call
// This core's UB: its base as a host address; LocalTensor addresses are base + offset. The same for
// any of its memories: 0 UB, 1 L1, 2 L0A, 3 L0B, 4 L0C, 5 bias table, 6 fixpipe buffer.
__ubuf__ uint8_t* dav_ub_base();
uint64_t dav_memory_base(int32_t memory);
// The scalar unit reads or writes memory (UB or GM) by GetValue/SetValue: call it BEFORE the
// access; checks bounds and hazards and charges the time.
void dav_scalar_load(const void* address, uint32_t bytes);
void dav_scalar_store(void* address, uint32_t bytes);
// `cycles` of scalar work that is not visible as instructions.
void dav_scalar(uint32_t cycles);
// Names `bytes` of UB from `offset` for messages; also counts towards the peak of UB in use.
void dav_ub_note(uint32_t offset, uint32_t bytes, const char* name);
// The kernel takes so many bytes for its tiling data.
void dav_tiling_size(uint64_t bytes);
// The kernel names `bytes` of this core's memories from `address` on as a tensor.
void dav_view(uint64_t address, uint64_t bytes);
// A tensor of elements of so many bytes and this dtype, if any, begins here in global memory.
void dav_elements(uint64_t address, uint64_t bytes, const char* dtype);
// A tensor of the buffer [first, last) is about to be used at `address`; `last` 0: the buffer is
// not known.
void dav_extent(uint64_t address, uint64_t first, uint64_t last);
// A queue's buffer is freed; a tensor is used whose buffer was freed since it was taken.
void dav_free(const void* buffer);
void dav_use_freed(const void* buffer);
// A number does not fit where it is given: it becomes another one. `kind` is the warning's.
void dav_narrowed(const char* kind, int64_t given, int64_t becomes, uint32_t bits);
// Whole numbers are divided, with a rest or without; a whole number becomes one of floating point.
void dav_quotient(int64_t value, bool rest);
void dav_fraction(int64_t value);
// A product or sum of unsigned numbers of 32 bits wraps.
void dav_wrapped(const char* what);
// A difference of unsigned numbers is so much below zero: it becomes another number.
void dav_below_zero(uint64_t below, uint64_t becomes);
// The kernel goes beyond what the documentation allows; `message` is a sentence, `kind` the
// warning's.
void dav_limit(const char* message, const char* kind = "limit");
// SyncAll's flags in global memory and its local copy, for so many cores: the flags must be zero
// before the first meeting, both must hold 32 bytes a core.
void dav_sync_flags(const void* flags, uint64_t local_bytes, int32_t cores);
// The same of a barrier between groups of cores, which counts in so many bytes of global memory.
void dav_sync_counts(const void* counts, uint64_t bytes);
// The kernel itself has set the mask or its mode, and not an instruction of the API for its own
// use.
void dav_own_mask();
// A tensor in global memory at `address`, of elements of `bytes`, is indexed by a number of `bits`.
void dav_offset(uint64_t address, uint32_t bits, uint32_t bytes);
// Ends the launch as a launch error with this sentence (a wrong call, e.g. a full queue).
[[noreturn]] void dav_fail(const char* message);
// A value that a kernel's own message tells.
struct DavTold {
    enum Kind : int32_t { NONE, SIGNED, UNSIGNED, REAL, TEXT } kind;
    int64_t whole;
    double real;
    const char* text;
};
// Ends the launch because a condition of the kernel's own does not hold, with its message: a
// printf-like format and its values. What that asks for beyond them is a '?'.
[[noreturn]] void dav_assertion(const char* condition, const char* format, const DavTold* values,
                                uint32_t count);
// Adds a sentence to the report, once for each call site.
