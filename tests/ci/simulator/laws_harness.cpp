// Launches whose records are made, not executed: argv[1] is a file of constants, each line of the
// input a kernel. For each it answers the cycles from the launch to the end of the last core.
#include <algorithm>
#include <cstdio>
#include <string>

#include "constants.h"
#include "gm.h"
#include "machine.h"
#include "timing.h"

namespace {

using namespace dav;

struct Kernel {
    unsigned cores, buffers, one_place, loads, stores;
    unsigned long long bytes, tile;  // of one tensor; of a copy
};

class Writer {
public:
    explicit Writer(Core* core) : core_(*core) { current = core; }
    void copy(int pipe, uint64_t start, uint64_t bytes) {
        Transfer copy{};
        copy.start = start;
        copy.stride = copy.length = static_cast<uint32_t>(bytes);
        copy.count = 1;
        copy.write = pipe == MTE3;
        copy.port = copy.write ? Port::FROM_UB : Port::TO_UB;
        add(transfer_record(copy, pipe, "copy"));
    }
    void flag(Kind kind, int pipe, int peer, unsigned event) {
        Record record = Record::between(kind, pipe, peer, "flag");
        record.event = static_cast<uint8_t>(event);
        add(record);
    }
    void order(int from, int to, unsigned event) {
        flag(Kind::SET_FLAG, from, to, event);
        flag(Kind::WAIT_FLAG, to, from, event);
    }
    void compute(uint64_t bytes) {
        Work work = Work::of(Formula::VECTOR, (bytes + 255) / 256);
        work.mnemonic = "vadd";
        work.dtype = "f16";
        add(Record::compute(V, "vadd", work));
    }
    void add(const Record& record) { core_.records.push_back(record); }

private:
    Core& core_;
};

// Tiles of some tensors come in, one instruction works on them, one tensor goes out.
void write_core(const Kernel& kernel, unsigned index, uint64_t gm) {
    Writer writer(launch().cores[index]);
    const uint64_t apart = (kernel.bytes + 511) / 512 * 512;  // of the tensors
    const uint64_t tiles = (kernel.bytes + kernel.tile - 1) / kernel.tile;
    const uint64_t first = tiles * index / kernel.cores;
    const uint64_t last = tiles * (index + 1) / kernel.cores;
    for (unsigned i = 0; i < kernel.buffers; ++i) {
        writer.flag(Kind::SET_FLAG, V, MTE2, i);
        writer.flag(Kind::SET_FLAG, MTE3, V, i);
    }
    for (uint64_t tile = first; tile < last; ++tile) {
        const auto event = static_cast<unsigned>(tile % kernel.buffers);
        const uint64_t place = kernel.one_place ? tile - first : tile;
        const uint64_t bytes = std::min<uint64_t>(kernel.tile, kernel.bytes - tile * kernel.tile);
        writer.flag(Kind::WAIT_FLAG, MTE2, V, event);
        for (unsigned load = 0; load < kernel.loads; ++load)
            writer.copy(MTE2, gm + load * apart + place * kernel.tile, bytes);
        writer.order(MTE2, V, event);
        writer.flag(Kind::WAIT_FLAG, V, MTE3, event);
        writer.compute(bytes);
        writer.flag(Kind::SET_FLAG, V, MTE2, event);
        writer.order(V, MTE3, event);
        if (kernel.stores) writer.copy(MTE3, gm + kernel.loads * apart + tile * kernel.tile, bytes);
        writer.flag(Kind::SET_FLAG, MTE3, V, event);
    }
    writer.add(Record::of(Kind::END, S, "end"));
}

double cycles(const Kernel& kernel, uint64_t gm) {
    Launch& shared = launch();
    for (const Core* core : shared.cores) delete core;
    shared.cores.clear();
    shared.block_dim = static_cast<int>(kernel.cores);
    shared.resident_blocks = static_cast<int>(constants().get("device.vector_cores"));
    for (unsigned index = 0; index < kernel.cores; ++index) {
        Core* core = new Core;
        core->index = core->block = static_cast<int>(index);
        shared.cores.push_back(core);
    }
    for (unsigned index = 0; index < kernel.cores; ++index) write_core(kernel, index, gm);
    return cycles_with(constants());
}

}  // namespace

int main(int, char** arguments) {
    const std::string problem = constants().load(arguments[1]);
    if (!problem.empty()) return 1;
    launch().vectors_per_block = 1;
    launch().over_read = 0;
    const uint8_t* gm = allocate_gm(3ull << 29, GmRole::WORKSPACE, "all tensors", 0);
    Kernel one{};
    while (std::scanf("%u %u %u %u %u %llu %llu", &one.cores, &one.buffers, &one.one_place,
                      &one.loads, &one.stores, &one.bytes, &one.tile) == 7)
        std::printf("%.1f\n", cycles(one, reinterpret_cast<uint64_t>(gm)));
}
