// The machine's memory system alone: argv[1] is a file of constants, each line of the input an
// experiment. For each it answers when the last copy's bytes have moved and its latency, in cycles.
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "bandwidth.h"
#include "constants.h"
#include "gm.h"
#include "machine.h"

namespace dav {
uint64_t gm_first_address() { return 1 << 20; }
uint64_t gm_extent() { return 1 << 28; }
std::vector<GmRange> gm_inputs() { return {}; }
Launch& launch() {
    static Launch none;
    return none;
}
void fail(Outcome, const void*, const void*, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    std::vfprintf(stderr, format, arguments);
    std::exit(1);
}
}  // namespace dav

namespace {
struct Experiment {
    unsigned port, cores, copies, bursts, length, from_memory, past_l2, one_place;
};

// Every core makes its copies one after the other, all cores at the same time.
dav::Flow run(dav::SharedMemory& memory, const Experiment& asked) {
    std::vector<unsigned> made(asked.cores, 0);
    const auto start = [&](unsigned core) {
        const uint64_t place = asked.one_place ? 0 : core * asked.copies + made[core]++;
        dav::Transfer copy{};
        copy.start = dav::gm_first_address() + place * asked.bursts * asked.length;
        copy.stride = copy.length = asked.length;
        // Each burst lies in windows of its own.
        if (asked.one_place) copy.stride = (asked.length / 512 + 1) * 512;
        copy.count = asked.bursts;
        copy.port = static_cast<dav::Port>(asked.port);
        copy.write = copy.port == dav::Port::FROM_UB;
        copy.bypass = asked.past_l2;
        memory.start(static_cast<int>(core), 0, copy, 0, 0);
    };
    for (unsigned core = 0; core < asked.cores; ++core) start(core);
    dav::Flow last{};
    while (!memory.idle()) {
        memory.run_until(memory.next_end());
        last = memory.take_ended();
        if (made[last.core] < asked.copies && !asked.one_place)
            start(static_cast<unsigned>(last.core));
    }
    return last;
}
}  // namespace

int main(int, char** arguments) {
    dav::constants().load(arguments[1]);
    Experiment asked{};
    while (std::scanf("%u %u %u %u %u %u %u %u", &asked.port, &asked.cores, &asked.copies,
                      &asked.bursts, &asked.length, &asked.from_memory, &asked.past_l2,
                      &asked.one_place) == 8) {
        dav::launch().ports[asked.port] = true;  // before its costs are read
        dav::SharedMemory memory(dav::constants());
        if (!asked.from_memory) {
            run(memory, asked);
            memory.run_until(memory.now() + 1e4);  // until all of it has come
        }
        const double before = memory.now();
        const dav::Flow last = run(memory, asked);
        std::printf("%.9g %.9g\n", memory.now() - before, last.latency);
    }
}
