// Instructions that rearrange elements: transposes of small matrices and of images.
//
// Assumption: none of them obeys the mask or counter mode.
// What the documentation says of scatter_vnchwconv and is easily missed: with a single iteration
// the first addresses already have the repeat strides added.
#include <vector>

#include "vector_lanes.h"

using namespace dav;

namespace {

constexpr unsigned ROWS = 16;

// Sixteen block addresses, in two neighbouring address registers.
struct AddressList {
    const uint8_t* pointer[ROWS];
    explicit AddressList(ub_addr8_t reg) {
        const VectorState& state = vector_state();
        for (unsigned i = 0; i < ROWS; i++)
            pointer[i] =
                reinterpret_cast<const uint8_t*>(state.va_address[(reg + i / 8) % 8][i % 8]);
    }
    void append_to(std::vector<VectorOperand>& operands, uint32_t first, uint32_t repeat_stride,
                   bool write) const {
        for (const uint8_t* address : pointer) {
            VectorOperand operand{};
            operand.address = address + size_t(first) * BLOCK_BYTES;
            operand.blocks = 1;
            operand.repeat_stride = repeat_stride;
            operand.write = write;
            operands.push_back(operand);
        }
    }
};

// One block of sixteen rows in, columns out: `place(row, column)` says where an element goes, as
// (block of the destination list, element in it).
template <class T, class Place>
void transpose_blocks(const char* dtype, ub_addr8_t dst, ub_addr8_t src, uint32_t repeat,
                      uint32_t dst_repeat, uint32_t src_repeat, unsigned first_column,
                      unsigned columns, Place place, void* site) {
    const AddressList to(dst), from(src);
    const uint32_t dst_start = repeat == 1 ? dst_repeat : 0;
    const uint32_t src_start = repeat == 1 ? src_repeat : 0;
    std::vector<VectorOperand> operands;
    to.append_to(operands, dst_start, dst_repeat, true);
    from.append_to(operands, src_start, src_repeat, false);
    issue_vector("scatter_vnchwconv", dtype, repeat, operands.data(),
                 repeat ? static_cast<int>(operands.size()) : 0, site);
    for (uint32_t r = 0; r < repeat; r++) {
        T rows[ROWS][BLOCK_BYTES / sizeof(T)];
        for (unsigned row = 0; row < ROWS; row++)
            std::memcpy(
                rows[row],
                ub_address(from.pointer[row]) + (size_t(r) * src_repeat + src_start) * BLOCK_BYTES,
                BLOCK_BYTES);
        for (unsigned column = 0; column < columns; column++)
            for (unsigned row = 0; row < ROWS; row++) {
                const auto [block, element] = place(row, column);
                std::memcpy(ub_address(to.pointer[block]) +
                                (size_t(r) * dst_repeat + dst_start) * BLOCK_BYTES +
                                element * sizeof(T),
                            &rows[row][first_column + column], sizeof(T));
            }
    }
}

struct Place {
    unsigned block, element;
};

VectorOperand region(const void* address, uint32_t bytes, bool write) {
    VectorOperand operand{};
    operand.address = address;
    operand.span = bytes;
    operand.write = write;
    return operand;
}

template <class T> void transpose_16x16(T* dst, T* src, void* site) {
    const VectorOperand operands[] = {region(dst, 16 * 16 * sizeof(T), true),
                                      region(src, 16 * 16 * sizeof(T), false)};
    issue_vector("vtranspose", "b16", 1, operands, 2, site);
    T in[16][16], out[16][16];
    std::memcpy(in, ub_address(src), sizeof(in));
    for (unsigned i = 0; i < 16; i++)
        for (unsigned j = 0; j < 16; j++) out[j][i] = in[i][j];
    std::memcpy(ub_address(dst), out, sizeof(out));
}

template <class T>
void transpose_image(T* dst, T* src, uint32_t pixels, uint32_t channels, bool to_nchw, void* site) {
    const uint32_t elements = pixels * channels;
    const uint32_t bytes = elements * sizeof(T);
    const VectorOperand operands[] = {region(dst, bytes, true), region(src, bytes, false)};
    issue_vector("v4dtrans",
                 sizeof(T) == 1   ? "b8"
                 : sizeof(T) == 2 ? "b16"
                                  : "b32",
                 (bytes + REPEAT_BYTES - 1) / REPEAT_BYTES, operands, bytes ? 2 : 0, site);
    if (bytes == 0) return;
    std::vector<T> in(elements), out(elements);
    std::memcpy(in.data(), ub_address(src), bytes);
    for (uint32_t p = 0; p < pixels; p++)
        for (uint32_t c = 0; c < channels; c++) {
            const size_t nchw = size_t(c) * pixels + p, nhwc = size_t(p) * channels + c;
            out[to_nchw ? nchw : nhwc] = in[to_nchw ? nhwc : nchw];
        }
    std::memcpy(ub_address(dst), out.data(), bytes);
}

}  // namespace

void scatter_vnchwconv_b16(ub_addr8_t dst, ub_addr8_t src, uint8_t repeat, uint16_t dst_repeat,
                           uint16_t src_repeat) {
    transpose_blocks<uint16_t>(
        "b16", dst, src, repeat, dst_repeat, src_repeat, 0, 16,
        [](unsigned row, unsigned column) { return Place{column, row}; }, DAV_SITE);
}

// A block holds eight 32-bit elements, so a column of sixteen fills two destination blocks.
void scatter_vnchwconv_b32(ub_addr8_t dst, ub_addr8_t src, uint8_t repeat, uint16_t dst_repeat,
                           uint16_t src_repeat) {
    transpose_blocks<uint32_t>(
        "b32", dst, src, repeat, dst_repeat, src_repeat, 0, 8,
        [](unsigned row, unsigned column) { return Place{2 * column + row / 8, row % 8}; },
        DAV_SITE);
}

// A block holds 32 bytes: half of the columns are taken, into half of each destination block.
void scatter_vnchwconv_b8(ub_addr8_t dst, ub_addr8_t src, uint8_t repeat, uint16_t dst_repeat,
                          uint16_t src_repeat, bool dst_high_half, bool src_high_half) {
    const unsigned upper = dst_high_half ? 16 : 0;
    transpose_blocks<uint8_t>(
        "b8", dst, src, repeat, dst_repeat, src_repeat, src_high_half ? 16 : 0, 16,
        [upper](unsigned row, unsigned column) { return Place{column, upper + row}; }, DAV_SITE);
}

void vtranspose(uint16_t* dst, uint16_t* src) { transpose_16x16(dst, src, DAV_SITE); }
void vtranspose(int16_t* dst, int16_t* src) { transpose_16x16(dst, src, DAV_SITE); }

#define IMAGE(T)                                                                      \
    void v4dtrans(T* dst, T* src, uint32_t pixels, uint16_t channels, bool to_nchw) { \
        transpose_image(dst, src, pixels, channels, to_nchw, DAV_SITE);               \
    }
IMAGE(uint8_t)
IMAGE(uint16_t)
IMAGE(uint32_t)
