// The kernel's shared library: loading it, and keeping its global variables apart by core.
#pragma once

#include <string>

namespace dav {

using KernelEntry = void (*)(unsigned char**);

// Loads the library and keeps a copy of its writable memory. Returns its entry point; a library
// that cannot be loaded ends the launch as a launch error.
KernelEntry load_image(const std::string& path);
// Puts core `index`'s globals (at first: the pristine ones) into the image, and saves them again.
void enter_image(int index);
void leave_image(int index);

}  // namespace dav
