// Which bytes of GM a launch asks for: of all tensors in one that only asks for addresses
// (Launch::addresses), of inputs in one that is checked.
#pragma once

#include <string>

#include "gm_allocations.h"
#include "trace.h"

namespace dav {

// Books the bytes of a copy or of a scalar access.
void note_cover(const Transfer& span);

// By input and output, as JSON: [name, bytes, bytes read, bytes written, digest of the written].
std::string cover_json();

// What is not read of a tensor; nothing where too many places are.
struct Hole {
    uint64_t first;
    uint64_t bytes;
};
Hole unread(const Allocation& one);

}  // namespace dav
