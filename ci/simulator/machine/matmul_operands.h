// The operands of a product: copies into L1, as many base blocks at once as the tiling says, and
// from there into L0A and L0B.
#pragma once

#include <algorithm>

#include "intrinsics_cube.h"
#include "intrinsics_sync_copy.h"
#include "intrinsics_vector.h"
#include "matmul_state.h"

namespace dav {

constexpr uint32_t MATMUL_TABLE_BYTES = 8 * 1024;  // of L1, for bias and quantisation parameters

template <typename T> T* local(uint32_t offset) {
    return reinterpret_cast<T*>(static_cast<uintptr_t>(offset));
}

template <typename T> class MatmulOperands {
public:
    static constexpr uint32_t C0 = c0_of<T>();
    static constexpr uint32_t UNIT = std::max(C0, FRACTAL_ROWS);

    MatmulOperands(const DavMatmul& p, MatmulState& state, const void* site)
        : p_(p), state_(state), site_(site) {}

    static uint32_t tile_bytes(uint32_t rows, uint32_t columns) {
        return up(rows, UNIT) * up(columns, UNIT) * uint32_t(sizeof(T));
    }

    // Divides L1 between tiles of A and of B; keeps those that are good for this product too.
    void lay_out() {
        // Without large steps a copy brings one base block, and depth counts those.
        step_m_ = p_.large_steps ? std::max(1, p_.step_m) : 1;
        step_n_ = p_.large_steps ? std::max(1, p_.step_n) : 1;
        step_ka_ = p_.large_steps ? std::max(1, p_.step_ka) : 1;
        step_kb_ = p_.large_steps ? std::max(1, p_.step_kb) : 1;
        const uint32_t wide_a = step_m_ * p_.base_m, deep_a = step_ka_ * p_.base_k;
        const uint32_t wide_b = step_n_ * p_.base_n, deep_b = step_kb_ * p_.base_k;
        const uint32_t bytes_a = tile_bytes(wide_a, deep_a);
        const uint32_t bytes_b = tile_bytes(wide_b, deep_b);
        uint32_t slots_a = std::max(1u, uint32_t(p_.depth_a) / (step_m_ * step_ka_));
        uint32_t slots_b = std::max(1u, uint32_t(p_.depth_b) / (step_n_ * step_kb_));
        const bool tables = p_.bias != nullptr || p_.quantize != nullptr;
        const uint32_t first = tables ? MATMUL_TABLE_BYTES : 0;
        const uint32_t room = place_of(Memory::L1).bytes - first;
        while (slots_a * bytes_a + slots_b * bytes_b > room && slots_a + slots_b > 2) {
            if (slots_a > 1 && (slots_b == 1 || slots_a * bytes_a >= slots_b * bytes_b))
                --slots_a;
            else
                --slots_b;
        }
        if (bytes_a + bytes_b > room)
            fail(Outcome::LAUNCH_ERROR, site_, nullptr,
                 "The Matmul tiling's steps take %u bytes of A and %u of B; L1 has %u for them.",
                 bytes_a, bytes_b, room);
        const bool same = p_.follows && state_.owner == p_.owner;
        const uint32_t depth = p_.k;
        state_.a.lay({p_.a, uint32_t(p_.a_stride), p_.a_turned, p_.a_fractal, uint32_t(p_.m), depth,
                      wide_a, deep_a, first, bytes_a, slots_a},
                     same || p_.share_a);
        state_.b.lay({p_.b, uint32_t(p_.b_stride), p_.b_turned, p_.b_fractal, uint32_t(p_.n), depth,
                      wide_b, deep_b, first + slots_a * bytes_a, bytes_b, slots_b},
                     same || p_.share_b);
        state_.owner = p_.owner;
    }

    uint32_t step_kb() const { return step_kb_; }

    // A rectangle as stored; fractal columns when `fractal`, then `stride` is their rows.
    void load_tile(uint32_t to, const void* base, const Window& w, uint32_t stride, bool fractal) {
        const auto* from = static_cast<const uint8_t*>(base);
        const uint32_t padded = up(w.rows, UNIT);
        if (fractal) {
            for (uint32_t column = 0; column < w.columns; column += C0) {
                const uint64_t at =
                    (uint64_t((w.column + column) / C0) * stride + w.row) * BLOCK_BYTES;
                copy_gm_to_cbuf(local<void>(to + column / C0 * padded * BLOCK_BYTES),
                                const_cast<uint8_t*>(from + at), 0, 1,
                                static_cast<uint16_t>(w.rows), 0, 0, PAD_NONE);
            }
            return;
        }
        constexpr uint32_t SIZE = sizeof(T);
        const uint64_t at = (uint64_t(w.row) * stride + w.column) * SIZE;
        nd_to_nz(
            "copy_gm_to_cbuf_multi_nd2nz", local<void>(to), const_cast<uint8_t*>(from + at),
            {1, w.rows, w.columns * SIZE, 0, stride * SIZE, padded * BLOCK_BYTES, BLOCK_BYTES, 0},
            site_);
    }

    // A tile in L1: where, and which part of its matrix as stored.
    struct Held {
        uint32_t from;
        Window window;
        uint32_t first;  // row of the product's m (n), and where its k begins
        uint32_t first_k;
    };

    // The tile of A that holds this row and k, loaded unless it is there.
    Held tile_of_a(uint32_t m, uint32_t k) {
        const uint32_t tile_m = m / (step_m_ * p_.base_m) * (step_m_ * p_.base_m);
        const uint32_t tile_k = k / (step_ka_ * p_.base_k) * (step_ka_ * p_.base_k);
        const uint32_t tile_rows = std::min(step_m_ * p_.base_m, uint32_t(p_.m) - tile_m);
        const uint32_t tile_depth = std::min(step_ka_ * p_.base_k, uint32_t(p_.k) - tile_k);
        bool load = false;
        const uint32_t from = state_.a.find(tile_m, tile_k, load);
        const Window w = p_.a_turned ? Window{tile_k, tile_depth, tile_m, tile_rows}
                                     : Window{tile_m, tile_rows, tile_k, tile_depth};
        if (load) load_tile(from, p_.a, w, p_.a_stride, p_.a_fractal);
        return {from, w, tile_m, tile_k};
    }

    // Rows (of the product's m) and depth of A for L0A, from the tile that holds them.
    void load_a(uint32_t to, uint32_t m, uint32_t rows, uint32_t k, uint32_t depth) {
        const auto [from, w, tile_m, tile_k] = tile_of_a(m, k);
        const uint32_t padded = up(w.rows, UNIT);
        set_fmatrix(padded | 1ull << 16);
        set_padding(0);
        const uint32_t row = m - tile_m;
        const uint32_t column = k - tile_k;
        T* l0 = local<T>(to);
        if (!p_.a_turned) {
            img2colv2_cbuf_to_ca(l0, local<T>(from), up(depth, C0), up(rows, 16), column, row, 1, 1,
                                 1, 1, 1, 1, false, false, false, false, up(w.columns, C0));
        } else if (sizeof(T) != 1) {
            img2colv2_cbuf_to_ca(l0, local<T>(from), up(rows, 16), up(depth, 16), row, column, 1, 1,
                                 1, 1, 1, 1, false, false, true, false, up(w.columns, C0));
        } else {
            const uint32_t squares = padded / UNIT;
            const uint32_t depths = divide_up(depth, UNIT);
            for (uint32_t kb = 0; kb < depths; ++kb)
                load_cbuf_to_ca_transpose(
                    l0 + kb * FRACTAL_ROWS * C0, local<T>(from),
                    static_cast<uint16_t>(row / UNIT * squares + column / UNIT + kb),
                    static_cast<uint8_t>(divide_up(rows, UNIT)), static_cast<uint16_t>(squares),
                    static_cast<uint16_t>(UNIT / 16 * depths - 1), inc,
                    static_cast<uint16_t>(depths - 1));
        }
    }

    // The same of B, by columns of the product.
    Held tile_of_b(uint32_t n, uint32_t k) {
        const uint32_t tile_n = n / (step_n_ * p_.base_n) * (step_n_ * p_.base_n);
        const uint32_t tile_k = k / (step_kb_ * p_.base_k) * (step_kb_ * p_.base_k);
        const uint32_t tile_columns = std::min(step_n_ * p_.base_n, uint32_t(p_.n) - tile_n);
        const uint32_t tile_depth = std::min(step_kb_ * p_.base_k, uint32_t(p_.k) - tile_k);
        bool load = false;
        const uint32_t from = state_.b.find(tile_n, tile_k, load);
        const Window w = p_.b_turned ? Window{tile_n, tile_columns, tile_k, tile_depth}
                                     : Window{tile_k, tile_depth, tile_n, tile_columns};
        if (load) load_tile(from, p_.b, w, p_.b_stride, p_.b_fractal);
        return {from, w, tile_n, tile_k};
    }

    void load_b(uint32_t to, uint32_t n, uint32_t columns, uint32_t k, uint32_t depth) {
        const auto [from, w, tile_n, tile_k] = tile_of_b(n, k);
        const uint32_t padded = up(w.rows, UNIT);
        const uint32_t fractals = divide_up(columns, 16);
        const uint32_t column = n - tile_n;
        const uint32_t row = k - tile_k;
        T* l0 = local<T>(to);
        if (p_.b_turned) {
            for (uint32_t kb = 0; kb < divide_up(depth, C0); ++kb)
                load_cbuf_to_cb(
                    l0 + kb * fractals * 16 * C0, local<T>(from),
                    static_cast<uint16_t>((row / C0 + kb) * (padded / 16) + column / 16),
                    static_cast<uint8_t>(fractals), 1, 0, 0, false, inc);
        } else if (sizeof(T) != 1) {
            set_fmatrix(padded | 1ull << 16);
            set_padding(0);
            img2colv2_cbuf_to_cb(l0, local<T>(from), fractals * 16, up(depth, 16), column, row, 1,
                                 1, 1, 1, 1, 1, false, false, false, false, up(w.columns, C0));
        } else {
            const uint32_t squares = padded / UNIT;
            for (uint32_t kb = 0; kb < divide_up(depth, UNIT); ++kb)
                load_cbuf_to_cb_transpose(
                    l0 + kb * fractals * 16 * C0, local<T>(from),
                    static_cast<uint16_t>(column / UNIT * squares + row / UNIT + kb),
                    static_cast<uint8_t>(divide_up(columns, UNIT)), static_cast<uint16_t>(squares),
                    static_cast<uint16_t>(UNIT / 16 - 1), inc, 0);
        }
    }

private:
    const DavMatmul& p_;
    MatmulState& state_;
    const void* site_;
    uint32_t step_m_ = 1, step_n_ = 1, step_ka_ = 1, step_kb_ = 1;
};

}  // namespace dav
