// The machine's program: `machine_runner REQUEST kernel.so [cube.so]`. Runs one launch and writes
// outputs and report to the files that the request names; nothing that matters goes to stdout.
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "constants.h"
#include "fiber.h"
#include "conflicts.h"
#include "gm.h"
#include "image.h"
#include "machine.h"
#include "memory.h"
#include "message.h"
#include "report.h"
#include "request.h"
#include "scalar.h"
#include "timing.h"
#include "use.h"

namespace {

using namespace dav;

constexpr int MOST_BLOCKS = 65535;          // of a launch on the chip
constexpr uint64_t SHARED_BYTES = 1 << 20;  // outputs from here on lie in their files

void read_file(const std::string& path, uint8_t* to, uint64_t bytes) {
    FILE* file = std::fopen(path.c_str(), "rb");
    if (file == nullptr || std::fread(to, 1, bytes, file) != bytes)
        fail(Outcome::LAUNCH_ERROR, nullptr, nullptr, "The file %s has fewer than %llu bytes.",
             path.c_str(), static_cast<unsigned long long>(bytes));
    std::fclose(file);
}

uint64_t file_size(const std::string& path) {
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    return file ? static_cast<uint64_t>(file.tellg()) : ~0ull;
}

void write_file(const std::string& path, const uint8_t* from, uint64_t bytes) {
    FILE* file = std::fopen(path.c_str(), "wb");
    if (file == nullptr || std::fwrite(from, 1, bytes, file) != bytes || std::fclose(file) != 0)
        fail(Outcome::LAUNCH_ERROR, nullptr, nullptr, "The output %s cannot be written.",
             path.c_str());
}

void store(const TensorFile& tensor) {
    if (!tensor.shared) write_file(tensor.file, tensor.address, tensor.bytes);
}

void place(TensorFile& tensor, bool input, const std::string& name) {
    if (launch().addresses) {
        const GmRole role = input ? GmRole::INPUT : GmRole::OUTPUT;
        tensor.address = allocate_gm(tensor.bytes, role, name, 0);
        return;
    }
    if (input && launch().elsewhere) {
        tensor.address = allocate_gm(tensor.bytes, GmRole::INPUT, name, launch().behind);
        // A file that is shorter repeats, as in map_gm.
        const uint64_t size = std::max<uint64_t>(1, std::min(file_size(tensor.file), tensor.bytes));
        for (uint64_t at = 0; at < tensor.bytes; at += size)
            read_file(tensor.file, tensor.address + at, std::min(size, tensor.bytes - at));
        return;
    }
    if (input) {
        tensor.address = map_gm(tensor.file, tensor.bytes, GmRole::INPUT, name);
        return;
    }
    if (tensor.bytes >= SHARED_BYTES && !launch().elsewhere) {
        tensor.shared = true;
        if (share_gm(tensor.file, tensor.bytes, name, tensor.address)) mark_output(tensor.address);
        return;
    }
    tensor.address = allocate_gm(tensor.bytes, GmRole::OUTPUT, name, launch().poison);
    // An output whose file is there has initial values.
    if (file_size(tensor.file) != tensor.bytes) return;
    read_file(tensor.file, tensor.address, tensor.bytes);
    mark_output(tensor.address);
}

// The descriptor of a tensor list, as kernels parse it: 64-bit words with the offset of the
// pointers, for each tensor index << 32 | rank and its extents, then the pointers.
uint8_t* describe_list(const std::vector<TensorFile>& items, const std::string& name) {
    std::vector<uint64_t> words{0};
    for (size_t index = 0; index < items.size(); ++index) {
        const std::vector<uint64_t> scalar{1};
        const std::vector<uint64_t>& shape =
            items[index].shape.empty() ? scalar : items[index].shape;
        words.push_back(uint64_t(index) << 32 | shape.size());
        words.insert(words.end(), shape.begin(), shape.end());
    }
    words[0] = words.size() * sizeof(uint64_t);
    for (const TensorFile& item : items) words.push_back(reinterpret_cast<uint64_t>(item.address));
    const uint64_t bytes = words.size() * sizeof(uint64_t);
    uint8_t* memory = allocate_gm(bytes, GmRole::LIST, name, 0);
    std::memcpy(memory, words.data(), bytes);
    return memory;
}

void place_arguments(Request& request) {
    int inputs = 0;
    int outputs = 0;
    for (Argument& argument : request.arguments) {
        if (argument.role == Argument::Role::NONE) {
            ++inputs;
            continue;
        }
        if (argument.role == Argument::Role::ALIAS) {
            ++outputs;
            if (argument.alias_of >= request.arguments.size())
                fail(Outcome::LAUNCH_ERROR, nullptr, nullptr,
                     "An output shares the memory of argument %zu, which there is not.",
                     argument.alias_of);
            const Argument& other = request.arguments[argument.alias_of];
            argument.address = other.address;
            argument.tensor.address = other.tensor.address;
            argument.items = other.items;
            argument.list = other.list;
            for (TensorFile& item : argument.items) item.shared = false;
            for (size_t i = 0; i < argument.items.size(); ++i)
                argument.items[i].file = argument.tensor.file + "." + std::to_string(i);
            continue;
        }
        const bool input = argument.role == Argument::Role::INPUT;
        const std::string name =
            (input ? "input " : "output ") + std::to_string(input ? inputs++ : outputs++);
        if (!argument.list) {
            place(argument.tensor, input, name);
            argument.address = argument.tensor.address;
            set_element(argument.address, argument.tensor.element);
            continue;
        }
        for (size_t i = 0; i < argument.items.size(); ++i)
            place(argument.items[i], input, name + "[" + std::to_string(i) + "]");
        argument.address = describe_list(argument.items, "the list of " + name);
    }
    // What an output shares is written on purpose.
    for (const Argument& argument : request.arguments)
        if (argument.role == Argument::Role::ALIAS) {
            mark_output(argument.tensor.address);
            for (const TensorFile& item : argument.items) mark_output(item.address);
        }
}

void write_outputs(const Request& request) {
    for (const Argument& argument : request.arguments) {
        if (argument.role != Argument::Role::OUTPUT && argument.role != Argument::Role::ALIAS)
            continue;
        if (!argument.list) store(argument.tensor);
        for (const TensorFile& item : argument.items) store(item);
    }
}

std::vector<unsigned char*> kernel_parameters(Request& request) {
    std::vector<unsigned char*> parameters;
    for (const Argument& argument : request.arguments) parameters.push_back(argument.address);
    parameters.push_back(
        allocate_gm(request.workspace, GmRole::WORKSPACE, "the workspace", launch().poison));
    set_workspace(reinterpret_cast<uint64_t>(parameters.back()), request.workspace);
    const uint64_t bytes = request.tiling.empty() ? 0 : file_size(request.tiling);
    // Behind what the host side gives lies anything.
    constexpr uint64_t BEHIND = 4096;
    constexpr uint8_t UNSET = 0xfe;
    const uint64_t room = bytes + (request.checked ? BEHIND : 0);
    uint8_t* data = allocate_gm(room, GmRole::TILING, "the tiling data", 0);
    launch().tiling_bytes = bytes;
    std::fill(data + bytes, data + room, UNSET);
    if (bytes > 0) read_file(request.tiling, data, bytes);
    parameters.push_back(data);
    return parameters;
}

void make_cores(const Request& request) {
    Launch& shared = launch();
    shared.block_dim = request.block_dim;
    shared.auto_sync = request.auto_sync;
    shared.true_offsets = request.true_offsets;
    shared.poison = request.poison;
    shared.behind = request.behind;
    shared.elsewhere = request.elsewhere;
    shared.over_read = request.over_read;
    shared.asked_workspace = request.asked_workspace;
    shared.checked = request.checked;
    shared.addresses = request.addresses;
    shared.cubes_per_block = request.cubes_per_block;
    shared.vectors_per_block = request.vectors_per_block;
    if (request.cubes_per_block > 1 || request.vectors_per_block > 2 ||
        request.cubes_per_block + request.vectors_per_block < 1)
        fail(Outcome::LAUNCH_ERROR, nullptr, nullptr,
             "A block has at most a cube core and two vector cores.");
    const int cubes = static_cast<int>(constants().get("device.cube_cores"));
    const int vectors = static_cast<int>(constants().get("device.vector_cores"));
    // A block with a cube core takes that one's whole AI core.
    shared.resident_blocks = request.cubes_per_block > 0 ? cubes : vectors;
    if (request.block_dim < 1 || request.block_dim > MOST_BLOCKS)
        fail(Outcome::LAUNCH_ERROR, nullptr, nullptr,
             "The tiling asks for %d blocks; the machine runs 1 to %d.", request.block_dim,
             MOST_BLOCKS);
    const auto add = [&](int block, bool cube, int sub_block) {
        Core* core = new Core;
        core->index = static_cast<int>(shared.cores.size());
        core->cube = cube;
        core->block = block;
        core->sub_block = sub_block;
        shared.cores.push_back(core);
    };
    for (int block = 0; block < request.block_dim; ++block) {
        if (request.cubes_per_block > 0) add(block, true, 0);
        for (int sub = 0; sub < request.vectors_per_block; ++sub) add(block, false, sub);
    }
}

// The launch's cycles with the constants of each member. What changes nothing that the first
// timing, of `cycles`, has asked for takes as long as that.
std::vector<std::pair<std::string, double>> time_members(const Request& request, double cycles) {
    std::vector<std::pair<std::string, double>> found;
    for (const Member& member : request.members) {
        Constants other = constants();
        bool differs = false;
        for (const auto& [name, value] : member.constants) {
            other.set(name, value);
            differs |= constants().used(name);
        }
        found.emplace_back(member.name, std::round(differs ? cycles_with(other) : cycles));
    }
    return found;
}

// CPU seconds of this program since the last call.
double lap() {
    static double last = 0;
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    const double seconds = double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
    const double passed = seconds - last;
    last = seconds;
    return passed;
}

}  // namespace

int main(int count, char** words) {
    if (count != 3 && count != 4) {
        std::fprintf(stderr, "usage: machine_runner REQUEST KERNEL [CUBE_KERNEL]\n");
        return 2;
    }
    Request request = read_request(words[1]);
    if (request.report.empty()) {
        std::fprintf(stderr, "The launch request names no report.\n");
        return 2;
    }
    set_report_path(request.report);
    const std::string problem = constants().load(request.constants);
    if (!problem.empty()) fail(Outcome::LAUNCH_ERROR, nullptr, nullptr, "%s.", problem.c_str());
    make_cores(request);
    // Loading runs the kernel's static initialisers: nothing to read or write is there yet.
    install_traps();
    KernelEntries entries;
    const bool mixed = request.cubes_per_block > 0 && request.vectors_per_block > 0;
    if (mixed != (count == 4))
        fail(Outcome::LAUNCH_ERROR, nullptr, nullptr,
             "A launch on both kinds of cores takes two built kernels, any other one.");
    if (request.vectors_per_block > 0) entries.vector = load_image(words[2], false);
    if (request.cubes_per_block > 0) entries.cube = load_image(words[mixed ? 3 : 2], true);
    place_arguments(request);
    std::vector<unsigned char*> parameters = kernel_parameters(request);
    HostSeconds host;
    host.load = lap();
    run_blocks(entries, parameters.data());
    if (request.addresses) {
        write_cover();
        _exit(0);
    }
    check_conflicts();
    check_cache_lines();
    if (request.checked) warn_unused();
    end_if_racing();
    host.execute = lap();
    constants().forget_uses();
    const Profile profile = time_launch(request.timeline);
    host.timing = lap();
    const auto members = time_members(request, profile.total_cycles);
    host.members = lap();
    write_outputs(request);
    host.store = lap();
    write_report(profile, members, unwritten_outputs(), host);
    _exit(0);
}
