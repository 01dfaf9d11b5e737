// Comparison into bits, and selection by bits.
//
// What the documentation says: vcmpv and vcmpvs ignore the mask; result and selection bits are
// packed, one a lane, and consecutive iterations continue where the previous one stopped (the
// block and repeat strides of that operand have no meaning). vcmp obeys the mask and writes the
// CMPMASK register.
// Assumptions: vcmp leaves the bits of inactive lanes as they are. In counter mode the last
// iteration of vcmpv writes 0 for lanes beyond the count. Comparisons with NaN are false, except
// "not equal".
#pragma GCC optimize("O3")

#include "vector_lanes.h"

using namespace dav;

namespace {

struct Equal {
    template <class T> bool operator()(T a, T b) const { return a == b; }
};
struct NotEqual {
    template <class T> bool operator()(T a, T b) const { return a != b; }
};
struct Less {
    template <class T> bool operator()(T a, T b) const { return a < b; }
};
struct LessEqual {
    template <class T> bool operator()(T a, T b) const { return a <= b; }
};
struct Greater {
    template <class T> bool operator()(T a, T b) const { return a > b; }
};
struct GreaterEqual {
    template <class T> bool operator()(T a, T b) const { return a >= b; }
};

void pack(const uint8_t* truths, unsigned count, uint8_t* bits) {
    for (unsigned i = 0; i < count; i += 8) {
        uint8_t byte = 0;
        for (unsigned j = 0; j < 8; j++) byte |= static_cast<uint8_t>(truths[i + j] << j);
        bits[i / 8] = byte;
    }
}

template <class T> constexpr unsigned WIDTH = REPEAT_BYTES / sizeof(T);

// `b` is null for a comparison with `scalar`.
template <class F, class T>
void compare_to_memory(const char* mnemonic, void* site, uint32_t repeat, uint8_t* dst, Source<T> a,
                       const Source<T>* b, T scalar) {
    const Lanes lanes(WIDTH<T>, repeat, false);
    const uint32_t row = WIDTH<T> / 8;
    VectorOperand bits{};
    bits.address = dst;
    bits.write = true;
    bits.span = row;
    bits.repeat_bytes = row;
    const VectorOperand operands[] = {
        bits, lanes.operand(a.address, a.step, BITS<T>, false),
        lanes.operand(b ? b->address : a.address, b ? b->step : a.step, BITS<T>, false)};
    issue_vector(mnemonic, dtype_name<T>(), lanes.empty() ? 0 : lanes.repeats(), operands,
                 b ? 3 : 2, site);
    if (lanes.empty()) return;
    const uint8_t* const base_a = ub_address(a.address);
    const uint8_t* const base_b = b ? ub_address(b->address) : nullptr;
    uint8_t* const out = ub_address(dst);
    alignas(32) uint8_t room_a[REPEAT_BYTES], room_b[REPEAT_BYTES];
    for (uint32_t r = 0; r < lanes.repeats(); r++) {
        const unsigned count = lanes.at(r).reach;
        const auto* x = static_cast<const T*>(view(base_a, a.step, r, count * sizeof(T), room_a));
        uint8_t truths[MAX_LANES] = {};
        if (b) {
            const auto* y =
                static_cast<const T*>(view(base_b, b->step, r, count * sizeof(T), room_b));
            apply([](auto p, auto q) -> uint8_t { return F{}(p, q); }, truths, count, x, y);
        } else {
            const auto wide =
                static_cast<std::conditional_t<std::is_same_v<T, half>, float, T>>(scalar);
            apply([wide](auto p) -> uint8_t { return F{}(p, wide); }, truths, count, x);
        }
        pack(truths, WIDTH<T>, out + size_t(r) * row);
    }
}

template <class F, class T>
void compare_to_register(const char* mnemonic, void* site, uint32_t repeat, Source<T> a,
                         Source<T> b) {
    const Lanes lanes(WIDTH<T>, repeat);
    const VectorOperand operands[] = {lanes.operand(a.address, a.step, BITS<T>, false),
                                      lanes.operand(b.address, b.step, BITS<T>, false)};
    issue_vector(mnemonic, dtype_name<T>(), lanes.empty() ? 0 : lanes.repeats(), operands, 2, site);
    if (lanes.empty()) return;
    const uint8_t* const base_a = ub_address(a.address);
    const uint8_t* const base_b = ub_address(b.address);
    alignas(32) uint8_t room_a[REPEAT_BYTES], room_b[REPEAT_BYTES];
    uint64_t* const state = vector_state().compare_mask;
    for (uint32_t r = 0; r < lanes.repeats(); r++) {
        const Active& active = lanes.at(r);
        const auto* x =
            static_cast<const T*>(view(base_a, a.step, r, active.reach * sizeof(T), room_a));
        const auto* y =
            static_cast<const T*>(view(base_b, b.step, r, active.reach * sizeof(T), room_b));
        uint8_t truths[MAX_LANES] = {};
        uint64_t bits[2];
        apply([](auto p, auto q) -> uint8_t { return F{}(p, q); }, truths, active.reach, x, y);
        pack(truths, MAX_LANES, reinterpret_cast<uint8_t*>(bits));
        state[0] = (state[0] & ~active.low) | (bits[0] & active.low);
        state[1] = (state[1] & ~active.high) | (bits[1] & active.high);
    }
}

// How vsel finds its selection bits and its alternative.
enum class Mode : uint8_t { REGISTER = 0, SCALAR = 1, TENSOR = 2 };

template <class T>
void select(void* site, uint32_t repeat, Mode mode, T* dst, Step dst_step, Source<T> a, void* b,
            Step b_step) {
    const uint64_t* const state = vector_state().compare_mask;
    const Lanes lanes(WIDTH<T>, repeat);
    const uint32_t row = WIDTH<T> / 8;
    const void* selection = b;  // SCALAR
    if (mode == Mode::TENSOR) selection = ub_address_of_low_bits(static_cast<uint32_t>(state[0]));
    VectorOperand bits{};
    bits.address = selection;
    bits.span = row;
    bits.repeat_bytes = row;
    const VectorOperand alternative = lanes.operand(b, b_step, BITS<T>, false);
    const VectorOperand operands[] = {lanes.operand(dst, dst_step, BITS<T>, true),
                                      lanes.operand(a.address, a.step, BITS<T>, false),
                                      mode == Mode::SCALAR ? bits : alternative, bits};
    issue_vector("vsel", dtype_name<T>(), lanes.empty() ? 0 : lanes.repeats(), operands,
                 mode == Mode::TENSOR ? 4 : 3, site);
    if (lanes.empty()) return;
    uint8_t* const out = ub_address(dst);
    const uint8_t* const base_a = ub_address(a.address);
    const uint8_t* const base_b = ub_address(b);
    const uint8_t* const base_bits = mode == Mode::REGISTER ? nullptr : ub_address(selection);
    T scalar;
    std::memcpy(&scalar, state, sizeof(scalar));
    alignas(32) uint8_t room_a[REPEAT_BYTES], room_b[REPEAT_BYTES];
    alignas(32) T result[WIDTH<T>];
    for (uint32_t r = 0; r < lanes.repeats(); r++) {
        const Active& active = lanes.at(r);
        const unsigned bytes = active.reach * sizeof(T);
        const auto* x = static_cast<const T*>(view(base_a, a.step, r, bytes, room_a));
        const T* y = nullptr;
        if (mode != Mode::SCALAR) y = static_cast<const T*>(view(base_b, b_step, r, bytes, room_b));
        uint64_t chosen[2] = {state[0], state[1]};
        if (base_bits) std::memcpy(chosen, base_bits + size_t(r) * row, (active.reach + 7) / 8);
        for (unsigned i = 0; i < active.reach; i++) {
            const bool first = (chosen[i / 64] >> i % 64 & 1) != 0;
            result[i] = first ? x[i] : y ? y[i] : scalar;
        }
        store(out, dst_step, r, result, active, BITS<T>);
    }
}

}  // namespace

#define COMPARE_VECTOR(mode, F, T)                                                                 \
    void vcmpv_##mode(uint8_t* dst, T* src0, T* src1, uint8_t repeat, uint8_t, uint8_t src0_block, \
                      uint8_t src1_block, uint8_t, uint8_t src0_repeat, uint8_t src1_repeat) {     \
        const Source<T> b{src1, {src1_block, src1_repeat}};                                        \
        compare_to_memory<F, T>("vcmpv", DAV_SITE, repeat, dst, {src0, {src0_block, src0_repeat}}, \
                                &b, T(0));                                                         \
    }
#define COMPARE_SCALAR(mode, F, T)                                                               \
    void vcmpvs_##mode(uint8_t* dst, T* src, T scalar, uint8_t repeat, uint16_t,                 \
                       uint16_t src_block, uint16_t, uint16_t src_repeat) {                      \
        compare_to_memory<F, T>("vcmpvs", DAV_SITE, repeat, dst, {src, {src_block, src_repeat}}, \
                                nullptr, scalar);                                                \
    }
#define COMPARE_REGISTER(mode, F, T)                                                           \
    void vcmp_##mode(T* src0, T* src1, uint8_t repeat, uint8_t, uint8_t src0_block,            \
                     uint8_t src1_block, uint8_t, uint8_t src0_repeat, uint8_t src1_repeat) {  \
        compare_to_register<F, T>("vcmp", DAV_SITE, repeat, {src0, {src0_block, src0_repeat}}, \
                                  {src1, {src1_block, src1_repeat}});                          \
    }
#define COMPARE(mode, F)            \
    COMPARE_VECTOR(mode, F, half)   \
    COMPARE_VECTOR(mode, F, float)  \
    COMPARE_SCALAR(mode, F, half)   \
    COMPARE_SCALAR(mode, F, float)  \
    COMPARE_REGISTER(mode, F, half) \
    COMPARE_REGISTER(mode, F, float)
COMPARE(eq, Equal)
COMPARE(ne, NotEqual)
COMPARE(lt, Less)
COMPARE(le, LessEqual)
COMPARE(gt, Greater)
COMPARE(ge, GreaterEqual)
COMPARE_VECTOR(eq, Equal, int32_t)
COMPARE_SCALAR(eq, Equal, int32_t)

#define SELECT(T)                                                                                 \
    void vsel(T* dst, T* src0, T* src1, uint8_t repeat, uint8_t dst_block, uint8_t src0_block,    \
              uint8_t src1_block, uint8_t dst_repeat, uint8_t src0_repeat, uint8_t src1_repeat) { \
        select<T>(DAV_SITE, repeat, Mode::REGISTER, dst, {dst_block, dst_repeat},                 \
                  {src0, {src0_block, src0_repeat}}, src1, {src1_block, src1_repeat});            \
    }                                                                                             \
    void vsel(T* dst, T* src0, void* src1, uint8_t repeat, uint8_t dst_block, uint8_t src0_block, \
              uint8_t src1_block, uint8_t dst_repeat, uint8_t src0_repeat, uint8_t src1_repeat,   \
              uint8_t mode) {                                                                     \
        select<T>(DAV_SITE, repeat, static_cast<Mode>(mode), dst, {dst_block, dst_repeat},        \
                  {src0, {src0_block, src0_repeat}}, src1, {src1_block, src1_repeat});            \
    }
SELECT(half)
SELECT(float)
