// A matrix product: loops over base blocks with the cube core's own instructions, ordered by what
// they read and write, so that its time is that of the tiling it was given.
#pragma once

#include <type_traits>

#include "constants.h"
#include "matmul_operands.h"

namespace dav {

// Elements of type T, sums of type TC, results of type TO.
template <typename T, typename TC, typename TO> class Product {
public:
    Product(const DavMatmul& p, const void* site)
        : p_(p), site_(site), state_(matmul_state()), operands_(p_, state_, site) {}
    Product(const Product&) = delete;

    // The part of C, block by block.
    void run() {
        const HighFloat scope(p_.hf32);
        lay_out();
        const uint32_t blocks_m = divide_up(p_.count_m, p_.base_m);
        const uint32_t blocks_n = divide_up(p_.count_n, p_.base_n);
        const auto start_of = [&](uint32_t number) {
            const uint32_t i = p_.n_first ? number / blocks_n : number % blocks_m;
            const uint32_t j = p_.n_first ? number % blocks_n : number / blocks_m;
            return std::make_pair(p_.first_m + i * p_.base_m, p_.first_n + j * p_.base_n);
        };
        for (uint32_t number = 0; number < blocks_m * blocks_n; ++number) {
            if (number + 1 < blocks_m * blocks_n) {
                p_.has_next = true;
                std::tie(p_.next_m, p_.next_n) = start_of(number + 1);
            } else {
                p_.has_next = false;
            }
            const auto [m, n] = start_of(number);
            const uint32_t place = next_place();
            state_.make_room(place, l0_c_);
            sum(place, m, n, false);
            store(place, m, n);
        }
    }

    // Where in L0C the sums of the object's next block can lie; false when blocks that nobody has
    // fetched take all of it.
    bool find_place(uint32_t& place) {
        lay_out();
        for (uint32_t i = 0; i < parts_c_; ++i) {
            place = next_place();
            if (state_.free(place, l0_c_)) return true;
        }
        for (place = 0; place + l0_c_ <= place_of(Memory::L0C).bytes; place += l0_c_)
            if (state_.free(place, l0_c_)) return true;
        return false;
    }
    // The sums of the part of C, which is one block; onto those that lie there, if `onto`.
    void compute(uint32_t place, bool onto) {
        const HighFloat scope(p_.hf32);
        lay_out();
        sum(place, p_.first_m, p_.first_n, onto);
    }
    // Sums that lie there to the part of C.
    void store_block(uint32_t place) { store(place, p_.first_m, p_.first_n); }
    uint32_t place_bytes() const { return l0_c_; }

private:
    // Operands are rounded to HF32 while it lives, if `on`.
    class HighFloat {
    public:
        explicit HighFloat(bool on) : kept_(vector_state().control) {
            if (on) vector_state().control |= 1ull << CTRL_HF32;
        }
        ~HighFloat() { vector_state().control = kept_; }
        HighFloat(const HighFloat&) = delete;

    private:
        static constexpr int CTRL_HF32 = 46;
        uint64_t kept_;
    };

    // What the API's own code takes for a base block.
    void count_base_block() const {
        count_scalar(MATMUL_BLOCKS);
        if (!p_.fixed_tiling) count_scalar(MATMUL_TILINGS);
        if (!p_.large_steps) count_scalar(MATMUL_COPIES);
    }

    void lay_out() {
        if (p_.base_m <= 0 || p_.base_n <= 0 || p_.base_k <= 0)
            fail(Outcome::LAUNCH_ERROR, site_, nullptr,
                 "The Matmul tiling has base blocks of %d x %d x %d.", p_.base_m, p_.base_n,
                 p_.base_k);
        operands_.lay_out();
        using Operands = MatmulOperands<T>;
        l0_a_ = Operands::tile_bytes(p_.base_m, p_.base_k);
        l0_b_ = Operands::tile_bytes(p_.base_n, p_.base_k);
        l0_c_ = up(p_.base_m, 16) * up(p_.base_n, 16) * 4;
        parts_a_ = 2 * l0_a_ <= place_of(Memory::L0A).bytes ? 2 : 1;
        parts_b_ = 2 * l0_b_ <= place_of(Memory::L0B).bytes ? 2 : 1;
        parts_c_ = p_.l0c_buffers > 1 && 2 * l0_c_ <= place_of(Memory::L0C).bytes ? 2 : 1;
    }
    uint32_t next_place() {
        const uint32_t place = state_.part_c % parts_c_ * l0_c_;
        state_.part_c = (state_.part_c + 1) % parts_c_;
        return place;
    }

    uint32_t rows_at(uint32_t m) const {
        return std::min<uint32_t>(p_.base_m, p_.first_m + p_.count_m - m);
    }
    uint32_t columns_at(uint32_t n) const {
        return std::min<uint32_t>(p_.base_n, p_.first_n + p_.count_n - n);
    }

    // A row of bytes from GM to L1, as ND2NZ of one row of 8-bit columns.
    void copy_rows(uint32_t to, const uint8_t* from, uint32_t bytes) {
        nd_to_nz("copy_gm_to_cbuf", local<void>(to), const_cast<uint8_t*>(from),
                 {1, 1, bytes, 0, bytes, BLOCK_BYTES, BLOCK_BYTES, 0}, site_);
    }
    void load_bias(uint32_t n, uint32_t columns) {
        const uint32_t element = p_.half_bias ? 2 : 4;
        const auto* from = static_cast<const uint8_t*>(p_.bias) + uint64_t(n) * element;
        copy_rows(0, from, columns * element);
        copy_cbuf_to_bt(0, local<void>(0), p_.half_bias, 1,
                        static_cast<uint16_t>(divide_up(columns * 4, 64)), 0, 0);
    }

    // Cores that read one operand begin at different copies of it.
    uint32_t first_part_of_k(uint32_t parts) const {
        if (!p_.reorder_k) return 0;
        const uint32_t copies = divide_up(parts, operands_.step_kb());
        return uint32_t(current->block) % copies * operands_.step_kb();
    }
    // The next block's copy, while this block is computed.
    void preload() {
        if (!p_.has_next) return;
        if (p_.preload == 1) operands_.tile_of_a(p_.next_m, 0);
        if (p_.preload == 2) operands_.tile_of_b(p_.next_n, 0);
    }

    void sum(uint32_t place, uint32_t m, uint32_t n, bool onto) {
        count_base_block();
        const uint32_t rows = rows_at(m);
        const uint32_t columns = columns_at(n);
        const bool biased = p_.bias != nullptr && !onto;
        if (biased) load_bias(n, columns);
        const uint32_t parts = divide_up(p_.k, p_.base_k);
        const uint32_t begin = first_part_of_k(parts);
        for (uint32_t part = 0; part < parts; ++part) {
            const uint32_t k = (begin + part) % parts * p_.base_k;
            const uint32_t depth = std::min<uint32_t>(p_.base_k, p_.k - k);
            count_base_block();
            const uint32_t to_a = state_.part_a % parts_a_ * l0_a_;
            const uint32_t to_b = state_.part_b % parts_b_ * l0_b_;
            operands_.load_a(to_a, m, rows, k, depth);
            operands_.load_b(to_b, n, columns, k, depth);
            const bool first = part == 0;
            const bool last = part + 1 == parts;
            if (first) preload();
            const uint8_t flag = !p_.unit_flag ? 0 : last ? 3 : 2;
            // A single row would be read as a vector; turned 32-bit operands come 16 deep.
            mad(local<TC>(place), local<T>(to_a), local<T>(to_b), uint64_t(0),
                static_cast<uint16_t>(up(rows, 16)), static_cast<uint16_t>(depth),
                static_cast<uint16_t>(columns), flag, sizeof(T) == 4 && p_.a_turned,
                first && biased, first && !biased && !onto);
            state_.part_a = (state_.part_a + 1) % parts_a_;
            state_.part_b = (state_.part_b + 1) % parts_b_;
        }
    }

    void store(uint32_t place, uint32_t m, uint32_t n) {
        const uint32_t rows = rows_at(m);
        const uint32_t columns = columns_at(n);
        const auto mode = QuantMode_t(p_.quantize_mode);
        if (p_.quantize != nullptr) {
            constexpr uint32_t AT = MATMUL_TABLE_BYTES / 2;
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
        copy_matrix_cc_to_gm(
            to, local<TC>(place), 0, static_cast<uint16_t>(columns), static_cast<uint16_t>(rows),
            stride, static_cast<uint16_t>(up(rows, 16)), flag, mode, p_.relu, false, !p_.c_fractal);
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
    MatmulState& state_;
    MatmulOperands<T> operands_;
    uint32_t l0_a_ = 0, l0_b_ = 0, l0_c_ = 0;
    uint32_t parts_a_ = 1, parts_b_ = 1, parts_c_ = 1;
};

}  // namespace dav
