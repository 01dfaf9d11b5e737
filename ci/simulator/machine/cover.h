// Which bytes of GM a launch asks for, in one that only asks for addresses (Launch::addresses).
#pragma once

#include <string>

#include "trace.h"

namespace dav {

// Books the bytes of a copy or of a scalar access.
void note_cover(const Transfer& span);

// By input and output, as JSON: [name, bytes, bytes read, bytes written, digest of the written].
std::string cover_json();

}  // namespace dav
