// Instructions of the cube core, with the dav-c220 compiler's names and argument orders. Pointers
// are addresses in the named memory: host addresses, or true offsets within that memory. On a
// vector core they do nothing.
#pragma once

#include <cstdint>

#include "types.h"

#ifndef __ca__
#define __ca__
#define __cb__
#define __cc__
#define __fbuf__
#define __biasbuf__
#endif
#ifndef __cbuf__
#define __cbuf__
#endif
#ifndef __gm__
#define __gm__
#endif

enum pad_t { PAD_NONE = 0, PAD_MODE1, PAD_MODE2, PAD_MODE3, PAD_MODE4, PAD_MODE5 };
enum addr_cal_mode_t { inc = 0, dec = 1 };
// What a product does with the flags of its block in L0C: 2 waits for them, 3 sets them, too.
enum unit_flag_t : uint8_t { UFMode0 = 0, UFMode1, UFMode2, UFMode3 };
// How the fixpipe converts what it takes from L0C; numbered as in its configuration word.
enum QuantMode_t {
    NoQuant = 0,
    F322F16 = 1,
    VQF322HIF8_PRE = 2,
    QF322HIF8_PRE = 3,
    VQF322HIF8_PRE_HYBRID = 4,
    QF322HIF8_PRE_HYBRID = 5,
    AttachF16Mul = 6,
    VREQ8 = 8,
    REQ8 = 9,
    VDEQF16 = 10,
    DEQF16 = 11,
    VSHIFTS322S16 = 12,
    SHIFTS322S16 = 13,
    F322BF16 = 16,
    VQF162B8_PRE = 17,
    QF162B8_PRE = 18,
    VQF162S4_PRE = 19,
    QF162S4_PRE = 20,
    VREQ4 = 21,
    REQ4 = 22,
    VQF322B8_PRE = 23,
    QF322B8_PRE = 24,
    VQF322S4_PRE = 25,
    QF322S4_PRE = 26,
    VDEQS16 = 27,
    DEQS16 = 28,
    VQF162S16_PRE = 29,
    QF162S16_PRE = 30,
    // Later chips'; sources for several chips name them.
    VQF322F16_PRE = 31,
    QF322F16_PRE = 32,
    VQF322BF16_PRE = 33,
    QF322BF16_PRE = 34,
    VQS322BF16_PRE = 35,
    QS322BF16_PRE = 36,
    VQF322FP8_PRE = 37,
    QF322FP8_PRE = 38,
    VQF322F32_PRE = 39,
    QF322F32_PRE = 40,
};

// --- GM to L1 (pipe MTE2). Lengths and gaps in 32-byte blocks.
void copy_gm_to_cbuf(__cbuf__ void* dst, __gm__ void* src, int8_t sid, uint16_t bursts,
                     uint16_t length, uint16_t src_gap, uint16_t dst_gap, pad_t mode);
// `matrices` row-major matrices of rows × columns to Nz; strides of the source in elements, of the
// target in 32-byte blocks (between fractal columns, between rows) and elements (between matrices).
#define DAV_ND2NZ(suffix, T)                                                           \
    void copy_gm_to_cbuf_multi_nd2nz_##suffix(                                         \
        __cbuf__ T* dst, __gm__ T* src, uint8_t sid, uint16_t matrices, uint16_t rows, \
        uint16_t columns, uint16_t src_matrix_stride, uint16_t src_row_stride,         \
        uint16_t dst_c0_stride, uint16_t dst_row_stride, uint16_t dst_matrix_stride);
DAV_ND2NZ(b8, int8_t)
DAV_ND2NZ(b8, uint8_t)
DAV_ND2NZ(b16, half)
DAV_ND2NZ(b16, bfloat16_t)
DAV_ND2NZ(b16, int16_t)
DAV_ND2NZ(b16, uint16_t)
DAV_ND2NZ(b32s, float)
DAV_ND2NZ(b32s, int32_t)
DAV_ND2NZ(b32s, uint32_t)
#undef DAV_ND2NZ

// --- fractals of 512 bytes, from GM (MTE2) or L1 (MTE1): `repeats` of them from number `start` on,
// `src_stride` fractals apart, put `dst_gap` fractals apart.
#define DAV_LOAD_2D(T)                                                                         \
    void load_gm_to_cbuf(__cbuf__ T* dst, __gm__ T* src, uint16_t start, uint8_t repeats,      \
                         uint16_t src_stride, uint16_t dst_gap, uint8_t sid, addr_cal_mode_t); \
    void load_gm_to_ca(__ca__ T* dst, __gm__ T* src, uint16_t start, uint8_t repeats,          \
                       uint16_t src_stride, uint16_t dst_gap, uint8_t sid, addr_cal_mode_t);   \
    void load_gm_to_cb(__cb__ T* dst, __gm__ T* src, uint16_t start, uint8_t repeats,          \
                       uint16_t src_stride, uint16_t dst_gap, uint8_t sid, addr_cal_mode_t);   \
    void load_cbuf_to_ca(__ca__ T* dst, __cbuf__ T* src, uint16_t start, uint8_t repeats,      \
                         uint16_t src_stride, uint16_t dst_gap, uint8_t sid, bool transpose,   \
                         addr_cal_mode_t);                                                     \
    void load_cbuf_to_cb(__cb__ T* dst, __cbuf__ T* src, uint16_t start, uint8_t repeats,      \
                         uint16_t src_stride, uint16_t dst_gap, uint8_t sid, bool transpose,   \
                         addr_cal_mode_t);                                                     \
    void load_cbuf_to_ca_transpose(__ca__ T* dst, __cbuf__ T* src, uint16_t start,             \
                                   uint8_t repeats, uint16_t src_stride, uint16_t dst_gap,     \
                                   addr_cal_mode_t, uint16_t dst_fractal_gap);                 \
    void load_cbuf_to_cb_transpose(__cb__ T* dst, __cbuf__ T* src, uint16_t start,             \
                                   uint8_t repeats, uint16_t src_stride, uint16_t dst_gap,     \
                                   addr_cal_mode_t, uint16_t dst_fractal_gap);
DAV_LOAD_2D(int8_t)
DAV_LOAD_2D(uint8_t)
DAV_LOAD_2D(half)
DAV_LOAD_2D(bfloat16_t)
DAV_LOAD_2D(float)
DAV_LOAD_2D(int32_t)
DAV_LOAD_2D(uint32_t)
#undef DAV_LOAD_2D
void load_cbuf_to_ca_s4(__ca__ void* dst, __cbuf__ void* src, uint16_t start, uint8_t repeats,
                        uint16_t src_stride, uint16_t dst_gap, uint8_t sid, bool transpose,
                        addr_cal_mode_t);
void load_cbuf_to_cb_s4(__cb__ void* dst, __cbuf__ void* src, uint16_t start, uint8_t repeats,
                        uint16_t src_stride, uint16_t dst_gap, uint8_t sid, bool transpose,
                        addr_cal_mode_t);
void load_cbuf_to_cb_transpose_s4(__cb__ void* dst, __cbuf__ void* src, uint16_t start,
                                  uint8_t repeats, uint16_t src_stride, uint16_t dst_gap,
                                  addr_cal_mode_t, uint16_t dst_fractal_gap);

// --- image to column (MTE1): the feature map in L1 is NC1HWC0; its size and padding come from
// set_fmatrix (width | height << 16 | left, right, top, bottom padding << 32, 40, 48, 56).
#define DAV_IMG2COL(T)                                                                            \
    void img2colv2_cbuf_to_ca(                                                                    \
        __ca__ T* dst, __cbuf__ T* src, uint16_t k_extension, uint16_t m_extension,               \
        uint16_t k_start, uint16_t m_start, uint8_t stride_w, uint8_t stride_h, uint8_t filter_w, \
        uint8_t filter_h, uint8_t dilation_w, uint8_t dilation_h, bool wide_filter_w,             \
        bool wide_filter_h, bool transpose, bool from_b, uint16_t channels);                      \
    void img2colv2_cbuf_to_cb(                                                                    \
        __cb__ T* dst, __cbuf__ T* src, uint16_t k_extension, uint16_t m_extension,               \
        uint16_t k_start, uint16_t m_start, uint8_t stride_w, uint8_t stride_h, uint8_t filter_w, \
        uint8_t filter_h, uint8_t dilation_w, uint8_t dilation_h, bool wide_filter_w,             \
        bool wide_filter_h, bool transpose, bool from_b, uint16_t channels);
DAV_IMG2COL(int8_t)
DAV_IMG2COL(uint8_t)
DAV_IMG2COL(half)
DAV_IMG2COL(bfloat16_t)
DAV_IMG2COL(float)
DAV_IMG2COL(int32_t)
DAV_IMG2COL(uint32_t)
#undef DAV_IMG2COL
void img2colv2_cbuf_to_ca_s4(__ca__ void* dst, __cbuf__ void* src, uint16_t k_extension,
                             uint16_t m_extension, uint16_t k_start, uint16_t m_start,
                             uint8_t stride_w, uint8_t stride_h, uint8_t filter_w, uint8_t filter_h,
                             uint8_t dilation_w, uint8_t dilation_h, bool wide_filter_w,
                             bool wide_filter_h, bool transpose, bool from_b, uint16_t channels);
void set_fmatrix(uint64_t config);
void set_fmatrix_b(uint64_t config);
void set_padding(uint64_t value);
void set_l3d_rpt(uint64_t config);
void set_l1_3d_size(uint64_t value);

// --- fills: `config` is repeats | blocks << 16 | gap << 32; a block has 32 bytes in L1, 512 in L0.
#define DAV_FILL(name, qualifier)                                       \
    void name(qualifier half* dst, int64_t config, half value);         \
    void name(qualifier bfloat16_t* dst, int64_t config, half value);   \
    void name(qualifier int16_t* dst, int64_t config, half value);      \
    void name(qualifier uint16_t* dst, int64_t config, half value);     \
    void name(qualifier float* dst, int64_t config, uint32_t value);    \
    void name(qualifier int32_t* dst, int64_t config, uint32_t value);  \
    void name(qualifier uint32_t* dst, int64_t config, uint32_t value); \
    void name##_bf16(qualifier bfloat16_t* dst, int64_t config, bfloat16_t value);
DAV_FILL(create_cbuf_matrix, __cbuf__)
DAV_FILL(create_ca_matrix, __ca__)
DAV_FILL(create_cb_matrix, __cb__)
#undef DAV_FILL
void set_l0_set_value_h(half value);
void set_l0_set_value_bf16(bfloat16_t value);

// --- L1 to the bias table (MTE1; bursts of 64 bytes, `convert`: half to float) and to the fixpipe
// buffer (FIX; bursts of 128 bytes), and L1 back to GM (MTE3).
void copy_cbuf_to_bt(uint64_t dst, __cbuf__ void* src, uint16_t convert, uint16_t bursts,
                     uint16_t length, uint16_t src_gap, uint16_t dst_gap);
void copy_cbuf_to_fbuf(__fbuf__ void* dst, __cbuf__ void* src, uint16_t bursts, uint16_t length,
                       uint16_t src_gap, uint16_t dst_gap);
// L1 to L0C (MTE1), lengths and gaps in 32-byte blocks.
#define DAV_CBUF_TO_CC(T)                                                                         \
    void copy_matrix_cbuf_to_cc(__cc__ T* dst, __cbuf__ T* src, uint16_t bursts, uint16_t length, \
                                uint16_t src_gap, uint16_t dst_gap);
DAV_CBUF_TO_CC(half)
DAV_CBUF_TO_CC(bfloat16_t)
DAV_CBUF_TO_CC(float)
DAV_CBUF_TO_CC(int32_t)
DAV_CBUF_TO_CC(uint32_t)
#undef DAV_CBUF_TO_CC
void copy_cbuf_to_gm(__gm__ void* dst, __cbuf__ void* src, uint8_t sid, uint16_t bursts,
                     uint16_t length, uint16_t src_gap, uint16_t dst_gap);

// --- the cube (pipe M): C = A·B, or C += A·B unless `zero_first`; with `from_bias` C starts from
// the bias table. Sums run over k in ascending order, one rounding to binary32 a step.
#define DAV_MAD(TC, TA)                                                                       \
    void mad(__cc__ TC* c, __ca__ TA* a, __cb__ TA* b, uint16_t m, uint16_t k, uint16_t n,    \
             uint8_t unit_flag, bool align_k, bool from_bias, bool zero_first);               \
    void mad(__cc__ TC* c, __ca__ TA* a, __cb__ TA* b, uint64_t bias, uint16_t m, uint16_t k, \
             uint16_t n, uint8_t unit_flag, bool align_k, bool from_bias, bool zero_first);
DAV_MAD(float, half)
DAV_MAD(float, bfloat16_t)
DAV_MAD(float, float)
DAV_MAD(int32_t, int8_t)
#undef DAV_MAD
void mad_s4(__cc__ int32_t* c, __ca__ void* a, __cb__ void* b, uint16_t m, uint16_t k, uint16_t n,
            uint8_t unit_flag, bool align_k, bool from_bias, bool zero_first);
// B holds two of every four values along k; load_cbuf_to_cb_sp brings them and their indices
// (source: the address of the values in the lower 32 bits, of the indices in the upper).
void mad_sp(__cc__ int32_t* c, __ca__ int8_t* a, __cb__ int8_t* b, uint16_t m, uint16_t k,
            uint16_t n, uint8_t unit_flag, bool from_bias, bool zero_first);
void load_cbuf_to_cb_sp(__cb__ int8_t* dst, __cbuf__ int8_t* src, uint16_t start, uint8_t repeats);
void load_cbuf_to_cb_sp(__cb__ int8_t* dst, __cbuf__ int8_t* src, uint64_t config);

// --- the fixpipe (pipe FIX): n × m of L0C to GM or L1, converted on the way. `src_stride` between
// fractal columns in rows of 16 elements; `dst_stride` in 32-byte blocks between fractal columns,
// or (row_major) in elements between rows.
#define DAV_FIXPIPE(TO, TC)                                                                        \
    void copy_matrix_cc_to_gm(__gm__ TO* dst, __cc__ TC* src, uint8_t sid, uint16_t n, uint16_t m, \
                              uint32_t dst_stride, uint16_t src_stride, uint8_t unit_flag,         \
                              QuantMode_t quantize, uint8_t relu, bool split_channels,             \
                              bool row_major);                                                     \
    void copy_matrix_cc_to_cbuf(__cbuf__ TO* dst, __cc__ TC* src, uint8_t sid, uint16_t n,         \
                                uint16_t m, uint32_t dst_stride, uint16_t src_stride,              \
                                uint8_t unit_flag, QuantMode_t quantize, uint8_t relu,             \
                                bool split_channels, bool row_major);
DAV_FIXPIPE(float, float)
DAV_FIXPIPE(half, float)
DAV_FIXPIPE(bfloat16_t, float)
DAV_FIXPIPE(int8_t, float)
DAV_FIXPIPE(uint8_t, float)
DAV_FIXPIPE(int32_t, int32_t)
DAV_FIXPIPE(half, int32_t)
DAV_FIXPIPE(int8_t, int32_t)
DAV_FIXPIPE(uint8_t, int32_t)
DAV_FIXPIPE(int16_t, int32_t)
#undef DAV_FIXPIPE
void set_quant_pre(uint64_t value);
void set_fpc(uint64_t config);
void set_nd_para(uint64_t config);
void set_lrelu_alpha(uint64_t value);
