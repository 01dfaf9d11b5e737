// Fractals from L1 (or GM) to L0A and L0B, fills, and copies into the small tables.
#include <algorithm>
#include <cstring>

#include "constants.h"
#include "conflicts.h"
#include "cube.h"
#include "gm.h"
#include "intrinsics_cube.h"

namespace dav {
namespace {

Formula load_to(Memory memory) { return memory == Memory::L0B ? Formula::LOAD_B : Formula::LOAD_A; }

void issue_nothing(int pipe, const char* mnemonic, const void* site) {
    CubeIssue nothing(pipe, mnemonic, site);
    nothing.book(Formula::NOTHING);
}

// `repeats` pieces of `piece` bytes, from `src_stride` apart to `dst_stride` apart (bytes). `dec`:
// the source goes down from the first piece.
struct Walk {
    uint32_t repeats;
    uint32_t piece;
    uint32_t src_stride;
    uint32_t dst_stride;
    addr_cal_mode_t mode;
};

// `move(to, from)` makes one piece.
template <typename Move>
void load_local(const char* mnemonic, Memory memory, void* dst, void* src, uint32_t start,
                const Walk& walk, uint32_t dst_fractals, uint32_t fractal_stride, const void* site,
                Move move) {
    if (passed_over(mnemonic, site)) return;
    if (walk.repeats == 0) return issue_nothing(MTE1, mnemonic, site);
    CubeIssue load(MTE1, mnemonic, site);
    const bool down = walk.mode == dec;
    const uint64_t last = uint64_t(walk.repeats - 1) * walk.src_stride;
    const auto* from_address =
        static_cast<uint8_t*>(src) + uint64_t(start) * walk.piece - (down ? last : 0);
    uint8_t* from = load.read(
        Memory::L1, from_address,
        {walk.piece, walk.src_stride == 0 ? 1 : walk.repeats, walk.src_stride}, BLOCK_BYTES, src);
    uint8_t* to = nullptr;
    for (uint32_t part = dst_fractals; part-- > 0;)
        to = load.write(memory, static_cast<uint8_t*>(dst) + part * fractal_stride,
                        {FRACTAL_BYTES, walk.repeats, walk.dst_stride}, FRACTAL_BYTES, dst);
    load.book(load_to(memory), uint64_t(walk.repeats) * walk.piece);
    for (uint32_t repeat = 0; repeat < walk.repeats; ++repeat)
        move(to + uint64_t(repeat) * walk.dst_stride,
             from + (down ? last - uint64_t(repeat) * walk.src_stride
                          : uint64_t(repeat) * walk.src_stride));
}

template <typename T> void transpose_square(T* to, const T* from, uint32_t size) {
    for (uint32_t row = 0; row < size; ++row)
        for (uint32_t column = 0; column < size; ++column)
            to[row * size + column] = from[column * size + row];
}

void load_2d(const char* mnemonic, Memory memory, void* dst, void* src, uint16_t start,
             uint8_t repeats, uint16_t src_stride, uint16_t dst_gap, addr_cal_mode_t mode,
             bool transpose, uint32_t element, const void* site) {
    const Walk walk{repeats, FRACTAL_BYTES, src_stride * FRACTAL_BYTES,
                    (dst_gap + 1u) * FRACTAL_BYTES, mode};
    if (transpose && element != 2)
        fail(Outcome::LAUNCH_ERROR, site, nullptr,
             "%s transposes fractals of 16-bit elements only, these have %u bytes.", mnemonic,
             element);
    if (transpose)
        load_local(mnemonic, memory, dst, src, start, walk, 1, 0, site,
                   [](uint8_t* to, const uint8_t* from) {
                       transpose_square(reinterpret_cast<uint16_t*>(to),
                                        reinterpret_cast<const uint16_t*>(from), FRACTAL_ROWS);
                   });
    else
        load_local(mnemonic, memory, dst, src, start, walk, 1, 0, site,
                   [](uint8_t* to, const uint8_t* from) { std::memcpy(to, from, FRACTAL_BYTES); });
}

// Square blocks transposed whole: 16 × 16 of 16 bits, 32 × 32 of 8 bits (two fractals), 64 × 64 of
// 4 bits (four), 16 × 16 of 32 bits from two fractals side by side.
template <typename T>
void load_transposed(const char* mnemonic, Memory memory, T* dst, T* src, uint16_t start,
                     uint8_t repeats, uint16_t src_stride, uint16_t dst_gap, addr_cal_mode_t mode,
                     uint16_t fractal_gap, const void* site) {
    constexpr uint32_t C0 = c0_of<T>();
    constexpr uint32_t SIZE = std::max(C0, FRACTAL_ROWS);
    constexpr uint32_t FRACTALS = SIZE * SIZE * sizeof(T) / FRACTAL_BYTES;
    const uint32_t fractal_stride = (fractal_gap + 1u) * FRACTAL_BYTES;
    const Walk walk{repeats, FRACTALS * FRACTAL_BYTES, src_stride * FRACTALS * FRACTAL_BYTES,
                    (dst_gap + 1u) * FRACTAL_BYTES, mode};
    load_local(
        mnemonic, memory, dst, src, start, walk, FRACTALS, fractal_stride, site,
        [&](uint8_t* to, const uint8_t* from) {
            // Row and column of the square; a fractal has 16 rows of C0.
            const auto* source = reinterpret_cast<const T*>(from);
            for (uint32_t row = 0; row < SIZE; ++row)
                for (uint32_t column = 0; column < SIZE; ++column) {
                    // For 32 bits the two source fractals stand side by side.
                    const uint32_t place =
                        sizeof(T) == 4 ? row * C0 + column % C0 + column / C0 * FRACTAL_ROWS * C0
                                       : row * C0 + column;
                    const uint32_t fractal = sizeof(T) == 4 ? row / C0 : column / FRACTAL_ROWS;
                    const uint32_t inner =
                        sizeof(T) == 4 ? column * C0 + row % C0 : column % FRACTAL_ROWS * C0 + row;
                    reinterpret_cast<T*>(to + fractal * fractal_stride)[inner] = source[place];
                }
        });
}

void load_from_gm(const char* mnemonic, Memory memory, void* dst, void* src, uint16_t start,
                  uint8_t repeats, uint16_t src_stride, uint16_t dst_gap, bool down,
                  const void* site) {
    if (passed_over(mnemonic, site)) return;
    if (repeats == 0) return issue_nothing(MTE2, mnemonic, site);
    CubeIssue load(MTE2, mnemonic, site);
    const uint64_t step = uint64_t(src_stride) * FRACTAL_BYTES;
    const auto* from = static_cast<uint8_t*>(behind_l2(src)) + uint64_t(start) * FRACTAL_BYTES;
    const auto* lowest = down ? from - (repeats - 1) * step : from;
    const uint32_t bursts = step == 0 ? 1 : repeats;
    const Transfer span{reinterpret_cast<uint64_t>(lowest),
                        step == 0 ? FRACTAL_BYTES : step,
                        FRACTAL_BYTES,
                        bursts,
                        false,
                        false,
                        Port::TO_L1};
    const uint32_t dst_stride = (dst_gap + 1u) * FRACTAL_BYTES;
    uint8_t* to = load.write(memory, dst, {FRACTAL_BYTES, repeats, dst_stride},
                             memory == Memory::L1 ? BLOCK_BYTES : FRACTAL_BYTES);
    load.global(span);
    load.book_transfer();
    for (uint32_t repeat = 0; repeat < repeats; ++repeat)
        std::memcpy(to + uint64_t(repeat) * dst_stride,
                    down ? from - repeat * step : from + repeat * step, FRACTAL_BYTES);
    note_shared(span, false, site);
}

// Fills `repeats` runs of `blocks` blocks with an element's bits.
void fill(const char* mnemonic, Memory memory, void* dst, int64_t config, uint32_t bits,
          uint32_t element, const void* site) {
    if (passed_over(mnemonic, site)) return;
    const auto repeats = static_cast<uint32_t>(config & 0x7fff);
    const auto blocks = static_cast<uint32_t>(config >> 16 & 0x7fff);
    const auto gap = static_cast<uint32_t>(config >> 32 & 0x7fff);
    const uint32_t block = memory == Memory::L1 ? BLOCK_BYTES : FRACTAL_BYTES;
    // L1 is filled by MTE2, the L0 memories by MTE1.
    const int pipe = memory == Memory::L1 ? MTE2 : MTE1;
    if (repeats == 0 || blocks == 0) return issue_nothing(pipe, mnemonic, site);
    CubeIssue issue(pipe, mnemonic, site);
    const uint32_t length = blocks * block;
    uint8_t* to = issue.write(memory, dst, {length, repeats, length + gap * block},
                              memory == Memory::L1 ? BLOCK_BYTES : FRACTAL_BYTES);
    issue.book(load_to(memory), uint64_t(length) * repeats);
    for (uint32_t repeat = 0; repeat < repeats; ++repeat)
        for (uint32_t at = 0; at < length; at += element)
            std::memcpy(to + uint64_t(repeat) * (length + gap * block) + at, &bits, element);
}

uint32_t bits_of(half value) {
    uint16_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    return bits;
}

// Bursts within the core; 32-byte blocks.
void l1_to_l0c(void* dst, void* src, uint32_t bursts, uint32_t length, uint32_t src_gap,
               uint32_t dst_gap, const void* site) {
    const char* const mnemonic = "copy_matrix_cbuf_to_cc";
    if (passed_over(mnemonic, site)) return;
    if (bursts == 0 || length == 0) return issue_nothing(MTE1, mnemonic, site);
    CubeIssue copy(MTE1, mnemonic, site);
    const uint32_t bytes = length * BLOCK_BYTES;
    const uint32_t from_stride = bytes + src_gap * BLOCK_BYTES;
    const uint32_t to_stride = bytes + dst_gap * BLOCK_BYTES;
    const uint8_t* from = copy.read(Memory::L1, src, {bytes, bursts, from_stride}, BLOCK_BYTES);
    uint8_t* to = copy.write(Memory::L0C, dst, {bytes, bursts, to_stride}, BLOCK_BYTES);
    // No figure of this path is published: it is taken to be as fast as that into L0B.
    copy.book(Formula::LOAD_B, uint64_t(bursts) * bytes);
    for (uint32_t burst = 0; burst < bursts; ++burst)
        std::memcpy(to + uint64_t(burst) * to_stride, from + uint64_t(burst) * from_stride, bytes);
}

}  // namespace
}  // namespace dav

using namespace dav;

#define DAV_LOAD_2D(T)                                                                             \
    void load_gm_to_cbuf(__cbuf__ T* dst, __gm__ T* src, uint16_t start, uint8_t repeats,          \
                         uint16_t src_stride, uint16_t dst_gap, uint8_t, addr_cal_mode_t mode) {   \
        load_from_gm("load_gm_to_cbuf", Memory::L1, dst, src, start, repeats, src_stride, dst_gap, \
                     mode == dec, __builtin_return_address(0));                                    \
    }                                                                                              \
    void load_gm_to_ca(__ca__ T* dst, __gm__ T* src, uint16_t start, uint8_t repeats,              \
                       uint16_t src_stride, uint16_t dst_gap, uint8_t, addr_cal_mode_t mode) {     \
        load_from_gm("load_gm_to_ca", Memory::L0A, dst, src, start, repeats, src_stride, dst_gap,  \
                     mode == dec, __builtin_return_address(0));                                    \
    }                                                                                              \
    void load_gm_to_cb(__cb__ T* dst, __gm__ T* src, uint16_t start, uint8_t repeats,              \
                       uint16_t src_stride, uint16_t dst_gap, uint8_t, addr_cal_mode_t mode) {     \
        load_from_gm("load_gm_to_cb", Memory::L0B, dst, src, start, repeats, src_stride, dst_gap,  \
                     mode == dec, __builtin_return_address(0));                                    \
    }                                                                                              \
    void load_cbuf_to_ca(__ca__ T* dst, __cbuf__ T* src, uint16_t start, uint8_t repeats,          \
                         uint16_t src_stride, uint16_t dst_gap, uint8_t, bool transpose,           \
                         addr_cal_mode_t mode) {                                                   \
        load_2d("load_cbuf_to_ca", Memory::L0A, dst, src, start, repeats, src_stride, dst_gap,     \
                mode, transpose, sizeof(T), __builtin_return_address(0));                          \
    }                                                                                              \
    void load_cbuf_to_cb(__cb__ T* dst, __cbuf__ T* src, uint16_t start, uint8_t repeats,          \
                         uint16_t src_stride, uint16_t dst_gap, uint8_t, bool transpose,           \
                         addr_cal_mode_t mode) {                                                   \
        load_2d("load_cbuf_to_cb", Memory::L0B, dst, src, start, repeats, src_stride, dst_gap,     \
                mode, transpose, sizeof(T), __builtin_return_address(0));                          \
    }                                                                                              \
    void load_cbuf_to_ca_transpose(__ca__ T* dst, __cbuf__ T* src, uint16_t start,                 \
                                   uint8_t repeats, uint16_t src_stride, uint16_t dst_gap,         \
                                   addr_cal_mode_t mode, uint16_t fractal_gap) {                   \
        load_transposed("load_cbuf_to_ca_transpose", Memory::L0A, dst, src, start, repeats,        \
                        src_stride, dst_gap, mode, fractal_gap, __builtin_return_address(0));      \
    }                                                                                              \
    void load_cbuf_to_cb_transpose(__cb__ T* dst, __cbuf__ T* src, uint16_t start,                 \
                                   uint8_t repeats, uint16_t src_stride, uint16_t dst_gap,         \
                                   addr_cal_mode_t mode, uint16_t fractal_gap) {                   \
        load_transposed("load_cbuf_to_cb_transpose", Memory::L0B, dst, src, start, repeats,        \
                        src_stride, dst_gap, mode, fractal_gap, __builtin_return_address(0));      \
    }
DAV_LOAD_2D(int8_t)
DAV_LOAD_2D(uint8_t)
DAV_LOAD_2D(half)
DAV_LOAD_2D(bfloat16_t)
DAV_LOAD_2D(float)
DAV_LOAD_2D(int32_t)
DAV_LOAD_2D(uint32_t)

void load_cbuf_to_ca_s4(__ca__ void* dst, __cbuf__ void* src, uint16_t start, uint8_t repeats,
                        uint16_t src_stride, uint16_t dst_gap, uint8_t, bool,
                        addr_cal_mode_t mode) {
    load_2d("load_cbuf_to_ca_s4", Memory::L0A, dst, src, start, repeats, src_stride, dst_gap, mode,
            false, 1, __builtin_return_address(0));
}
void load_cbuf_to_cb_s4(__cb__ void* dst, __cbuf__ void* src, uint16_t start, uint8_t repeats,
                        uint16_t src_stride, uint16_t dst_gap, uint8_t, bool,
                        addr_cal_mode_t mode) {
    load_2d("load_cbuf_to_cb_s4", Memory::L0B, dst, src, start, repeats, src_stride, dst_gap, mode,
            false, 1, __builtin_return_address(0));
}
void load_cbuf_to_cb_transpose_s4(__cb__ void* dst, __cbuf__ void* src, uint16_t start,
                                  uint8_t repeats, uint16_t src_stride, uint16_t dst_gap,
                                  addr_cal_mode_t mode, uint16_t fractal_gap) {
    constexpr uint32_t SIZE = 64;  // of the square, in elements
    constexpr uint32_t FRACTALS = SIZE * SIZE / 2 / FRACTAL_BYTES;
    const uint32_t fractal_stride = (fractal_gap + 1u) * FRACTAL_BYTES;
    const Walk walk{repeats, FRACTALS * FRACTAL_BYTES, src_stride * FRACTALS * FRACTAL_BYTES,
                    (dst_gap + 1u) * FRACTAL_BYTES, mode};
    load_local("load_cbuf_to_cb_transpose_s4", Memory::L0B, dst, src, start, walk, FRACTALS,
               fractal_stride, __builtin_return_address(0), [&](uint8_t* to, const uint8_t* from) {
                   for (uint32_t row = 0; row < SIZE; ++row)
                       for (uint32_t column = 0; column < SIZE; ++column) {
                           const uint8_t both = from[(row * SIZE + column) / 2];
                           const uint8_t value = column & 1 ? both >> 4 : both & 15;
                           uint8_t& place = to[column / FRACTAL_ROWS * fractal_stride +
                                               (column % FRACTAL_ROWS * SIZE + row) / 2];
                           place = static_cast<uint8_t>(row & 1 ? (place & 15) | value << 4
                                                                : (place & 0xf0) | value);
                       }
               });
}

#define DAV_FILL(name, memory)                                                            \
    void name(half* dst, int64_t config, half value) {                                    \
        fill(#name, memory, dst, config, bits_of(value), 2, __builtin_return_address(0)); \
    }                                                                                     \
    void name(bfloat16_t* dst, int64_t config, half value) {                              \
        fill(#name, memory, dst, config, bits_of(value), 2, __builtin_return_address(0)); \
    }                                                                                     \
    void name(int16_t* dst, int64_t config, half value) {                                 \
        fill(#name, memory, dst, config, bits_of(value), 2, __builtin_return_address(0)); \
    }                                                                                     \
    void name(uint16_t* dst, int64_t config, half value) {                                \
        fill(#name, memory, dst, config, bits_of(value), 2, __builtin_return_address(0)); \
    }                                                                                     \
    void name(float* dst, int64_t config, uint32_t value) {                               \
        fill(#name, memory, dst, config, value, 4, __builtin_return_address(0));          \
    }                                                                                     \
    void name(int32_t* dst, int64_t config, uint32_t value) {                             \
        fill(#name, memory, dst, config, value, 4, __builtin_return_address(0));          \
    }                                                                                     \
    void name(uint32_t* dst, int64_t config, uint32_t value) {                            \
        fill(#name, memory, dst, config, value, 4, __builtin_return_address(0));          \
    }                                                                                     \
    void name##_bf16(bfloat16_t* dst, int64_t config, bfloat16_t value) {                 \
        fill(#name, memory, dst, config, value.bits, 2, __builtin_return_address(0));     \
    }
DAV_FILL(create_cbuf_matrix, Memory::L1)
DAV_FILL(create_ca_matrix, Memory::L0A)
DAV_FILL(create_cb_matrix, Memory::L0B)

#define DAV_CBUF_TO_CC(T)                                                                         \
    void copy_matrix_cbuf_to_cc(__cc__ T* dst, __cbuf__ T* src, uint16_t bursts, uint16_t length, \
                                uint16_t src_gap, uint16_t dst_gap) {                             \
        l1_to_l0c(dst, src, bursts, length, src_gap, dst_gap, __builtin_return_address(0));       \
    }
DAV_CBUF_TO_CC(half)
DAV_CBUF_TO_CC(bfloat16_t)
DAV_CBUF_TO_CC(float)
DAV_CBUF_TO_CC(int32_t)
DAV_CBUF_TO_CC(uint32_t)
