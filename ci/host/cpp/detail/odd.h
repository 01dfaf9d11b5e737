// What a host side asks, and what of it the framework answers with something else.
#pragma once

#include <cstddef>
#include <string>

namespace host {
// Keeps a sentence for the answer, once a line.
void note_odd(const char* kind, const std::string& text, const char* file, int line);

// Keeps where the host side asks for an attribute, or for the shape or values of a tensor; lists
// are counted tensor by tensor.
void note_asked(const char* what, size_t number, const char* file, int line);
}  // namespace host
