// The Matmul API's block: loops over base blocks with the cube core's own instructions, ordered by
// what they read and write, so that its time is that of the tiling it was given.
#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

#include "constants.h"
#include "cube.h"
#include "gm.h"
#include "intrinsics_cube.h"
#include "intrinsics_matmul.h"
#include "intrinsics_sync_copy.h"
#include "intrinsics_vector.h"
#include "matmul.h"

namespace dav {
namespace {

constexpr uint32_t TABLE_BYTES = 8 * 1024;  // of L1, for bias and quantisation parameters
constexpr int CTRL_HF32 = 46;

uint32_t up(uint32_t value, uint32_t to) { return divide_up(value, to) * to; }

// Tiles of one operand in L1: slots of equal size, the least recently used goes first.
class Tiles {
public:
    void lay(uint32_t start, uint32_t bytes, uint32_t slots) {
        start_ = start;
        bytes_ = bytes;
        held_.assign(slots, {~0u, ~0u});
        used_.assign(slots, 0);
    }
    // Where the tile lies, and whether it has to be loaded first.
    uint32_t find(uint32_t row, uint32_t column, bool& load) {
        size_t oldest = 0;
        for (size_t slot = 0; slot < held_.size(); ++slot) {
            if (held_[slot] == std::make_pair(row, column)) {
                used_[slot] = ++time_;
                load = false;
                return start_ + static_cast<uint32_t>(slot) * bytes_;
            }
            if (used_[slot] < used_[oldest]) oldest = slot;
        }
        held_[oldest] = {row, column};
        used_[oldest] = ++time_;
        load = true;
        return start_ + static_cast<uint32_t>(oldest) * bytes_;
    }

private:
    uint32_t start_ = 0;
    uint32_t bytes_ = 0;
    uint64_t time_ = 0;
    std::vector<std::pair<uint32_t, uint32_t>> held_;
    std::vector<uint64_t> used_;
};

// A rectangle of a matrix.
struct Window {
    uint32_t row, rows, column, columns;
};

template <typename T> T* local(uint32_t offset) {
    return reinterpret_cast<T*>(static_cast<uintptr_t>(offset));
}

template <typename T, typename TC, typename TO> class Product {
public:
    Product(const DavMatmul& p, const void* site) : p_(p), site_(site) {}

    void run() {
        lay_out();
        const uint64_t control = vector_state().control;
        if (p_.hf32) vector_state().control |= 1ull << CTRL_HF32;
        has_bias_ = p_.bias != nullptr;
        const uint32_t blocks_m = divide_up(p_.count_m, p_.base_m);
        const uint32_t blocks_n = divide_up(p_.count_n, p_.base_n);
        for (uint32_t number = 0; number < blocks_m * blocks_n; ++number) {
            const uint32_t i = p_.n_first ? number / blocks_n : number % blocks_m;
            const uint32_t j = p_.n_first ? number % blocks_n : number / blocks_m;
            count_base_block();
            const uint32_t after = number + 1;
            next_m_ = p_.n_first ? after / blocks_n : after % blocks_m;
            next_n_ = p_.n_first ? after % blocks_n : after / blocks_m;
            has_next_ = after < blocks_m * blocks_n;
            block(p_.first_m + i * p_.base_m, p_.first_n + j * p_.base_n);
        }
        vector_state().control = control;
    }

private:
    static constexpr uint32_t C0 = c0_of<T>();
    static constexpr uint32_t UNIT = std::max(C0, FRACTAL_ROWS);

    // What the API's own code takes for a base block.
    void count_base_block() const {
        count_scalar(MATMUL_BLOCKS);
        if (!p_.fixed_tiling) count_scalar(MATMUL_TILINGS);
        if (!p_.large_steps) count_scalar(MATMUL_COPIES);
    }

    uint32_t tile_bytes(uint32_t rows, uint32_t columns) const {
        return up(rows, UNIT) * up(columns, UNIT) * uint32_t(sizeof(T));
    }

    void lay_out() {
        if (p_.base_m <= 0 || p_.base_n <= 0 || p_.base_k <= 0)
            fail(Outcome::LAUNCH_ERROR, site_, nullptr,
                 "The Matmul tiling has base blocks of %d x %d x %d.", p_.base_m, p_.base_n,
                 p_.base_k);
        // Without large steps a copy brings one base block, and depth counts those.
        step_m_ = p_.large_steps ? std::max(1, p_.step_m) : 1;
        step_n_ = p_.large_steps ? std::max(1, p_.step_n) : 1;
        step_ka_ = p_.large_steps ? std::max(1, p_.step_ka) : 1;
        step_kb_ = p_.large_steps ? std::max(1, p_.step_kb) : 1;
        const uint32_t bytes_a = tile_bytes(step_m_ * p_.base_m, step_ka_ * p_.base_k);
        const uint32_t bytes_b = tile_bytes(step_n_ * p_.base_n, step_kb_ * p_.base_k);
        uint32_t slots_a = std::max(1u, uint32_t(p_.depth_a) / (step_m_ * step_ka_));
        uint32_t slots_b = std::max(1u, uint32_t(p_.depth_b) / (step_n_ * step_kb_));
        const bool tables = p_.bias != nullptr || p_.quantize != nullptr;
        const uint32_t first = tables ? TABLE_BYTES : 0;
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
        tiles_a_.lay(first, bytes_a, slots_a);
        tiles_b_.lay(first + slots_a * bytes_a, bytes_b, slots_b);
        l0_a_ = tile_bytes(p_.base_m, p_.base_k);
        l0_b_ = tile_bytes(p_.base_n, p_.base_k);
        l0_c_ = up(p_.base_m, 16) * up(p_.base_n, 16) * 4;
        parts_a_ = 2 * l0_a_ <= place_of(Memory::L0A).bytes ? 2 : 1;
        parts_b_ = 2 * l0_b_ <= place_of(Memory::L0B).bytes ? 2 : 1;
        parts_c_ = p_.l0c_buffers > 1 && 2 * l0_c_ <= place_of(Memory::L0C).bytes ? 2 : 1;
    }

    void load_bias(uint32_t n, uint32_t columns) {
        const uint32_t element = p_.half_bias ? 2 : 4;
        const auto* from = static_cast<const uint8_t*>(p_.bias) + uint64_t(n) * element;
        copy_rows(0, from, columns * element);
        copy_cbuf_to_bt(0, local<void>(0), p_.half_bias, 1,
                        static_cast<uint16_t>(divide_up(columns * 4, 64)), 0, 0);
    }

    // A row of bytes from GM to L1, as ND2NZ of one row of 8-bit columns.
    void copy_rows(uint32_t to, const uint8_t* from, uint32_t bytes) {
        nd_to_nz("copy_gm_to_cbuf", local<void>(to), const_cast<uint8_t*>(from),
                 {1, 1, bytes, 0, bytes, BLOCK_BYTES, BLOCK_BYTES, 0}, site_);
    }

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
        const uint32_t from = tiles_a_.find(tile_m, tile_k, load);
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
        const uint32_t from = tiles_b_.find(tile_n, tile_k, load);
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

    // Cores that read one operand begin at different copies of it.
    uint32_t first_part_of_k(uint32_t parts) const {
        if (!p_.reorder_k) return 0;
        const uint32_t copies = divide_up(parts, step_kb_);
        return uint32_t(current->block) % copies * step_kb_;
    }

    // The next block's copy, while this block is computed.
    void preload() {
        if (!has_next_ || p_.preload == 0) return;
        const uint32_t m = p_.first_m + next_m_ * p_.base_m;
        const uint32_t n = p_.first_n + next_n_ * p_.base_n;
        if (p_.preload == 1)
            tile_of_a(m, 0);
        else
            tile_of_b(n, 0);
    }

    void block(uint32_t m, uint32_t n) {
        const uint32_t rows = std::min<uint32_t>(p_.base_m, p_.first_m + p_.count_m - m);
        const uint32_t columns = std::min<uint32_t>(p_.base_n, p_.first_n + p_.count_n - n);
        if (has_bias_) load_bias(n, columns);
        TC* c = local<TC>(part_c_ * l0_c_);
        const uint32_t parts = divide_up(p_.k, p_.base_k);
        const uint32_t begin = first_part_of_k(parts);
        for (uint32_t part = 0; part < parts; ++part) {
            const uint32_t k = (begin + part) % parts * p_.base_k;
            const uint32_t depth = std::min<uint32_t>(p_.base_k, p_.k - k);
            count_base_block();
            load_a(part_a_ * l0_a_, m, rows, k, depth);
            load_b(part_b_ * l0_b_, n, columns, k, depth);
            const bool first = part == 0;
            const bool last = part + 1 == parts;
            if (first) preload();
            const uint8_t flag = !p_.unit_flag ? 0 : last ? 3 : 2;
            // A single row would be read as a vector; turned 32-bit operands come 16 deep.
            mad(c, local<T>(part_a_ * l0_a_), local<T>(part_b_ * l0_b_), uint64_t(0),
                static_cast<uint16_t>(up(rows, 16)), static_cast<uint16_t>(depth),
                static_cast<uint16_t>(columns), flag, sizeof(T) == 4 && p_.a_turned,
                first && has_bias_, first && !has_bias_);
            part_a_ = (part_a_ + 1) % parts_a_;
            part_b_ = (part_b_ + 1) % parts_b_;
        }
        store(c, m, n, rows, columns);
        part_c_ = (part_c_ + 1) % parts_c_;
    }

    void store(TC* c, uint32_t m, uint32_t n, uint32_t rows, uint32_t columns) {
        const auto mode = QuantMode_t(p_.quantize_mode);
        if (p_.quantize != nullptr) {
            constexpr uint32_t AT = TABLE_BYTES / 2;
            copy_rows(AT, reinterpret_cast<const uint8_t*>(p_.quantize + n), columns * 8);
            copy_cbuf_to_fbuf(local<void>(0), local<void>(AT), 1,
                              static_cast<uint16_t>(divide_up(columns * 8, 128)), 0, 0);
            set_fpc(0);
        } else {
            set_quant_pre(p_.quantize_scalar);
        }
        set_nd_para(1);
        if (p_.add) set_adding();
        TO* to = static_cast<TO*>(p_.c);
        uint32_t stride = p_.c_stride;
        if (p_.c_fractal) {
            constexpr uint32_t GROUP = sizeof(TO) == 1 ? 32 : 16;
            to += (uint64_t(n / GROUP) * p_.c_stride + m) * GROUP;
            stride = p_.c_stride * GROUP * sizeof(TO) / BLOCK_BYTES;
        } else {
            to += uint64_t(m) * p_.c_stride + n;
        }
        const uint8_t flag = p_.unit_flag ? 3 : 0;
        copy_matrix_cc_to_gm(to, c, 0, static_cast<uint16_t>(columns), static_cast<uint16_t>(rows),
                             stride, static_cast<uint16_t>(up(rows, 16)), flag, mode, p_.relu,
                             false, !p_.c_fractal);
        if (p_.add) set_atomic_none();
    }

    void set_adding() {
        set_atomic_add();
        if constexpr (std::is_same_v<TO, float>) set_atomic_f32();
        if constexpr (std::is_same_v<TO, half>) set_atomic_f16();
        if constexpr (std::is_same_v<TO, bfloat16_t>) set_atomic_bf16();
        if constexpr (std::is_same_v<TO, int32_t>) set_atomic_s32();
    }

    DavMatmul p_;
    const void* site_;
    Tiles tiles_a_;
    Tiles tiles_b_;
    uint32_t step_m_ = 1, step_n_ = 1, step_ka_ = 1, step_kb_ = 1;
    uint32_t l0_a_ = 0, l0_b_ = 0, l0_c_ = 0;
    uint32_t parts_a_ = 1, parts_b_ = 1, parts_c_ = 1;
    uint32_t part_a_ = 0, part_b_ = 0, part_c_ = 0;
    uint32_t next_m_ = 0, next_n_ = 0;  // the block after this one
    bool has_next_ = false;
    bool has_bias_ = false;
};

template <typename T, typename TC, typename TO>
void run_as(const DavMatmul& product, const void* site) {
    Product<T, TC, TO>(product, site).run();
}

template <typename T> void run_float(const DavMatmul& product, const void* site) {
    switch (product.result) {
        case DavElement::FLOAT: return run_as<T, float, float>(product, site);
        case DavElement::HALF: return run_as<T, float, half>(product, site);
        case DavElement::BFLOAT16: return run_as<T, float, bfloat16_t>(product, site);
        case DavElement::INT8: return run_as<T, float, int8_t>(product, site);
        case DavElement::UINT8: return run_as<T, float, uint8_t>(product, site);
        default: break;
    }
    fail(Outcome::LAUNCH_ERROR, site, nullptr, "Matmul gives no such results of float sums.");
}

void run(const DavMatmul& product, const void* site) {
    switch (product.type) {
        case DavElement::HALF: return run_float<half>(product, site);
        case DavElement::BFLOAT16: return run_float<bfloat16_t>(product, site);
        case DavElement::FLOAT: return run_float<float>(product, site);
        case DavElement::INT8: break;
        default: fail(Outcome::LAUNCH_ERROR, site, nullptr, "Matmul takes no such elements.");
    }
    switch (product.result) {
        case DavElement::INT32: return run_as<int8_t, int32_t, int32_t>(product, site);
        case DavElement::HALF: return run_as<int8_t, int32_t, half>(product, site);
        case DavElement::INT8: return run_as<int8_t, int32_t, int8_t>(product, site);
        case DavElement::UINT8: return run_as<int8_t, int32_t, uint8_t>(product, site);
        default: fail(Outcome::LAUNCH_ERROR, site, nullptr, "Matmul gives no such results.");
    }
}
}  // namespace

void multiply(const DavMatmul& product, const void* site) {
    if (product.m <= 0 || product.n <= 0 || product.k <= 0 || product.count_m <= 0 ||
        product.count_n <= 0)
        return;
    const OrderedByData scope(site);
    run(product, site);
}
}  // namespace dav
