#include "fiber.h"

#include <sys/mman.h>
#include <ucontext.h>

#include <memory>
#include <string>
#include <vector>

#include "image.h"
#include "machine.h"
#include "scalar.h"
#include "sync.h"

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
};

ucontext_t scheduler;
std::vector<std::unique_ptr<Fiber>> fibers;
void (*block_entry)(unsigned char**);
unsigned char** block_arguments;
int ended = 0;

void start_block() {
    block_entry(block_arguments);
    check_flags_at_end();
    fibers[current->index]->ended = true;
    ++ended;
    Record record;
    record.kind = Kind::END;
    append(record, nullptr);
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
    if (!fiber.started) prepare(fiber);
    fiber.ready = nullptr;
    swapcontext(&scheduler, &fiber.context);
    charge_basic_blocks();
    leave_image(index);
    if (fiber.ended) munmap(fiber.stack, STACK_BYTES + GUARD_BYTES);
    current = nullptr;
}

[[noreturn]] void deadlock() {
    std::string waiting;
    const void* site = nullptr;
    for (size_t index = 0; index < fibers.size(); ++index) {
        if (fibers[index]->ended) continue;
        if (site == nullptr) {
            site = fibers[index]->site;
            waiting = "core " + std::to_string(index) + " waits at " + fibers[index]->what;
        }
    }
    fail(Outcome::LAUNCH_ERROR, site, nullptr,
         "deadlock: %s for ever; %d of %zu blocks ended without reaching it.", waiting.c_str(),
         ended, fibers.size());
}

}  // namespace

void run_blocks(void (*entry)(unsigned char**), unsigned char** arguments) {
    block_entry = entry;
    block_arguments = arguments;
    for (int index = 0; index < launch().block_dim; ++index)
        fibers.push_back(std::make_unique<Fiber>());
    while (ended < launch().block_dim) {
        bool progress = false;
        for (int index = 0; index < launch().block_dim; ++index) {
            Fiber& fiber = *fibers[index];
            if (fiber.ended || (fiber.ready != nullptr && !fiber.ready(fiber.argument))) continue;
            resume(index);
            progress = true;
        }
        if (!progress) deadlock();
    }
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

int ended_blocks() { return ended; }

bool in_stack_guard(const void* address) {
    if (current == nullptr) return false;
    const uint8_t* guard = fibers[current->index]->stack;
    return address >= guard && address < guard + GUARD_BYTES;
}

}  // namespace dav
