// Tells where a signal ended the program: a line "crash 0x… 0x…" on stderr, offsets in this program
// from the innermost frame on. Each is that of a return address, one behind the instruction meant.
// Where it went by the null pointer of values that it may not read, "without N" names the input.
#include <csignal>
#include <cstdint>
#include <cstdio>

#include <execinfo.h>
#include <ucontext.h>
#include <unistd.h>

#include "runtime/runtime.h"

extern "C" const char __executable_start;
extern "C" const char _end;

namespace {
constexpr int kMostFrames = 64;
constexpr uintptr_t kNullBytes = 64 << 10;  // no program has memory there (vm.mmap_min_addr)
constexpr size_t kStackBytes = 64 << 10;

uint64_t interrupted(const void* context) {
    [[maybe_unused]] const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
    return static_cast<uint64_t>(machine.gregs[REG_RIP]) + 1;
#elif defined(__aarch64__)
    return machine.pc + 1;
#else
    return 0;
#endif
}

void tell(int signal, siginfo_t* info, void* context) {
    void* frames[kMostFrames];
    const int count = backtrace(frames, kMostFrames);
    const auto first = reinterpret_cast<uint64_t>(&__executable_start);
    const auto last = reinterpret_cast<uint64_t>(&_end);
    char text[32 * kMostFrames + 64] = "\ncrash";
    size_t length = 6;
    const auto add = [&](uint64_t address) {
        if (address < first || address >= last) return;
        length +=
            static_cast<size_t>(std::snprintf(text + length, sizeof text - length, " 0x%llx",
                                              static_cast<unsigned long long>(address - first)));
    };
    add(interrupted(context));
    for (int i = 0; i < count; ++i) add(reinterpret_cast<uint64_t>(frames[i]));
    const int input = gert::Tensor::asked_in_vain;
    if (signal == SIGSEGV && input >= 0 &&
        reinterpret_cast<uintptr_t>(info->si_addr) < kNullBytes) {
        length += static_cast<size_t>(
            std::snprintf(text + length, sizeof text - length, " without %d", input));
    }
    text[length++] = '\n';
    if (write(STDERR_FILENO, text, length) < 0) _exit(3);
    raise(signal);  // now as if nobody had looked
}
}  // namespace

void host::tell_crashes() {
    static char stack[kStackBytes];  // the program's own may be what ran out
    stack_t other = {};
    other.ss_sp = stack;
    other.ss_size = sizeof stack;
    sigaltstack(&other, nullptr);
    void* loaded[1];
    backtrace(loaded, 1);  // loads what it needs
    for (const int signal : {SIGFPE, SIGSEGV, SIGBUS, SIGILL, SIGABRT}) {
        struct sigaction action = {};
        action.sa_sigaction = tell;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK | static_cast<int>(SA_RESETHAND);
        sigaction(signal, &action, nullptr);
    }
}
