#include "image.h"

#include <dlfcn.h>
#include <link.h>

#include <cstring>
#include <vector>

#include "machine.h"
#include "scalar.h"

namespace dav {
namespace {

struct Segment {
    uint8_t* start;
    size_t bytes;
};
// The image of a kind of core.
struct Image {
    std::vector<Segment> segments;
    std::vector<uint8_t> pristine;  // all segments one after the other
    int loaded = -1;                // whose globals are in the image
};
Image images[2];                          // of vector cores, of cube cores
std::vector<std::vector<uint8_t>> saved;  // by core; empty: as pristine

// The library to look for, and which image it is.
struct Wanted {
    uint64_t address;
    int cube;
};

int collect(dl_phdr_info* info, size_t, void* raw) {
    const auto* wanted = static_cast<const Wanted*>(raw);
    if (info->dlpi_addr != wanted->address) return 0;
    launch().image[wanted->cube] = reinterpret_cast<const uint8_t*>(info->dlpi_addr);
    uint64_t& image_bytes = launch().image_bytes[wanted->cube];
    std::vector<Segment>& segments = images[wanted->cube].segments;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr) & header = info->dlpi_phdr[i];
        if (header.p_type != PT_LOAD) continue;
        uint8_t* start = reinterpret_cast<uint8_t*>(info->dlpi_addr + header.p_vaddr);
        const uint64_t end = header.p_vaddr + header.p_memsz;
        if (end > image_bytes) image_bytes = end;
        if (header.p_flags & PF_W) segments.push_back({start, header.p_memsz});
    }
    // Relocated read-only data lies in a writable segment that the loader has sealed.
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr) & header = info->dlpi_phdr[i];
        if (header.p_type != PT_GNU_RELRO) continue;
        const uint64_t page = 4096;
        const uint64_t sealed_end =
            (info->dlpi_addr + header.p_vaddr + header.p_memsz) & ~(page - 1);
        for (Segment& segment : segments) {
            const uint64_t start = reinterpret_cast<uint64_t>(segment.start);
            if (start >= sealed_end || start + segment.bytes <= sealed_end) continue;
            segment.bytes -= sealed_end - start;
            segment.start = reinterpret_cast<uint8_t*>(sealed_end);
        }
    }
    return 1;
}

void copy_in(const Image& image, const std::vector<uint8_t>& bytes) {
    size_t position = 0;
    for (const Segment& segment : image.segments) {
        std::memcpy(segment.start, bytes.data() + position, segment.bytes);
        position += segment.bytes;
    }
}

std::vector<uint8_t> copy_out(const Image& image) {
    std::vector<uint8_t> bytes;
    for (const Segment& segment : image.segments)
        bytes.insert(bytes.end(), segment.start, segment.start + segment.bytes);
    return bytes;
}

}  // namespace

KernelEntry load_image(const std::string& path, bool cube) {
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr)
        fail(Outcome::LAUNCH_ERROR, nullptr, nullptr, "The built kernel cannot be loaded: %s.",
             dlerror());
    void* entry = dlsym(handle, "ascendopt_entry");
    if (entry == nullptr)
        fail(Outcome::LAUNCH_ERROR, nullptr, nullptr,
             "The built kernel has no entry point ascendopt_entry.");
    link_map* map = nullptr;
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0)
        fail(Outcome::LAUNCH_ERROR, nullptr, nullptr, "The built kernel cannot be inspected.");
    Wanted wanted{map->l_addr, cube ? 1 : 0};
    dl_iterate_phdr(collect, &wanted);
    count_blocks_of(*map, cube);
    images[cube].pristine = copy_out(images[cube]);
    saved.resize(launch().cores.size());
    return reinterpret_cast<KernelEntry>(entry);
}

bool in_image(const void* address) {
    const bool cube = current->cube;
    return uint64_t(static_cast<const uint8_t*>(address) - launch().image[cube]) <
           launch().image_bytes[cube];
}

void enter_image(int index) {
    Image& image = images[launch().cores[index]->cube];
    if (image.loaded == index) return;
    copy_in(image, saved[index].empty() ? image.pristine : saved[index]);
    image.loaded = index;
}

void leave_image(int index, bool ended) {
    Image& image = images[launch().cores[index]->cube];
    if (ended) {
        saved[index] = {};
        image.loaded = -1;
    } else if (launch().cores.size() > 1) {
        // A single core needs no switching, and its globals may stay where they are.
        saved[index] = copy_out(image);
    }
}

}  // namespace dav
