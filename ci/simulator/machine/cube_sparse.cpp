// Products with a right-hand side of which two of four values along k are kept (4:2 sparsity).
//
// L0B holds the kept values as Zn; a buffer beside it holds two bits for each, which of the first
// three (of the last three) of its group of four the first (the second) one was. L0A holds all of
// A.
#include <algorithm>
#include <cstring>

#include "constants.h"
#include "cube.h"
#include "intrinsics_cube.h"

namespace dav {
namespace {

constexpr uint32_t C0 = 32;            // 8-bit values in a row of a fractal
constexpr uint32_t INDEX_BYTES = 128;  // of indices, for a fractal of kept values
constexpr uint32_t KEPT = 2;           // of a group
constexpr uint32_t GROUP = 4;

uint8_t* index_buffer() {
    std::vector<uint8_t>& indices = cube_state().sparse_indices;
    indices.resize(place_of(Memory::L0B).bytes / FRACTAL_BYTES * INDEX_BYTES);
    return indices.data();
}

// Which two of a group of four values the two indices choose.
void choose(uint32_t first, uint32_t second, uint32_t& low, uint32_t& high) {
    low = std::min(first, GROUP - 2);
    // Without a second value the indices point at the first one twice.
    high = std::max(low, std::min(second, GROUP - 2) + 1);
}

void load(int8_t* dst, int8_t* src, uint16_t start, uint8_t repeats, const void* site) {
    const char* const mnemonic = "load_cbuf_to_cb_sp";
    if (passed_over(mnemonic, site)) return;
    CubeIssue load(MTE1, mnemonic, site);
    if (repeats == 0) {
        load.book(Formula::NOTHING);
        return;
    }
    // The lower half of the source is the address of the values, the upper that of the indices.
    const uint64_t both = reinterpret_cast<uint64_t>(src);
    const uint64_t values = (both & 0xffffffff) + uint64_t(start) * FRACTAL_BYTES;
    const uint64_t indices = (both >> 32) + uint64_t(start) * INDEX_BYTES;
    const uint8_t* from = load.read(Memory::L1, reinterpret_cast<void*>(values),
                                    {repeats * FRACTAL_BYTES}, BLOCK_BYTES);
    const uint8_t* from_indices = load.read(Memory::L1, reinterpret_cast<void*>(indices),
                                            {repeats * INDEX_BYTES}, BLOCK_BYTES);
    uint8_t* to = load.write(Memory::L0B, dst, {repeats * FRACTAL_BYTES}, FRACTAL_BYTES);
    load.book(Formula::LOAD_B, repeats * (FRACTAL_BYTES + INDEX_BYTES));
    std::memcpy(to, from, repeats * FRACTAL_BYTES);
    const auto at = static_cast<uint32_t>(to - current->ub) - place_of(Memory::L0B).start;
    std::memcpy(index_buffer() + at / FRACTAL_BYTES * INDEX_BYTES, from_indices,
                repeats * INDEX_BYTES);
}

struct Product {
    uint32_t m, k, n;
};

void multiply(const Product& product, int32_t* c, const int8_t* a, const int8_t* b,
              const uint8_t* indices) {
    const uint32_t k_blocks = divide_up(product.k, C0);
    const uint32_t panels = divide_up(product.n, FRACTAL_ROWS);
    const uint32_t padded = divide_up(product.m, FRACTAL_ROWS) * FRACTAL_ROWS;
    for (uint32_t column = 0; column < product.n; ++column)
        for (uint32_t kept = 0; kept < divide_up(product.k, GROUP) * KEPT; kept += KEPT) {
            const uint32_t fractal = kept / C0 * panels + column / FRACTAL_ROWS;
            const uint32_t row_of_b = fractal * FRACTAL_ROWS + column % FRACTAL_ROWS;
            const int8_t* values = b + row_of_b * C0 + kept % C0;
            const uint8_t bits = indices[(row_of_b * C0 + kept % C0) / 4] >> 2 * (kept % 4);
            uint32_t low = 0;
            uint32_t high = 0;
            choose(bits & 3, bits >> 2 & 3, low, high);
            const uint32_t first = kept / KEPT * GROUP;
            for (uint32_t row = 0; row < product.m; ++row) {
                const auto of_a = [&](uint32_t k) -> int32_t {
                    if (k >= product.k) return 0;
                    const uint32_t place = row / FRACTAL_ROWS * k_blocks + k / C0;
                    return a[(place * FRACTAL_ROWS + row % FRACTAL_ROWS) * C0 + k % C0];
                };
                int32_t& sum = c[(column / FRACTAL_ROWS * padded + row) * FRACTAL_ROWS +
                                 column % FRACTAL_ROWS];
                const int32_t more = of_a(first + low) * values[0] + of_a(first + high) * values[1];
                sum = static_cast<int32_t>(uint32_t(sum) + uint32_t(more));
            }
        }
}

}  // namespace
}  // namespace dav

using namespace dav;

void load_cbuf_to_cb_sp(__cb__ int8_t* dst, __cbuf__ int8_t* src, uint16_t start, uint8_t repeats) {
    load(dst, src, start, repeats, __builtin_return_address(0));
}

void load_cbuf_to_cb_sp(__cb__ int8_t* dst, __cbuf__ int8_t* src, uint64_t config) {
    load(dst, src, static_cast<uint16_t>(config), static_cast<uint8_t>(config >> 16),
         __builtin_return_address(0));
}

void mad_sp(__cc__ int32_t* c, __ca__ int8_t* a, __cb__ int8_t* b, uint16_t m, uint16_t k,
            uint16_t n, uint8_t unit_flag, bool from_bias, bool zero_first) {
    const void* site = __builtin_return_address(0);
    if (passed_over("mad_sp", site)) return;
    CubeIssue cube(M, "mad_sp", site);
    if (m == 0 || k == 0 || n == 0) {
        cube.book(Formula::NOTHING);
        return;
    }
    const uint32_t rows = divide_up(m, FRACTAL_ROWS);
    const uint32_t panels = divide_up(n, FRACTAL_ROWS);
    const uint32_t kept_blocks = divide_up(k, C0 * GROUP / KEPT);
    // The bias's address is the upper half of C's.
    const uint64_t target = reinterpret_cast<uint64_t>(c);
    void* result = reinterpret_cast<void*>(target & 0xffffffff);
    const uint8_t* of_a =
        cube.read(Memory::L0A, a, {rows * divide_up(k, C0) * FRACTAL_BYTES}, FRACTAL_BYTES);
    const uint8_t* of_b =
        cube.read(Memory::L0B, b, {kept_blocks * panels * FRACTAL_BYTES}, FRACTAL_BYTES);
    const Pieces sums{rows * panels * 2 * FRACTAL_BYTES};
    cube.hazards().unit_flag(unit_flag != 0);
    const uint8_t* bias = nullptr;
    if (from_bias)
        bias = cube.read(Memory::BIAS, reinterpret_cast<void*>(target >> 32),
                         {panels * FRACTAL_ROWS * 4}, 64);
    else if (!zero_first)
        cube.read(Memory::L0C, result, sums, 64);
    uint8_t* to = cube.write(Memory::L0C, result, sums, 64);
    cube.book(Formula::CUBE, rows * panels * kept_blocks);
    auto* values = reinterpret_cast<int32_t*>(to);
    const uint32_t padded = rows * FRACTAL_ROWS;
    for (uint32_t at = 0; at < panels * padded && (from_bias || zero_first); ++at) {
        int32_t* row = values + at * FRACTAL_ROWS;
        if (at % padded >= m) continue;
        if (bias != nullptr)
            std::memcpy(row, bias + at / padded * FRACTAL_ROWS * 4, FRACTAL_ROWS * 4);
        else
            std::fill(row, row + FRACTAL_ROWS, 0);
    }
    const auto fractal =
        (static_cast<uint32_t>(of_b - current->ub) - place_of(Memory::L0B).start) / FRACTAL_BYTES;
    multiply({m, k, n}, values, reinterpret_cast<const int8_t*>(of_a),
             reinterpret_cast<const int8_t*>(of_b), index_buffer() + fractal * INDEX_BYTES);
}
