#include "scalar.h"

#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstring>

#include "block_length.h"
#include "constants.h"
#include "data_cache.h"
#include "decisions.h"
#include "fiber.h"
#include "gm.h"
#include "intrinsics_sync_copy.h"
#include "low_address.h"
#include "machine.h"
#include "message.h"
#include "processor.h"

namespace {

uint64_t executed = 0;   // instructions of scalar code so far
uint64_t divisions = 0;  // of them, that divide
uint64_t limit = ~0ull;
const void* lowest_stack = nullptr;

dav::BlockLengths block_lengths[2];  // of vector cores, of cube cores

[[noreturn]] __attribute__((noinline)) void too_long(void* site) {
    dav::fail(dav::Outcome::LAUNCH_ERROR, site, nullptr,
              "The kernel ran %llu instructions of scalar code; this looks like an endless loop.",
              static_cast<unsigned long long>(limit));
}

[[noreturn]] __attribute__((noinline)) void too_deep(void* site) {
    dav::fail(dav::Outcome::LAUNCH_ERROR, site, nullptr,
              "The kernel's stack takes more than the %.0f bytes that a core has for local "
              "variables and calls.",
              dav::constants().get("limit.stack_bytes"));
}

}  // namespace

// The compiler calls it at the start of every basic block of the kernel.
extern "C" void __sanitizer_cov_trace_pc() {
    const auto* next = static_cast<const uint8_t*>(__builtin_return_address(0));
    dav::BlockLengths::Length count{1, 0};
    for (dav::BlockLengths& lengths : block_lengths) {
        if (!lengths.holds(next)) continue;
        count = lengths.at(next);
        break;
    }
    if (__builtin_expect(decisions::pending.seen != nullptr, 0))
        decisions::went(next, dav::current);
    executed += count.all;
    divisions += count.divisions;
    if (__builtin_expect(executed > limit, 0)) too_long(__builtin_return_address(0));
    if (__builtin_expect(__builtin_frame_address(0) < lowest_stack, 0))
        too_deep(__builtin_return_address(0));
}

namespace dav {
namespace {

constexpr char DIVISION[] = "An integer division by zero or with overflow gave 0.";

uint64_t charged = 0;
uint64_t charged_divisions = 0;

// The AI core does not trap.
void on_division(int, siginfo_t*, void* raw) {
    auto& context = *static_cast<ucontext_t*>(raw);
    const void* site = program_counter(context);
    if (!pass_division(context))
        fail(Outcome::LAUNCH_ERROR, site, nullptr, "The kernel stopped on an arithmetic trap.");
    warn(site, "division", "", DIVISION);
}

void on_bad_access(int, siginfo_t* information, void* raw) {
    auto* context = static_cast<ucontext_t*>(raw);
    const void* site = program_counter(*context);
    const void* address = information->si_addr;
    if (redirect(address, context)) return;
    if (in_stack_guard(address)) too_deep(const_cast<void*>(site));
    fail(Outcome::MEMORY_ERROR, site, nullptr,
         "A scalar access through a raw pointer goes outside every tensor: %s.",
         describe_gm(reinterpret_cast<uint64_t>(address)).c_str());
}

void on_illegal(int, siginfo_t*, void* raw) {
    const auto* context = static_cast<ucontext_t*>(raw);
    fail(Outcome::LAUNCH_ERROR, program_counter(*context), nullptr,
         "The kernel executed an illegal instruction or aborted.");
}

}  // namespace

void charge_scalar_code() {
    if (current != nullptr) {
        current->scalar.pending.instructions += executed - charged;
        current->scalar.pending.counts[DIVISIONS] +=
            static_cast<uint32_t>(divisions - charged_divisions);
    }
    charged = executed;
    charged_divisions = divisions;
}

void count_scalar(unsigned long long instructions) { executed += instructions; }

unsigned long long scalar_instructions() { return executed; }

const void* stack_end = nullptr;

void limit_stack(const void* lowest, const void* end) {
    lowest_stack = lowest;
    stack_end = end;
}

void count_blocks_of(const link_map& library, bool cube) {
    block_lengths[cube] = BlockLengths(library);
}

void install_traps() {
    limit = static_cast<uint64_t>(constants().get("limit.scalar_instructions"));
    static uint8_t stack[64 * 1024];
    stack_t alternative{};
    alternative.ss_sp = stack;
    alternative.ss_size = sizeof(stack);
    sigaltstack(&alternative, nullptr);
    const auto install = [](int signal, void (*handler)(int, siginfo_t*, void*)) {
        struct sigaction action{};
        action.sa_sigaction = handler;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
        sigaction(signal, &action, nullptr);
    };
    install(SIGFPE, on_division);
    install(SIGSEGV, on_bad_access);
    install(SIGBUS, on_bad_access);
    install(SIGILL, on_illegal);
    install(SIGABRT, on_illegal);
    install_low_addresses();
}

void issue_scalar(uint32_t cycles) { current->scalar.pending.counts[CYCLES] += cycles; }

void count_scalar(ScalarUnit unit) { ++current->scalar.pending.counts[unit]; }

}  // namespace dav

// Called before a division by zero where that does not trap.
extern "C" void __ubsan_handle_divrem_overflow(void*, void*, void*) {
    dav::warn(__builtin_return_address(0), "division", "", dav::DIVISION);
}

void dav_scalar(uint32_t cycles) { dav::issue_scalar(cycles); }

void dcci(__gm__ void* address, uint64_t line) { dcci(address, line, CACHELINE_ALL); }

void dcci(__gm__ void* address, uint64_t line, uint64_t) {
    dav::count_scalar(dav::CACHE_FLUSHES);
    if (line == ENTIRE_DATA_CACHE) {
        dav::empty_cache();
        return;
    }
    dav::poll_line(reinterpret_cast<uint64_t>(address), __builtin_return_address(0));
    dav::empty_cache_line(reinterpret_cast<uint64_t>(address));
}

void dsb(uint64_t) { dav::issue_scalar(1); }

uint64_t get_sys_cnt() {
    // The chip's counter runs at 50 MHz; scalar work is the only clock there is before the timing
    // pass, so differences are a lower bound.
    static const double per_tick = dav::constants().get("clock.mhz") / 50.0;
    dav::charge_scalar_code();
    return static_cast<uint64_t>(double(dav::scalar_instructions()) / per_tick);
}

void trap() {
    dav::fail(dav::Outcome::LAUNCH_ERROR, __builtin_return_address(0), nullptr,
              "The kernel called trap().");
}
