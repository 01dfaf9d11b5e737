#include "scalar.h"

#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstring>

#include "block_length.h"
#include "constants.h"
#include "data_cache.h"
#include "fiber.h"
#include "gm.h"
#include "intrinsics_sync_copy.h"
#include "low_address.h"
#include "machine.h"
#include "message.h"

namespace {

uint64_t executed = 0;  // instructions of scalar code so far
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
    uint64_t count = 1;
    for (dav::BlockLengths& lengths : block_lengths) {
        if (!lengths.holds(next)) continue;
        count = lengths.at(next);
        break;
    }
    executed += count;
    if (__builtin_expect(executed > limit, 0)) too_long(__builtin_return_address(0));
    if (__builtin_expect(__builtin_frame_address(0) < lowest_stack, 0))
        too_deep(__builtin_return_address(0));
}

namespace dav {
namespace {

uint64_t charged = 0;

// Length of the x86 division at `code`, with its operand size and whether it is signed.
struct Division {
    int length = 0;
    int bits = 32;
    bool is_signed = false;
};

Division decode_division(const uint8_t* code) {
    Division division;
    int at = 0;
    bool operand16 = false;
    bool wide = false;
    for (; code[at] == 0x66 || code[at] == 0x2e || code[at] == 0x3e; ++at)
        operand16 |= code[at] == 0x66;
    if ((code[at] & 0xf0) == 0x40) wide = code[at++] & 8;
    const uint8_t opcode = code[at++];
    if (opcode != 0xf6 && opcode != 0xf7) return division;
    const uint8_t modrm = code[at++];
    const int operation = (modrm >> 3) & 7;
    if (operation != 6 && operation != 7) return division;
    const int mode = modrm >> 6;
    const int base = modrm & 7;
    if (mode != 3) {
        if (base == 4) {
            const uint8_t scaled = code[at++];
            if (mode == 0 && (scaled & 7) == 5) at += 4;
        } else if (mode == 0 && base == 5) {
            at += 4;
        }
        at += mode == 1 ? 1 : mode == 2 ? 4 : 0;
    }
    division.length = at;
    division.is_signed = operation == 7;
    division.bits = opcode == 0xf6 ? 8 : operand16 ? 16 : wide ? 64 : 32;
    return division;
}

// The AI core does not trap. Division by zero continues with quotient 0 and the dividend as the
// remainder; the one overflowing signed division keeps its dividend, as two's complement gives.
void on_division(int, siginfo_t*, void* raw) {
    auto* context = static_cast<ucontext_t*>(raw);
    greg_t* registers = context->uc_mcontext.gregs;
    const auto* code = reinterpret_cast<const uint8_t*>(registers[REG_RIP]);
    const Division division = decode_division(code);
    if (division.length == 0)
        fail(Outcome::LAUNCH_ERROR, code, nullptr, "The kernel stopped on an arithmetic trap.");
    warn(code, "division", "", "An integer division by zero or with overflow gave 0.");
    const auto low = static_cast<uint64_t>(registers[REG_RAX]);
    const bool overflow = division.is_signed &&
                          ((division.bits == 32 && uint32_t(low) == 0x80000000u &&
                            uint32_t(registers[REG_RDX]) == 0xffffffffu) ||
                           (division.bits == 64 && low == 1ull << 63 && registers[REG_RDX] == -1));
    if (division.bits == 8) {
        registers[REG_RAX] = static_cast<greg_t>((low & ~0xffffull) | ((low & 0xff) << 8));
    } else {
        const uint64_t part = division.bits == 64 ? ~0ull : (1ull << division.bits) - 1;
        const uint64_t keep = division.bits == 16 ? ~0xffffull : 0;
        const auto high = static_cast<uint64_t>(registers[REG_RDX]);
        registers[REG_RDX] = static_cast<greg_t>((high & keep) | (overflow ? 0 : low & part));
        registers[REG_RAX] = static_cast<greg_t>((low & keep) | (overflow ? low & part : 0));
    }
    registers[REG_RIP] += division.length;
}

void on_bad_access(int, siginfo_t* information, void* raw) {
    auto* context = static_cast<ucontext_t*>(raw);
    const void* site = reinterpret_cast<void*>(context->uc_mcontext.gregs[REG_RIP]);
    const void* address = information->si_addr;
    if (redirect(address, context)) return;
    if (in_stack_guard(address)) too_deep(const_cast<void*>(site));
    fail(Outcome::MEMORY_ERROR, site, nullptr,
         "A scalar access through a raw pointer goes outside every tensor: %s.",
         describe_gm(reinterpret_cast<uint64_t>(address)).c_str());
}

void on_illegal(int, siginfo_t*, void* raw) {
    const auto* context = static_cast<ucontext_t*>(raw);
    fail(Outcome::LAUNCH_ERROR, reinterpret_cast<void*>(context->uc_mcontext.gregs[REG_RIP]),
         nullptr, "The kernel executed an illegal instruction or aborted.");
}

}  // namespace

void charge_scalar_code() {
    if (current != nullptr) current->scalar.pending.instructions += executed - charged;
    charged = executed;
}

void count_scalar(unsigned long long instructions) { executed += instructions; }

unsigned long long scalar_instructions() { return executed; }

void limit_stack(const void* lowest) { lowest_stack = lowest; }

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
