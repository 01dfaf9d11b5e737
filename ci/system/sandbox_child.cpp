// Takes on what confines it, then becomes the program.
//
//     sandbox_child FILTER LEVEL (=|/|+)PATH … -- PROGRAM …
//
// Started by sandbox.py where bubblewrap does not work. Compiled, because a search starts thousands
// of programs, each of which takes less time than an interpreter needs to begin. FILTER is a
// seccomp program in hex, LEVEL `landlock` or `limits`. A path with `=` may be read, one with `/`
// only listed, one with `+` written. Each is a word of its own, for the kernel limits the length of
// one. Ends with 126 rather than start a program that is not confined, with 127 where there is
// none.

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

// <linux/landlock.h>, which older systems lack; the numbers of its system calls are the same on
// every architecture.
constexpr long CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446;
constexpr int PATH_BENEATH = 1, VERSION_ONLY = 1;
constexpr long OLDEST_LANDLOCK =
    3;  // Below (Linux 6.2) any file of the user can be cut to nothing.
constexpr uint64_t EXECUTE = 1 << 0, WRITE_FILE = 1 << 1, READ_FILE = 1 << 2, READ_DIR = 1 << 3;
constexpr uint64_t TRUNCATE = 1 << 14, IOCTL = 1 << 15;
constexpr uint64_t OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL;
constexpr uint64_t READING = EXECUTE | READ_FILE | READ_DIR;
constexpr uint64_t SCOPES = 3;  // Abstract sockets and signals, from version 6 on.

struct RulesetAttributes {
    uint64_t handled_files, handled_network, scoped;
};

struct __attribute__((packed)) PathBeneath {
    uint64_t allowed;
    int32_t parent;
};

bool grant(int rules, const char* path, uint64_t granted) {
    const int place = open(path, O_PATH | O_CLOEXEC);
    if (place < 0) return true;  // What is not there cannot be opened either.
    struct stat about;
    if (fstat(place, &about)) return false;
    if (!S_ISDIR(about.st_mode)) granted &= OF_FILES;
    const PathBeneath rule{granted, place};
    const bool added = !syscall(ADD_RULE, rules, PATH_BENEATH, &rule, 0);
    close(place);
    return added;
}

// Lets this process and all it becomes open these paths only; false where it cannot be done.
bool close_files(char** paths, char** end) {
    const long version = syscall(CREATE_RULESET, nullptr, 0, VERSION_ONLY);
    if (version < OLDEST_LANDLOCK) return false;
    // Rights by version: 15 in the third and fourth, 16 from the fifth on.
    const uint64_t every = (uint64_t{1} << (version < 5 ? 15 : 16)) - 1;
    const RulesetAttributes attributes{every, 0, SCOPES};
    const size_t size = version < 6 ? sizeof(uint64_t) : sizeof attributes;
    const int rules = static_cast<int>(syscall(CREATE_RULESET, &attributes, size, 0));
    if (rules < 0) return false;
    for (; paths != end; ++paths) {
        uint64_t granted = every;
        if (**paths == '=') {
            granted = READING;
        } else if (**paths == '/') {
            granted = READ_DIR;
        } else if (**paths != '+') {
            return false;
        }
        if (!grant(rules, *paths + 1, granted & every)) return false;
    }
    const bool closed = !syscall(RESTRICT_SELF, rules, 0);
    close(rules);
    return closed;
}

bool install(const char* hex) {
    const size_t bytes = strlen(hex) / 2;
    auto* text = static_cast<unsigned char*>(malloc(bytes));
    for (size_t at = 0; text && at < bytes; ++at) {
        if (sscanf(hex + 2 * at, "%2hhx", text + at) != 1) return false;
    }
    const sock_fprog described{static_cast<unsigned short>(bytes / sizeof(sock_filter)),
                               reinterpret_cast<sock_filter*>(text)};
    return text && !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &described, 0, 0);
}

}  // namespace

int main(int count, char** words) {
    if (count < 5) return 126;
    const char *filter = words[1], *level = words[2];
    char** paths = words + 3;
    char** end = paths;
    while (*end && strcmp(*end, "--")) ++end;
    if (!*end || !end[1]) return 126;
    // Root without capabilities cannot look into processes of others.
    for (int capability = 0; capability < 64; ++capability) {
        prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
    }
    bool confined = !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    const bool closes = !strcmp(level, "landlock");
    if (!closes && strcmp(level, "limits")) return 126;
    if (confined && closes) confined = close_files(paths, end);
    if (confined && *filter) confined = install(filter);
    if (!confined) return 126;
    execvp(end[1], end + 1);
    perror(end[1]);
    return 127;
}
