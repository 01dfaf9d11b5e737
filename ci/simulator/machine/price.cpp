#include "price.h"

#include <algorithm>

namespace dav {
namespace {

// Bytes (or the like) at a rate, after a fixed part, with a latency that pipelines.
Price moved(const Constants& constants, uint64_t amount, const char* rate, const char* fixed,
            const char* latency) {
    Price price;
    const double start = fixed != nullptr ? constants.get(fixed) : 0;
    price.occupancy = static_cast<float>(double(amount) / constants.get(rate) + start);
    price.latency = static_cast<float>(constants.get(latency));
    return price;
}

Price product(const Constants& constants, uint64_t amount, float cycles) {
    Price price;
    price.occupancy = cycles * static_cast<float>(amount) +
                      static_cast<float>(constants.get("cube.fixed_cycles"));
    price.latency = static_cast<float>(constants.get("cube.latency"));
    return price;
}

Price vector(const Constants& constants, const Work& work) {
    const VectorCost cost = constants.vector_cost(work.mnemonic, work.dtype);
    const auto least = static_cast<float>(constants.get("vector.issue_floor"));
    const auto meeting = static_cast<float>(constants.get("vector.read_write_conflict"));
    const auto repeats = static_cast<float>(work.amount);
    // A slow instruction hides the conflicts of its operands: it reads less often.
    const float busy = cost.cycles * repeats;
    const float conflicts =
        static_cast<float>(work.turns) + static_cast<float>(work.meetings) * meeting;
    const float access = repeats + conflicts;
    Price price;
    price.latency = cost.latency;
    price.conflict = std::max(0.0f, access - std::max(busy, repeats));
    price.bank = price.conflict > 0 && work.turns == 0;
    price.occupancy = std::max(least, std::max(busy, access) + static_cast<float>(work.extra));
    return price;
}

float scalar_cycles(const ScalarWork& work, const Constants& constants) {
    static const char* const NAMES[SCALAR_UNITS] = {nullptr,
                                                    "scalar.ub_load",
                                                    "scalar.ub_store",
                                                    "scalar.gm_hit",
                                                    "scalar.gm_miss",
                                                    "scalar.dcci",
                                                    "scalar.library_call",
                                                    "scalar.division",
                                                    "matmul.scalar_cycles",
                                                    "matmul.tiling_cycles",
                                                    "matmul.single_copy_cycles"};
    double cycles = work.counts[CYCLES];
    for (int unit = CYCLES + 1; unit < SCALAR_UNITS; ++unit)
        if (work.counts[unit] != 0) cycles += work.counts[unit] * constants.get(NAMES[unit]);
    cycles += double(work.instructions) * constants.get("scalar.instruction");
    return static_cast<float>(cycles);
}

}  // namespace

Works& works() {
    static Works instance;
    return instance;
}

Price price_of(const Work& work, const Constants& constants) {
    const auto number = [&](const char* name) { return static_cast<float>(constants.get(name)); };
    const auto loaded = [&](const char* rate) {
        return moved(constants, work.amount, rate, "mte1.fixed_cycles", "mte1.latency");
    };
    Price price;
    switch (work.formula) {
        case Formula::NONE: return price;
        case Formula::NOTHING: price.occupancy = 1; return price;
        case Formula::VECTOR: return vector(constants, work);
        case Formula::UB_COPY:
            return moved(constants, work.amount, "vector.copy_bytes_per_cycle", nullptr,
                         "vector.copy_latency");
        case Formula::LOAD_A: return loaded("mte1.l0a_bytes_per_cycle");
        case Formula::LOAD_B: return loaded("mte1.l0b_bytes_per_cycle");
        case Formula::LOAD_BIAS: return loaded("mte1.table_bytes_per_cycle");
        case Formula::LOAD_IMAGE:
            return moved(constants, work.amount, "mte1.image_bytes_per_cycle", "mte1.fixed_cycles",
                         "mte1.image_latency");
        case Formula::LOAD_FIXBUF:
            return moved(constants, work.amount, "fix.table_bytes_per_cycle", nullptr,
                         "fix.table_latency");
        case Formula::CUBE: return product(constants, work.amount, 1);
        case Formula::CUBE_FP32: return product(constants, work.amount, number("cube.fp32_cycles"));
        case Formula::CUBE_HF32: return product(constants, work.amount, number("cube.hf32_cycles"));
        case Formula::FIX_TO_GM:
            price.occupancy = float(work.amount) / number("fix.source_bytes_per_cycle");
            return price;
        case Formula::FIX_TO_L1:
            price.occupancy = std::max(float(work.amount) / number("fix.source_bytes_per_cycle"),
                                       float(work.second) / number("fix.l1_bytes_per_cycle"));
            price.latency = number("fix.l1_latency");
            return price;
    }
    return price;
}

Prices::Prices(const Constants& constants)
    : issue(static_cast<float>(constants.get("scalar.issue"))) {
    for (const Work& work : works().pipes.values()) pipes.push_back(price_of(work, constants));
    for (const ScalarWork& work : works().scalar.values())
        scalar.push_back(scalar_cycles(work, constants));
}

}  // namespace dav
