// Vector-unit instructions of the dav-c220 AI core, declared under the device compiler's names and
// argument orders. Definitions: vector_*.cpp; what each computes: lab/reference/vector_table.py.
//
// Conventions shared by all instructions
//   dst, src*       unified-buffer addresses, 32-byte aligned unless said otherwise
//   repeat          iterations, 0..255; in counter mode it is ignored and follows from the mask
//   *_block         distance between 32-byte blocks inside one iteration, in blocks
//   *_repeat        distance between the same block of neighbouring iterations, in blocks
// An iteration covers 256 bytes of the widest operand type.
#pragma once

#include "types.h"

// Where a value-and-index reduction puts its results.
enum Order_t { VALUE_INDEX = 0, INDEX_VALUE = 1, ONLY_VALUE = 2, ONLY_INDEX = 3 };
// The address registers of scatter_vnchwconv, eight 32-byte block addresses each.
enum ub_addr8_t { VA0, VA1, VA2, VA3, VA4, VA5, VA6, VA7 };
// Which half of a 16-entry address list vld_va_reg loads.
enum vpart_t { L128, H128 };

// ---- mask and special registers -----------------------------------------------------------------
void set_vector_mask(uint64_t high, uint64_t low);
void set_mask_norm();
void set_mask_count();
int64_t get_ctrl();
void set_ctrl(uint64_t value);
inline uint64_t sbitset0(uint64_t value, int bit) { return value & ~(uint64_t(1) << bit); }
inline uint64_t sbitset1(uint64_t value, int bit) { return value | (uint64_t(1) << bit); }
int64_t get_acc_val();
int64_t get_max_min_cnt();
int64_t get_rsvd_cnt();
int64_t get_vms4_sr();
void set_cmpmask(const void* src);
void get_cmpmask(void* dst);
void set_deqscale(half scale);
void set_deqscale(uint64_t config);

// ---- element by element, two sources ------------------------------------------------------------
#define DAV_BINARY(name, D, S)                                                                 \
    void name(D* dst, S* src0, S* src1, uint8_t repeat, uint8_t dst_block, uint8_t src0_block, \
              uint8_t src1_block, uint8_t dst_repeat, uint8_t src0_repeat, uint8_t src1_repeat);
#define DAV_BINARY_HALF_BLOCK(name, D, S)                                                       \
    void name(D* dst, S* src0, S* src1, uint8_t repeat, uint8_t dst_block, uint8_t src0_block,  \
              uint8_t src1_block, uint8_t dst_repeat, uint8_t src0_repeat, uint8_t src1_repeat, \
              bool upper_half);
#define DAV_FOR_FLOATS(M, name) M(name, half, half) M(name, float, float)
#define DAV_FOR_NUMBERS(M, name) \
    DAV_FOR_FLOATS(M, name) M(name, int16_t, int16_t) M(name, int32_t, int32_t)
#define DAV_FOR_BITS(M, name) M(name, int16_t, int16_t) M(name, uint16_t, uint16_t)
DAV_FOR_NUMBERS(DAV_BINARY, vadd)
DAV_FOR_NUMBERS(DAV_BINARY, vsub)
DAV_FOR_NUMBERS(DAV_BINARY, vmul)
DAV_FOR_NUMBERS(DAV_BINARY, vmax)
DAV_FOR_NUMBERS(DAV_BINARY, vmin)
DAV_FOR_FLOATS(DAV_BINARY, vdiv)
DAV_FOR_BITS(DAV_BINARY, vand)
DAV_FOR_BITS(DAV_BINARY, vor)
DAV_FOR_FLOATS(DAV_BINARY, vaddrelu)
DAV_BINARY(vaddrelu, int16_t, int16_t)
DAV_FOR_FLOATS(DAV_BINARY, vsubrelu)
DAV_BINARY(vsubrelu, int16_t, int16_t)
DAV_FOR_FLOATS(DAV_BINARY, vmadd)      // dst = src0 * dst + src1
DAV_FOR_FLOATS(DAV_BINARY, vmaddrelu)  // dst = relu(src0 * dst + src1)
DAV_FOR_FLOATS(DAV_BINARY, vmla)       // dst = src0 * src1 + dst
DAV_BINARY(vmla, float, half)
DAV_BINARY(vmulconv_f162s8, int8_t, half)
DAV_BINARY(vmulconv_f162u8, uint8_t, half)
DAV_BINARY_HALF_BLOCK(vaddreluconv_f162s8, int8_t, half)
DAV_BINARY_HALF_BLOCK(vaddreluconv_f322f16, half, float)
DAV_BINARY_HALF_BLOCK(vaddreluconv_s162s8, int8_t, int16_t)
DAV_BINARY_HALF_BLOCK(vaddreluconv_vdeqs162b8, int8_t, int16_t)
DAV_BINARY_HALF_BLOCK(vaddreluconv_vdeqs162b8, uint8_t, int16_t)
DAV_BINARY_HALF_BLOCK(vsubreluconv_f162s8, int8_t, half)
DAV_BINARY_HALF_BLOCK(vsubreluconv_f322f16, half, float)
DAV_BINARY_HALF_BLOCK(vsubreluconv_s162s8, int8_t, int16_t)

// ---- element by element, one source -------------------------------------------------------------
#define DAV_UNARY(name, D, S)                                                         \
    void name(D* dst, S* src, uint8_t repeat, uint16_t dst_block, uint16_t src_block, \
              uint16_t dst_repeat, uint16_t src_repeat);
DAV_FOR_FLOATS(DAV_UNARY, vabs)
DAV_FOR_FLOATS(DAV_UNARY, vrelu)
DAV_UNARY(vrelu, int32_t, int32_t)
DAV_FOR_FLOATS(DAV_UNARY, vexp)
DAV_FOR_FLOATS(DAV_UNARY, vln)
DAV_FOR_FLOATS(DAV_UNARY, vsqrt)
DAV_FOR_FLOATS(DAV_UNARY, vrsqrt)
DAV_FOR_FLOATS(DAV_UNARY, vrec)
DAV_FOR_BITS(DAV_UNARY, vnot)

// ---- element by element, a source and a scalar --------------------------------------------------
#define DAV_SCALAR(name, D, S)                                                                  \
    void name(D* dst, S* src, S scalar, uint8_t repeat, uint16_t dst_block, uint16_t src_block, \
              uint16_t dst_repeat, uint16_t src_repeat, bool repeat_stride_mode = false,        \
              bool stride_size_mode = false);
#define DAV_SHIFT(name, T, N, ...)                                                                \
    void name(T* dst, T* src, N distance, uint8_t repeat, uint16_t dst_block, uint16_t src_block, \
              uint16_t dst_repeat, uint16_t src_repeat __VA_ARGS__);
DAV_FOR_NUMBERS(DAV_SCALAR, vadds)
DAV_FOR_NUMBERS(DAV_SCALAR, vmuls)
DAV_FOR_NUMBERS(DAV_SCALAR, vmaxs)
DAV_FOR_NUMBERS(DAV_SCALAR, vmins)
DAV_FOR_FLOATS(DAV_SCALAR, vlrelu)
DAV_FOR_FLOATS(DAV_SCALAR, vaxpy)  // dst = src * scalar + dst
DAV_SCALAR(vaxpy, float, half)
DAV_SHIFT(vshl, uint16_t, uint32_t)
DAV_SHIFT(vshl, int16_t, uint32_t)
DAV_SHIFT(vshl, uint32_t, uint32_t)
DAV_SHIFT(vshl, int32_t, uint32_t)
DAV_SHIFT(vshr, uint16_t, uint32_t, , bool round)
DAV_SHIFT(vshr, int16_t, int32_t, , bool round)
DAV_SHIFT(vshr, uint32_t, uint32_t, , bool round)
DAV_SHIFT(vshr, int32_t, int32_t, , bool round)

// ---- conversions --------------------------------------------------------------------------------
// The last letter is the rounding: r nearest even, f floor, c ceiling, a nearest with ties away,
// z towards zero, o odd (sticky). Without a letter: nearest even, or exact.
#define DAV_ROUNDED(name, D, S) \
    DAV_UNARY(name##r, D, S)    \
    DAV_UNARY(name##f, D, S)    \
    DAV_UNARY(name##c, D, S) DAV_UNARY(name##a, D, S) DAV_UNARY(name##z, D, S)
DAV_ROUNDED(vconv_f322f32, float, float)
DAV_ROUNDED(vconv_f322s64, int64_t, float)
DAV_ROUNDED(vconv_f322s32, int32_t, float)
DAV_ROUNDED(vconv_f322s16, int16_t, float)
DAV_ROUNDED(vconv_f322f16, half, float)
DAV_UNARY(vconv_f322f16o, half, float)
DAV_UNARY(vconv_f322f16, half, float)
DAV_ROUNDED(vconv_f322bf16, bfloat16_t, float)
DAV_UNARY(vconv_bf162f32, float, bfloat16_t)
DAV_ROUNDED(vconv_bf162s32, int32_t, bfloat16_t)
DAV_UNARY(vconv_f162f32, float, half)
DAV_ROUNDED(vconv_f162s32, int32_t, half)
DAV_ROUNDED(vconv_f162s16, int16_t, half)
DAV_ROUNDED(vconv_f162s8, int8_t, half)
DAV_UNARY(vconv_f162s8, int8_t, half)
DAV_ROUNDED(vconv_f162u8, uint8_t, half)
DAV_UNARY(vconv_f162u8, uint8_t, half)
DAV_ROUNDED(vconv_f162s4, void, half)  // 4-bit operands have no type here: pairs in bytes
DAV_UNARY(vconv_f162s4, void, half)
DAV_UNARY(vconv_s42f16, half, void)
DAV_UNARY(vconv_s82f16, half, int8_t)
DAV_UNARY(vconv_u82f16, half, uint8_t)
DAV_ROUNDED(vconv_s162f16, half, int16_t)
DAV_UNARY(vconv_s162f16, half, int16_t)
DAV_UNARY(vconv_s162f32, float, int16_t)
DAV_ROUNDED(vconv_s322f32, float, int32_t)
DAV_UNARY(vconv_s322f32, float, int32_t)
DAV_UNARY(vconv_s322s16, int16_t, int32_t)
DAV_UNARY(vconv_s322s64, int64_t, int32_t)
DAV_UNARY(vconv_s642s32, int32_t, int64_t)
DAV_ROUNDED(vconv_s642f32, float, int64_t)
DAV_UNARY(vconv_deq, half, int32_t)  // scaled by set_deqscale(half)
#define DAV_DEQUANTISE(name)            \
    DAV_UNARY(name##l, int8_t, int16_t) \
    DAV_UNARY(name##h, int8_t, int16_t) \
    DAV_UNARY(name##l, uint8_t, int16_t) DAV_UNARY(name##h, uint8_t, int16_t)
DAV_DEQUANTISE(vconv_deqs162b8)   // one scale and offset, from set_deqscale(config)
DAV_DEQUANTISE(vconv_vdeqs162b8)  // 16 of them, set_deqscale gives their address / 32

// ---- fill, copy, broadcast ----------------------------------------------------------------------
#define DAV_FOR_WORDS(M, name) \
    M(name, half)              \
    M(name, bfloat16_t)        \
    M(name, int16_t) M(name, uint16_t) M(name, float) M(name, int32_t) M(name, uint32_t)
#define DAV_DUPLICATE(name, T)                                                         \
    void name(T* dst, T value, uint8_t repeat, uint16_t dst_block, uint16_t src_block, \
              uint16_t dst_repeat, uint16_t src_repeat);
#define DAV_COPY(name, T)                                                             \
    void name(T* dst, T* src, uint8_t repeat, uint16_t dst_block, uint16_t src_block, \
              uint16_t dst_repeat, uint16_t src_repeat);
#define DAV_BROADCAST(name, T) \
    void name(T* dst, T* src, uint16_t dst_block, uint16_t dst_repeat, uint8_t repeat);
DAV_FOR_WORDS(DAV_DUPLICATE, vector_dup)
DAV_FOR_WORDS(DAV_COPY, vcopy)
DAV_FOR_WORDS(DAV_BROADCAST, vbrcb)

// ---- reductions ---------------------------------------------------------------------------------
#define DAV_REDUCE(name, T)                                                            \
    void name(T* dst, T* src, uint8_t repeat, uint16_t dst_repeat, uint16_t src_block, \
              uint16_t src_repeat);
#define DAV_REDUCE_ALL(name, T, Last)                                                  \
    void name(T* dst, T* src, uint8_t repeat, uint16_t dst_repeat, uint16_t src_block, \
              uint16_t src_repeat, Last last);
DAV_REDUCE_ALL(vcadd, half, bool)  // last: accumulate over repeats into the ACC_VAL register
DAV_REDUCE_ALL(vcadd, float, bool)
DAV_REDUCE_ALL(vcmax, half, Order_t)
DAV_REDUCE_ALL(vcmax, float, Order_t)
DAV_REDUCE_ALL(vcmin, half, Order_t)
DAV_REDUCE_ALL(vcmin, float, Order_t)
DAV_REDUCE(vcgadd, half)
DAV_REDUCE(vcgadd, float)
DAV_REDUCE(vcgmax, half)
DAV_REDUCE(vcgmax, float)
DAV_REDUCE(vcgmin, half)
DAV_REDUCE(vcgmin, float)
DAV_REDUCE(vcpadd, half)
DAV_REDUCE(vcpadd, float)

// ---- comparison and selection -------------------------------------------------------------------
#define DAV_COMPARE(name, T)                                                           \
    void name(T* src0, T* src1, uint8_t repeat, uint8_t dst_block, uint8_t src0_block, \
              uint8_t src1_block, uint8_t dst_repeat, uint8_t src0_repeat, uint8_t src1_repeat);
#define DAV_COMPARE_VECTOR(name, T)                                                            \
    void name(uint8_t* dst, T* src0, T* src1, uint8_t repeat, uint8_t dst_block,               \
              uint8_t src0_block, uint8_t src1_block, uint8_t dst_repeat, uint8_t src0_repeat, \
              uint8_t src1_repeat);
#define DAV_COMPARE_SCALAR(name, T)                                               \
    void name(uint8_t* dst, T* src, T scalar, uint8_t repeat, uint16_t dst_block, \
              uint16_t src_block, uint16_t dst_repeat, uint16_t src_repeat);
#define DAV_COMPARE_FAMILY(mode)            \
    DAV_COMPARE(vcmp_##mode, half)          \
    DAV_COMPARE(vcmp_##mode, float)         \
    DAV_COMPARE_VECTOR(vcmpv_##mode, half)  \
    DAV_COMPARE_VECTOR(vcmpv_##mode, float) \
    DAV_COMPARE_SCALAR(vcmpvs_##mode, half) DAV_COMPARE_SCALAR(vcmpvs_##mode, float)
DAV_COMPARE_FAMILY(eq)
DAV_COMPARE_FAMILY(ne)
DAV_COMPARE_FAMILY(lt)
DAV_COMPARE_FAMILY(le)
DAV_COMPARE_FAMILY(gt)
DAV_COMPARE_FAMILY(ge)
DAV_COMPARE_VECTOR(vcmpv_eq, int32_t)
DAV_COMPARE_SCALAR(vcmpvs_eq, int32_t)
// Mode 0: the bits of CMPMASK choose between src0 and src1, the same bits in every iteration.
#define DAV_SELECT(T)                                                                             \
    void vsel(T* dst, T* src0, T* src1, uint8_t repeat, uint8_t dst_block, uint8_t src0_block,    \
              uint8_t src1_block, uint8_t dst_repeat, uint8_t src0_repeat, uint8_t src1_repeat);  \
    void vsel(T* dst, T* src0, void* src1, uint8_t repeat, uint8_t dst_block, uint8_t src0_block, \
              uint8_t src1_block, uint8_t dst_repeat, uint8_t src0_repeat, uint8_t src1_repeat,   \
              uint8_t mode);
// Mode 1: src1 holds the selection bits, CMPMASK's first element is the scalar alternative.
// Mode 2: CMPMASK's first 32-bit word is the address of the selection bits, src1 the alternative.
DAV_SELECT(half)
DAV_SELECT(float)

// ---- gather, compaction, layout -----------------------------------------------------------------
// base: unified-buffer address of the source, truncated to 32 bits as the instruction encodes it.
void vgather(uint16_t* dst, uint32_t* offset, uint32_t base, uint16_t dst_repeat, uint8_t repeat);
void vgather(uint32_t* dst, uint32_t* offset, uint32_t base, uint16_t dst_repeat, uint8_t repeat);
void vgatherb(uint16_t* dst, uint32_t* offset, uint32_t base, uint16_t dst_repeat,
              uint8_t dst_block, uint8_t repeat);
void vgatherb(uint32_t* dst, uint32_t* offset, uint32_t base, uint16_t dst_repeat,
              uint8_t dst_block, uint8_t repeat);
void vreducev2(uint16_t* dst, uint16_t* src0, uint16_t* src1, uint16_t repeat, uint8_t src0_block,
               uint8_t pattern, uint16_t src0_repeat, uint8_t src1_repeat);
void vreducev2(uint32_t* dst, uint32_t* src0, uint32_t* src1, uint16_t repeat, uint8_t src0_block,
               uint8_t pattern, uint16_t src0_repeat, uint8_t src1_repeat);
void set_va_reg_sb(ub_addr8_t reg, uint64_t* addresses);
void vld_va_reg(ub_addr8_t reg, uint64_t* list, vpart_t part);
void scatter_vnchwconv_b16(ub_addr8_t dst, ub_addr8_t src, uint8_t repeat, uint16_t dst_repeat,
                           uint16_t src_repeat);
void scatter_vnchwconv_b32(ub_addr8_t dst, ub_addr8_t src, uint8_t repeat, uint16_t dst_repeat,
                           uint16_t src_repeat);
void scatter_vnchwconv_b8(ub_addr8_t dst, ub_addr8_t src, uint8_t repeat, uint16_t dst_repeat,
                          uint16_t src_repeat, bool dst_high_half, bool src_high_half);
void vtranspose(uint16_t* dst, uint16_t* src);
void vtranspose(int16_t* dst, int16_t* src);
void v4dtrans(uint8_t* dst, uint8_t* src, uint32_t pixels, uint16_t channels, bool to_nchw);
void v4dtrans(uint16_t* dst, uint16_t* src, uint32_t pixels, uint16_t channels, bool to_nchw);
void v4dtrans(uint32_t* dst, uint32_t* src, uint32_t pixels, uint16_t channels, bool to_nchw);

// ---- sorting ------------------------------------------------------------------------------------
void vbitsort(half* dst, half* value, uint32_t* index, uint8_t repeat);
void vbitsort(float* dst, float* value, uint32_t* index, uint8_t repeat);
// lengths: four 16-bit element counts; config: repeat | valid lists << 8 | suspend << 12.
void vmrgsort4(half* dst, half* src[4], uint64_t lengths, uint64_t config);
void vmrgsort4(float* dst, float* src[4], uint64_t lengths, uint64_t config);
