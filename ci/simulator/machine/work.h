// What instructions and scalar code do, as far as their price depends on it. Execution notes works;
// the timing pass prices them (price.h), as often as it is asked, each time with other constants.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

namespace dav {

// How the work of an instruction is priced.
enum class Formula : uint32_t {
    NONE,         // what has no length of its own
    NOTHING,      // an instruction that moves and computes nothing
    VECTOR,       // `amount` repeats of the row mnemonic, dtype
    UB_COPY,      // `amount` bytes, UB to UB
    LOAD_A,       // `amount` bytes, L1 to L0A
    LOAD_B,       // the same, to L0B
    LOAD_IMAGE,   // the same, image to column
    LOAD_BIAS,    // the same, to the bias table
    LOAD_FIXBUF,  // the same, to the fixpipe's buffer
    CUBE,         // `amount` products of two fractals
    CUBE_FP32,
    CUBE_HF32,
    FIX_TO_GM,  // `amount` bytes of L0C; a copy whose other side takes its own time
    FIX_TO_L1,  // `amount` bytes of L0C, `second` bytes of L1
};

// Read as words: no padding.
struct Work {
    const char* mnemonic = nullptr;  // of VECTOR; literals
    const char* dtype = nullptr;
    uint64_t amount = 0;
    uint64_t second = 0;
    uint32_t turns = 0;     // cycles in which bank groups are asked twice
    uint32_t meetings = 0;  // repeats whose reads meet a write in a bank
    uint32_t extra = 0;     // cycles that the operands cost beyond the repeats
    Formula formula = Formula::NONE;

    static Work of(Formula formula, uint64_t amount, uint64_t second = 0) {
        Work work;
        work.formula = formula;
        work.amount = amount;
        work.second = second;
        return work;
    }
};

// What the scalar unit can be busy with, each with a price of its own.
enum ScalarUnit {
    CYCLES,  // registers and flags: one each
    UB_LOADS,
    UB_STORES,
    GM_HITS,
    GM_MISSES,
    CACHE_FLUSHES,
    LIBRARY_CALLS,
    DIVISIONS,
    MATMUL_BLOCKS,
    MATMUL_TILINGS,
    MATMUL_COPIES,
    SCALAR_UNITS
};

// Scalar work between two records.
struct ScalarWork {
    uint64_t instructions = 0;
    uint32_t counts[SCALAR_UNITS + SCALAR_UNITS % 2] = {};  // no padding: compared as words
};

// Equal values get equal numbers, from 0 on as they come; number 0 is the default value.
template <typename T> class Numbered {
    static_assert(sizeof(T) % sizeof(uint64_t) == 0, "values are compared as words");

public:
    Numbered() { number(T{}); }
    uint32_t number(const T& value) {
        if (4 * values_.size() >= 3 * slots_.size()) grow();
        uint32_t& slot = slots_[place(value)];
        if (slot == 0) {
            values_.push_back(value);
            slot = static_cast<uint32_t>(values_.size());
        }
        return slot - 1;
    }
    const std::vector<T>& values() const { return values_; }

private:
    // Where the value is, or would be put.
    size_t place(const T& value) const {
        constexpr size_t WORDS = sizeof(T) / sizeof(uint64_t);
        uint64_t words[WORDS];
        std::memcpy(words, &value, sizeof(T));
        uint64_t hash = 0;
        for (const uint64_t word : words) {
            hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
            hash ^= hash >> 32;
        }
        size_t at = hash & (slots_.size() - 1);
        while (slots_[at] != 0 && std::memcmp(&values_[slots_[at] - 1], &value, sizeof(T)) != 0)
            at = (at + 1) & (slots_.size() - 1);
        return at;
    }
    void grow() {
        slots_.assign(slots_.empty() ? 256 : 2 * slots_.size(), 0);
        for (size_t i = 0; i < values_.size(); ++i)
            slots_[place(values_[i])] = static_cast<uint32_t>(i + 1);
    }

    std::vector<T> values_;
    std::vector<uint32_t> slots_;  // number + 1, or 0
};

// The works of a launch, all cores together.
struct Works {
    Numbered<Work> pipes;
    Numbered<ScalarWork> scalar;
};

Works& works();

}  // namespace dav
