// Copies between global memory and L1, and from L1 to the small tables.
#include <algorithm>
#include <cstring>

#include "atomic.h"
#include "constants.h"
#include "conflicts.h"
#include "cube.h"
#include "gm.h"
#include "intrinsics_cube.h"

namespace dav {
namespace {

void issue_nothing(int pipe, const char* mnemonic, const void* site) {
    CubeIssue nothing(pipe, mnemonic, site);
    nothing.book(Formula::NOTHING);
}

}  // namespace

void nd_to_nz(const char* mnemonic, void* dst, void* src, const NdToNz& shape, const void* site) {
    if (passed_over(mnemonic, site)) return;
    if (shape.matrices == 0 || shape.rows == 0 || shape.row_bytes == 0)
        return issue_nothing(MTE2, mnemonic, site);
    const uint32_t columns = divide_up(shape.row_bytes, BLOCK_BYTES);
    for (uint32_t matrix = 0; matrix < shape.matrices; ++matrix) {
        auto* to_address = static_cast<uint8_t*>(dst) + uint64_t(matrix) * shape.dst_matrix_stride;
        auto* from = static_cast<uint8_t*>(behind_l2(src));
        from += uint64_t(matrix) * shape.src_matrix_stride;
        CubeIssue copy(MTE2, mnemonic, site);
        const bool one = shape.rows == 1;
        const Transfer span{reinterpret_cast<uint64_t>(from),
                            one ? shape.row_bytes : shape.src_row_stride,
                            shape.row_bytes,
                            shape.rows,
                            false,
                            false,
                            Port::TO_L1};
        // The target's rows of 32 bytes: a fractal column is dense when its rows follow each other.
        const bool dense = shape.dst_row_stride == BLOCK_BYTES;
        const uint32_t extent = (shape.rows - 1) * shape.dst_row_stride + BLOCK_BYTES;
        uint8_t* to = nullptr;
        if (dense) {
            to = copy.write(Memory::L1, to_address, {extent, columns, shape.dst_c0_stride},
                            BLOCK_BYTES, dst);
        } else {
            // Rows apart: the whole extent counts as written, in one piece.
            to = copy.write(Memory::L1, to_address, {(columns - 1) * shape.dst_c0_stride + extent},
                            BLOCK_BYTES, dst);
        }
        copy.global(span);
        copy.book_transfer();
        for (uint32_t row = 0; row < shape.rows; ++row) {
            const uint8_t* line = from + uint64_t(row) * shape.src_row_stride;
            uint8_t* place = to + uint64_t(row) * shape.dst_row_stride;
            uint32_t left = shape.row_bytes;
            for (uint32_t column = 0; column < columns; ++column) {
                const uint32_t bytes = std::min(left, BLOCK_BYTES);
                std::memcpy(place, line, bytes);
                if (bytes < BLOCK_BYTES) std::memset(place + bytes, 0, BLOCK_BYTES - bytes);
                place += shape.dst_c0_stride;
                line += BLOCK_BYTES;
                left -= bytes;
            }
        }
        note_shared(span, false, site);
    }
}

}  // namespace dav

using namespace dav;

void copy_gm_to_cbuf(__cbuf__ void* dst, __gm__ void* src, int8_t, uint16_t bursts, uint16_t length,
                     uint16_t src_gap, uint16_t dst_gap, pad_t) {
    const void* site = __builtin_return_address(0);
    const char* const mnemonic = "copy_gm_to_cbuf";
    if (passed_over(mnemonic, site)) return;
    if (bursts == 0 || length == 0) return issue_nothing(MTE2, mnemonic, site);
    CubeIssue copy(MTE2, mnemonic, site);
    src = behind_l2(src);
    const uint32_t bytes = length * BLOCK_BYTES;
    const uint64_t src_stride = bytes + uint64_t(src_gap) * BLOCK_BYTES;
    const uint32_t dst_stride = bytes + dst_gap * BLOCK_BYTES;
    const Transfer span{
        reinterpret_cast<uint64_t>(src), src_stride, bytes, bursts, false, false, Port::TO_L1};
    uint8_t* to = copy.write(Memory::L1, dst, {bytes, bursts, dst_stride}, BLOCK_BYTES);
    copy.global(span);
    copy.book_transfer();
    for (uint32_t burst = 0; burst < bursts; ++burst)
        std::memcpy(to + uint64_t(burst) * dst_stride,
                    static_cast<uint8_t*>(src) + burst * src_stride, bytes);
    note_shared(span, false, site);
}

#define DAV_ND2NZ(suffix, T)                                                                       \
    void copy_gm_to_cbuf_multi_nd2nz_##suffix(                                                     \
        __cbuf__ T* dst, __gm__ T* src, uint8_t, uint16_t matrices, uint16_t rows,                 \
        uint16_t columns, uint16_t src_matrix_stride, uint16_t src_row_stride,                     \
        uint16_t dst_c0_stride, uint16_t dst_row_stride, uint16_t dst_matrix_stride) {             \
        constexpr uint32_t SIZE = sizeof(T);                                                       \
        nd_to_nz(                                                                                  \
            "copy_gm_to_cbuf_multi_nd2nz_" #suffix, dst, src,                                      \
            {matrices, rows, columns * SIZE, src_matrix_stride * SIZE, src_row_stride * SIZE,      \
             dst_c0_stride * BLOCK_BYTES, dst_row_stride * BLOCK_BYTES, dst_matrix_stride * SIZE}, \
            __builtin_return_address(0));                                                          \
    }
DAV_ND2NZ(b8, int8_t)
DAV_ND2NZ(b8, uint8_t)
DAV_ND2NZ(b16, half)
DAV_ND2NZ(b16, bfloat16_t)
DAV_ND2NZ(b16, int16_t)
DAV_ND2NZ(b16, uint16_t)
DAV_ND2NZ(b32s, float)
DAV_ND2NZ(b32s, int32_t)
DAV_ND2NZ(b32s, uint32_t)

void copy_cbuf_to_bt(uint64_t dst, __cbuf__ void* src, uint16_t convert, uint16_t bursts,
                     uint16_t length, uint16_t src_gap, uint16_t dst_gap) {
    const void* site = __builtin_return_address(0);
    const char* const mnemonic = "copy_cbuf_to_bt";
    constexpr uint32_t UNIT = 64;  // bytes that a step of length fills of the table
    if (passed_over(mnemonic, site)) return;
    if (bursts == 0 || length == 0) return issue_nothing(MTE1, mnemonic, site);
    CubeIssue copy(MTE1, mnemonic, site);
    const uint32_t filled = length * UNIT;
    const uint32_t taken = convert ? filled / 2 : filled;
    const uint32_t src_stride = taken + src_gap * BLOCK_BYTES;
    const uint32_t dst_stride = filled + dst_gap * UNIT;
    const uint8_t* from = copy.read(Memory::L1, src, {taken, bursts, src_stride}, BLOCK_BYTES);
    uint8_t* to =
        copy.write(Memory::BIAS, reinterpret_cast<void*>(dst), {filled, bursts, dst_stride}, UNIT);
    copy.book(Formula::LOAD_BIAS, uint64_t(filled) * bursts);
    for (uint32_t burst = 0; burst < bursts; ++burst) {
        uint8_t* place = to + burst * dst_stride;
        const uint8_t* data = from + burst * src_stride;
        if (!convert) {
            std::memcpy(place, data, filled);
            continue;
        }
        for (uint32_t i = 0; i < filled / 4; ++i)
            reinterpret_cast<float*>(place)[i] =
                static_cast<float>(reinterpret_cast<const half*>(data)[i]);
    }
}

void copy_cbuf_to_fbuf(__fbuf__ void* dst, __cbuf__ void* src, uint16_t bursts, uint16_t length,
                       uint16_t src_gap, uint16_t dst_gap) {
    const void* site = __builtin_return_address(0);
    const char* const mnemonic = "copy_cbuf_to_fbuf";
    constexpr uint32_t UNIT = 128;
    if (passed_over(mnemonic, site)) return;
    if (bursts == 0 || length == 0) return issue_nothing(FIX, mnemonic, site);
    CubeIssue copy(FIX, mnemonic, site);
    const uint32_t bytes = length * UNIT;
    const uint32_t src_stride = bytes + src_gap * BLOCK_BYTES;
    const uint32_t dst_stride = bytes + dst_gap * UNIT;
    const uint8_t* from = copy.read(Memory::L1, src, {bytes, bursts, src_stride}, BLOCK_BYTES);
    uint8_t* to = copy.write(Memory::FIXBUF, dst, {bytes, bursts, dst_stride}, UNIT);
    copy.book(Formula::LOAD_FIXBUF, uint64_t(bytes) * bursts);
    for (uint32_t burst = 0; burst < bursts; ++burst)
        std::memcpy(to + burst * dst_stride, from + burst * src_stride, bytes);
}

void copy_cbuf_to_gm(__gm__ void* dst, __cbuf__ void* src, uint8_t, uint16_t bursts,
                     uint16_t length, uint16_t src_gap, uint16_t dst_gap) {
    const void* site = __builtin_return_address(0);
    const char* const mnemonic = "copy_cbuf_to_gm";
    if (passed_over(mnemonic, site)) return;
    if (bursts == 0 || length == 0) return issue_nothing(MTE3, mnemonic, site);
    CubeIssue copy(MTE3, mnemonic, site);
    dst = behind_l2(dst);
    const uint32_t bytes = length * BLOCK_BYTES;
    const uint32_t src_stride = bytes + src_gap * BLOCK_BYTES;
    const uint64_t dst_stride = bytes + uint64_t(dst_gap) * BLOCK_BYTES;
    const Transfer span{
        reinterpret_cast<uint64_t>(dst), dst_stride, bytes, bursts, true, false, Port::FROM_UB};
    const uint8_t* from = copy.read(Memory::L1, src, {bytes, bursts, src_stride}, BLOCK_BYTES);
    copy.global(span);
    copy.book_transfer();
    bool changed = false;
    for (uint32_t burst = 0; burst < bursts; ++burst) {
        uint8_t* place = static_cast<uint8_t*>(dst) + burst * dst_stride;
        const uint8_t* data = from + uint64_t(burst) * src_stride;
        if (std::memcmp(place, data, bytes) == 0) continue;
        changed = true;
        std::memcpy(place, data, bytes);
    }
    note_shared(span, changed, site);
}
