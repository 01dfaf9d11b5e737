// What the works of a launch cost with given constants.
#pragma once

#include <vector>

#include "constants.h"
#include "work.h"

namespace dav {

struct Price {
    float occupancy = 0;  // cycles during which the pipe takes nothing else
    float latency = 0;    // cycles from the end of occupancy to the result
    float conflict = 0;   // part of occupancy that bank conflicts cause
    bool bank = false;    // the conflict is of reads with writes in a bank, not within bank groups
};

// Ends the launch with a sentence when a constant is missing.
Price price_of(const Work& work, const Constants& constants);

struct Prices {
    explicit Prices(const Constants& constants);

    std::vector<Price> pipes;   // by number of the work
    std::vector<float> scalar;  // cycles, by number of the scalar work
    float issue;                // cycles of handing an instruction to a pipe
};

}  // namespace dav
