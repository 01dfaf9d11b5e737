// Files that a program reads and that are not there: its data, which a script makes before it runs.
// One that a script made lies in the folder ASCENDOPT_FILES. Each other one is one byte here, so
// that the program goes on. What hangs on it another run shows, in which it is another byte.
#pragma once

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace ascendopt {

// Folders around the one that a program runs in, which are its own.
constexpr int OWN_FOLDERS = 3;

// Whether a name leads no further out than those.
inline bool is_own(const std::string& name) {
    int depth = 0;
    for (size_t at = 0, end; at <= name.size(); at = end + 1) {
        end = std::min(name.find('/', at), name.size());
        const std::string part = name.substr(at, end - at);
        if (part == "..") depth -= 1;
        if (depth < -OWN_FOLDERS) return false;
        if (!part.empty() && part != "." && part != "..") depth += 1;
    }
    return !name.empty() && name[0] != '/';
}

// Adds the name of a file that is not there to the list of those.
inline void say_absent(const std::string& line) {
    int list = openat(AT_FDCWD, "absent_files", O_CREAT | O_APPEND | O_WRONLY, 0600);
    if (list < 0) return;
    if (write(list, line.data(), line.size()) < 0) errno = 0;
    close(list);
}

// Makes a file that is missing where its name has an ending: what has none may be a folder.
inline void make_absent(const char* path) {
    if (!path || !is_own(path) || faccessat(AT_FDCWD, path, F_OK, 0) == 0) return;
    const int before = errno;
    std::string name = path;
    size_t first = name.rfind('/') + 1, ending = name.rfind('.');
    if (ending == std::string::npos || ending <= first) return;
    for (size_t end = name.find('/', 1); end < first; end = name.find('/', end + 1))
        mkdirat(AT_FDCWD, name.substr(0, end).c_str(), 0700);
    if (const char* folder = std::getenv("ASCENDOPT_FILES")) {
        const std::string given = std::string(folder) + "/" + name.substr(first);
        if (faccessat(AT_FDCWD, given.c_str(), R_OK, 0) == 0 &&
            symlinkat(given.c_str(), AT_FDCWD, path) == 0) {
            errno = before;
            return;
        }
    }
    int made = openat(AT_FDCWD, path, O_CREAT | O_EXCL | O_WRONLY, 0600);
    if (made >= 0) {
        const char* byte = std::getenv("ASCENDOPT_BYTE");
        if (write(made, byte ? byte : "", 1) == 1) say_absent(name.substr(first) + "\n");
        close(made);
    }
    errno = before;
}

template <typename Function> Function* real(Function*, const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace ascendopt

// Those of the C library, which streams call, too: what a program defines comes before a library's.
// Weak, as each of its sources has them.
#define ASCENDOPT_OPENED(name)                                                        \
    extern "C" __attribute__((weak)) FILE* name(const char* path, const char* mode) { \
        if (mode && mode[0] == 'r') ascendopt::make_absent(path);                     \
        return ascendopt::real(name, #name)(path, mode);                              \
    }
ASCENDOPT_OPENED(fopen)
ASCENDOPT_OPENED(fopen64)
#undef ASCENDOPT_OPENED

#define ASCENDOPT_OPENED(name)                                                                    \
    extern "C" __attribute__((weak)) int name(const char* path, int flags, ...) {                 \
        va_list more;                                                                             \
        va_start(more, flags);                                                                    \
        mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;                                 \
        va_end(more);                                                                             \
        if (!(flags & (O_CREAT | O_WRONLY | O_RDWR | O_DIRECTORY))) ascendopt::make_absent(path); \
        return ascendopt::real(name, #name)(path, flags, mode);                                   \
    }
ASCENDOPT_OPENED(open)
ASCENDOPT_OPENED(open64)
#undef ASCENDOPT_OPENED

#define ASCENDOPT_FOUND(name, kind)                                                            \
    extern "C" __attribute__((weak)) int name(const char* path, struct kind* found) noexcept { \
        ascendopt::make_absent(path);                                                          \
        return ascendopt::real(name, #name)(path, found);                                      \
    }
ASCENDOPT_FOUND(stat, stat)
ASCENDOPT_FOUND(stat64, stat64)
#undef ASCENDOPT_FOUND

extern "C" __attribute__((weak)) int access(const char* path, int how) noexcept {
    if (how == R_OK || how == F_OK) ascendopt::make_absent(path);
    return ascendopt::real(access, "access")(path, how);
}
