#include "atomic.h"

#include <algorithm>
#include <cstring>

#include "constants.h"
#include "intrinsics_sync_copy.h"
#include "types.h"

namespace dav {
namespace {

// Reads and writes go through memcpy: GM addresses need not be aligned to the element.
template <typename T, typename Compute>
void apply(AtomicOperation operation, uint8_t* dst, const uint8_t* src, uint64_t bytes,
           Compute compute) {
    for (uint64_t at = 0; at + sizeof(T) <= bytes; at += sizeof(T)) {
        T held;
        T value;
        std::memcpy(&held, dst + at, sizeof(T));
        std::memcpy(&value, src + at, sizeof(T));
        const T result = operation == AtomicOperation::ADD   ? static_cast<T>(compute(held, value))
                         : operation == AtomicOperation::MAX ? (held < value ? value : held)
                                                             : (value < held ? value : held);
        std::memcpy(dst + at, &result, sizeof(T));
    }
}

// Integer sums wrap around.
template <typename T>
void apply_integer(AtomicOperation operation, uint8_t* dst, const uint8_t* src, uint64_t bytes) {
    apply<T>(operation, dst, src, bytes,
             [](T a, T b) { return static_cast<uint32_t>(a) + static_cast<uint32_t>(b); });
}

AtomicType type_of(uint64_t code) {
    static const AtomicType TYPES[] = {AtomicType::NONE, AtomicType::F32, AtomicType::F16,
                                       AtomicType::S16,  AtomicType::S32, AtomicType::S8,
                                       AtomicType::BF16, AtomicType::NONE};
    return TYPES[code & 7];
}

void set_operation(AtomicOperation operation, const void* site) {
    current->copies.atomic = operation;
    current->copies.atomic_site = site;
    issue_scalar(1);
}

void set_type(AtomicType type) {
    current->copies.atomic_type = type;
    issue_scalar(1);
}

}  // namespace

void combine(AtomicOperation operation, AtomicType type, uint8_t* dst, const uint8_t* src,
             uint64_t bytes) {
    const auto add = [](auto a, auto b) { return static_cast<float>(a) + static_cast<float>(b); };
    switch (type) {
        case AtomicType::F32: return apply<float>(operation, dst, src, bytes, add);
        case AtomicType::F16: return apply<half>(operation, dst, src, bytes, add);
        case AtomicType::BF16: return apply<bfloat16_t>(operation, dst, src, bytes, add);
        case AtomicType::S32: return apply_integer<int32_t>(operation, dst, src, bytes);
        case AtomicType::S16: return apply_integer<int16_t>(operation, dst, src, bytes);
        case AtomicType::S8: return apply_integer<int8_t>(operation, dst, src, bytes);
        case AtomicType::NONE: std::memcpy(dst, src, bytes); return;
    }
}

void warn_unordered_sum(const void* site) {
    const AtomicType type = current->copies.atomic_type;
    const bool rounds =
        type == AtomicType::F32 || type == AtomicType::F16 || type == AtomicType::BF16;
    if (rounds && current->copies.atomic == AtomicOperation::ADD && launch().block_dim > 1)
        warn(site, "unordered_sum", "",
             "Cores add floating-point numbers atomically, in whatever order they come: the sum "
             "differs from run to run.");
}

}  // namespace dav

using namespace dav;

void set_atomic_none() {
    set_operation(AtomicOperation::NONE, __builtin_return_address(0));
    current->copies.atomic_type = AtomicType::NONE;
}
void set_atomic_add() { set_operation(AtomicOperation::ADD, __builtin_return_address(0)); }
void set_atomic_max() { set_operation(AtomicOperation::MAX, __builtin_return_address(0)); }
void set_atomic_min() { set_operation(AtomicOperation::MIN, __builtin_return_address(0)); }
void set_atomic_f32() { set_type(AtomicType::F32); }
void set_atomic_f16() { set_type(AtomicType::F16); }
void set_atomic_bf16() { set_type(AtomicType::BF16); }
void set_atomic_s32() { set_type(AtomicType::S32); }
void set_atomic_s16() { set_type(AtomicType::S16); }
void set_atomic_s8() { set_type(AtomicType::S8); }

void set_st_atomic_cfg(uint64_t config) {
    current->copies.store_config = config;
    current->copies.atomic_type = type_of(config);
    const uint64_t operation = (config >> 4) & 3;
    set_operation(current->copies.atomic_type == AtomicType::NONE ? AtomicOperation::NONE
                  : operation == 1                                ? AtomicOperation::MAX
                  : operation == 2                                ? AtomicOperation::MIN
                                                                  : AtomicOperation::ADD,
                  __builtin_return_address(0));
}
uint64_t get_st_atomic_cfg() { return current->copies.store_config; }
