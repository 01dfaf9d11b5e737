#include "fiber.h"

#include <sys/mman.h>
#include <ucontext.h>

#include <memory>
#include <string>
#include <vector>

#include "conflicts.h"
#include "constants.h"
#include "data_cache.h"
#include "image.h"
#include "machine.h"
#include "memory.h"
#include "scalar.h"
#include "signals.h"
#include "flags.h"
#include "use.h"

namespace dav {
namespace {

constexpr size_t STACK_BYTES = 2u << 20;
constexpr size_t GUARD_BYTES = 64u << 10;

struct Fiber {
    ucontext_t context;
    uint8_t* stack = nullptr;
    bool started = false;
    bool ended = false;
    bool (*ready)(void*) = nullptr;
    void* argument = nullptr;
    const char* what = "";
    const void* site = nullptr;
    bool polls = false;  // it may go on although it is not ready
};

ucontext_t scheduler;
std::vector<std::unique_ptr<Fiber>> fibers;
KernelEntries block_entries;
unsigned char** block_arguments;
int ended = 0;

// What the next kernel on this core finds.
void check_state_at_end() {
    if (current->copies.atomic != AtomicOperation::NONE)
        warn(current->copies.atomic_site, "state", "atomic",
             "Core %d ends with its atomic mode on; the next kernel may rely on it being off. "
             "SetAtomicNone turns it off.",
             current->index);
    const MaskState& left = mask();
    if (left.site != nullptr && (left.counter || left.low != ~0ull || left.high != ~0ull))
        warn(left.site, "state", "mask",
             left.counter
                 ? "Core %d ends with its vector mask in counter mode; the next kernel may rely on "
                   "the normal one. SetMaskNorm sets that."
                 : "Core %d ends with a vector mask of its own; the next kernel may rely on all "
                   "lanes being on. ResetMask turns them on.",
             current->index);
}

void start_block() {
    (current->cube ? block_entries.cube : block_entries.vector)(block_arguments);
    check_flags_at_end();
    check_state_at_end();
    if (launch().checked) {
        note_left_in_cache();
        if (!current->cube) note_left();
    }
    fibers[current->index]->ended = true;
    ++ended;
    append(Record::of(Kind::END, S, ""), nullptr);
}

void prepare(Fiber& fiber) {
    void* memory = mmap(nullptr, STACK_BYTES + GUARD_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        fail(Outcome::LAUNCH_ERROR, nullptr, nullptr, "No memory for a block's stack.");
    fiber.stack = static_cast<uint8_t*>(memory);
    mprotect(fiber.stack, GUARD_BYTES, PROT_NONE);
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack + GUARD_BYTES;
    fiber.context.uc_stack.ss_size = STACK_BYTES;
    fiber.context.uc_link = &scheduler;
    makecontext(&fiber.context, start_block, 0);
    fiber.started = true;
}

void resume(int index) {
    Fiber& fiber = *fibers[index];
    current = launch().cores[index];
    enter_image(index);
    if (!fiber.started) {
        take_memory(*current);
        prepare(fiber);
    }
    fiber.ready = nullptr;
    fiber.polls = false;
    // Frames are larger in a kernel that is built to be checked; the plain one is held to the
    // limit.
    static const size_t stack_bytes =
        launch().checked ? STACK_BYTES : static_cast<size_t>(constants().get("limit.stack_bytes"));
    const uint8_t* end = fiber.stack + GUARD_BYTES + STACK_BYTES;
    limit_stack(end - stack_bytes, end);
    swapcontext(&scheduler, &fiber.context);
    limit_stack(nullptr, nullptr);
    settle_scalar_store();
    charge_scalar_code();
    leave_image(index, fiber.ended);
    if (fiber.ended) {
        munmap(fiber.stack, STACK_BYTES + GUARD_BYTES);
        return_memory(*current);
    }
    current = nullptr;
}

// What the first cores that wait stand at, cores that only poll memory left out where others wait.
std::string waiting_cores(const void*& site) {
    constexpr int MOST = 3;
    std::string waiting;
    int named = 0;
    for (const bool polling : {false, true}) {
        if (polling && named > 0) break;
        for (size_t index = 0; index < fibers.size() && named < MOST; ++index) {
            const Fiber& fiber = *fibers[index];
            if (fiber.ended || fiber.polls != polling || !fiber.started) continue;
            if (named++ == 0) site = fiber.site;
            waiting += waiting.empty() ? "" : ", ";
            waiting += (launch().cores[index]->cube ? "cube core " : "core ") +
                       std::to_string(index) + " waits at " + fiber.what;
        }
    }
    return waiting;
}

[[noreturn]] void deadlock() {
    const void* site = nullptr;
    const std::string waiting = waiting_cores(site);
    fail(Outcome::LAUNCH_ERROR, site, nullptr,
         "deadlock: %s for ever; %d of %zu blocks ended without reaching it.", waiting.c_str(),
         ended, fibers.size());
}

}  // namespace

void run_blocks(const KernelEntries& entries, unsigned char** arguments) {
    block_entries = entries;
    block_arguments = arguments;
    const int count = static_cast<int>(launch().cores.size());
    for (int index = 0; index < count; ++index) fibers.push_back(std::make_unique<Fiber>());
    const int cores_a_block = launch().cubes_per_block + launch().vectors_per_block;
    std::vector<int> cores_left(launch().block_dim, cores_a_block);
    int finished_blocks = 0;
    constexpr int PATIENCE = 20000;
    bool look_again = false;  // nothing goes on but cores that poll memory
    int in_vain = 0;          // rounds in which they saw nothing new
    while (ended < count) {
        bool progress = false;
        for (int index = 0; index < count; ++index) {
            Fiber& fiber = *fibers[index];
            // A block starts when there are cores for it.
            const int block = launch().cores[index]->block;
            if (block >= finished_blocks + launch().resident_blocks) break;
            if (fiber.ended) continue;
            if (fiber.ready != nullptr && !(look_again && fiber.polls) &&
                !fiber.ready(fiber.argument))
                continue;
            resume(index);
            progress = true;
            if (fiber.ended && --cores_left[block] == 0) ++finished_blocks;
        }
        in_vain = look_again || !progress ? in_vain + 1 : 0;
        if ((!progress && look_again) || in_vain > PATIENCE) deadlock();
        look_again = !progress;
    }
    check_signals_at_end();
}

void wait_until(bool (*ready)(void*), void* argument, const char* what, const void* site) {
    Fiber& fiber = *fibers[current->index];
    while (!ready(argument)) {
        fiber.ready = ready;
        fiber.argument = argument;
        fiber.what = what;
        fiber.site = site;
        swapcontext(&fiber.context, &scheduler);
    }
}

void give_turn(bool (*ready)(void*), void* argument, const void* site) {
    Fiber& fiber = *fibers[current->index];
    fiber.ready = ready;
    fiber.argument = argument;
    fiber.what = "a message in global memory";
    fiber.site = site;
    fiber.polls = true;
    swapcontext(&fiber.context, &scheduler);
}

int ended_blocks() { return ended; }

bool in_stack_guard(const void* address) {
    if (current == nullptr) return false;
    const uint8_t* guard = fibers[current->index]->stack;
    return address >= guard && address < guard + GUARD_BYTES;
}

}  // namespace dav
