// Runs single vector instructions for the tests: requests on standard input, results on standard
// output, one process for all. It stands in for the rest of the machine (checks and clock) by
// recording what an instruction declares to touch, so that tests can hold that against what it
// really touches. `calls.inc` is generated from the instruction table.
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "constants.h"
#include "machine.h"
#include "vector_lanes.h"

namespace {

constexpr size_t WINDOW = 16384;  // the part of UB that travels

struct Request {
    int64_t call;
    uint64_t low, high, counter, control, dequantize, compare[2];
    int64_t number[16];
    double scalar;
    uint8_t ub[WINDOW];
};

struct Range {
    int64_t offset, bytes, write;
};

struct Answer {
    uint64_t accumulated, max_min, reduced, merged, compare[2];
    int64_t ranges;
    uint8_t ub[WINDOW];
};

alignas(4096) uint8_t memory[dav::UB_BYTES + 4096];
dav::VectorState state;
std::vector<Range> ranges;

bool read_all(void* to, size_t bytes) {
    auto* at = static_cast<uint8_t*>(to);
    while (bytes != 0) {
        const ssize_t got = read(0, at, bytes);
        if (got <= 0) return false;
        at += got;
        bytes -= static_cast<size_t>(got);
    }
    return true;
}

void write_all(const void* from, size_t bytes) {
    const auto* at = static_cast<const uint8_t*>(from);
    while (bytes != 0) {
        const ssize_t put = write(1, at, bytes);
        if (put <= 0) std::exit(1);
        at += put;
        bytes -= static_cast<size_t>(put);
    }
}

}  // namespace

namespace dav {

Launch& launch() {
    static Launch instance;  // no launch: instructions are called alone
    return instance;
}

uint32_t ub_offset(const void* pointer) {
    const auto address = reinterpret_cast<uint64_t>(pointer);
    const auto base = reinterpret_cast<uint64_t>(memory);
    if (address >= base && address - base < (1 << 20)) return uint32_t(address - base);
    return address < 256 * 1024 ? uint32_t(address) : UINT32_MAX;
}

uint8_t* ub_address(const void* pointer) { return memory + ub_offset(pointer); }

VectorState& vector_state() { return state; }

void issue_scalar(uint32_t) {}

void read_vector_register(const char*, void*, bool) {}

void check_reach(const void*, const void*, uint64_t, bool, const char*, const void*) {}

void warn(const void*, const char*, const char*, const char*, ...) {}

void fail(Outcome, const void*, const void*, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    std::vfprintf(stderr, format, arguments);
    std::exit(2);
}

void issue_vector(const char* mnemonic, const char* dtype, uint32_t repeats,
                  const VectorOperand* operands, int count, void*, uint32_t) {
    constants().vector_cost(mnemonic, dtype);  // every instruction has a price
    for (int i = 0; i < count && repeats != 0; i++) {
        const VectorOperand& o = operands[i];
        const int64_t base = ub_offset(o.address);
        if (base % o.alignment != 0 || base > UB_BYTES) {
            std::fprintf(stderr, "%s declares a wrong address %ld\n", mnemonic, long(base));
            std::exit(2);
        }
        for (uint32_t r = 0; r < repeats; r++) {
            if (o.span != 0) {
                ranges.push_back({base + int64_t(r) * o.repeat_bytes, o.span, o.write});
                continue;
            }
            const unsigned blocks =
                r + 1 == repeats && o.tail_blocks != 0 ? o.tail_blocks : o.blocks;
            for (unsigned b = 0; b < blocks; b++)
                ranges.push_back(
                    {base +
                         (int64_t(r) * o.repeat_stride + int64_t(b) * o.block_stride) * BLOCK_BYTES,
                     BLOCK_BYTES, o.write});
        }
    }
}

}  // namespace dav

int main(int, char** arguments) {
    const std::string problem = dav::constants().load(arguments[1]);
    if (!problem.empty()) return 4;
    static Request request;
    static Answer answer;
    uint8_t* const ub = memory;
    while (read_all(&request, sizeof(request))) {
        state = dav::VectorState{};
        state.mask = {request.low, request.high, request.counter != 0};
        state.control = request.control;
        state.dequantize_scale = request.dequantize;
        std::memcpy(state.compare_mask, request.compare, sizeof(request.compare));
        std::memcpy(memory, request.ub, WINDOW);
        ranges.clear();
        const int64_t* const n = request.number;
        const double scalar = request.scalar;
        switch (request.call) {
#include "calls.inc"
            default: return 3;
        }
        answer.accumulated = state.accumulated;
        answer.max_min = state.max_min_count;
        answer.reduced = state.reduce_count;
        answer.merged = state.merged_counts;
        std::memcpy(answer.compare, state.compare_mask, sizeof(answer.compare));
        answer.ranges = static_cast<int64_t>(ranges.size());
        std::memcpy(answer.ub, memory, WINDOW);
        write_all(&answer, sizeof(answer));
        write_all(ranges.data(), ranges.size() * sizeof(Range));
    }
    return 0;
}
