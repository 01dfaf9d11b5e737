// Counts basic blocks as the machine does: `blocks_harness KERNEL` reads offsets of return
// addresses and writes the count of each.
#include <dlfcn.h>
#include <link.h>

#include <cstdio>

#include "block_length.h"

int main(int, char** words) {
    void* library = dlopen(words[1], RTLD_NOW | RTLD_LOCAL);
    link_map* map = nullptr;
    if (library == nullptr || dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) {
        std::fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    dav::BlockLengths lengths(*map);
    const auto* code = reinterpret_cast<const uint8_t*>(map->l_addr);
    for (unsigned long offset = 0; std::scanf("%lx", &offset) == 1;)
        std::printf("%u\n", lengths.holds(code + offset) ? lengths.at(code + offset).all : 0u);
    return 0;
}
