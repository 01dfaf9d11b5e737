// The kernel's shared libraries: loading them, and keeping their global variables apart by core.
#pragma once

#include <string>

namespace dav {

using KernelEntry = void (*)(unsigned char**);

// What each kind of core runs.
struct KernelEntries {
    KernelEntry vector = nullptr;
    KernelEntry cube = nullptr;
};

// Loads the library of the cube or of the vector cores and keeps a copy of its writable memory.
// Returns its entry point; a library that cannot be loaded ends the launch as a launch error.
KernelEntry load_image(const std::string& path, bool cube);
// Puts core `index`'s globals (at first: the pristine ones) into its image, and saves them again
// unless the core has ended.
void enter_image(int index);
void leave_image(int index, bool ended);
// A place in the running core's image: a variable of the kernel, or of its headers, that outlives
// each call.
bool in_image(const void* address);

}  // namespace dav
