// What a host side asks that the framework answers with something else.
#pragma once

#include <cstddef>
#include <string>

namespace host {
// Keeps a sentence for the answer, once a line.
void note_odd(const char* kind, const std::string& text, const char* file, int line);
}  // namespace host
