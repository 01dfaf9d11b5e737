#include "low_address.h"

#include <sys/mman.h>

#include "machine.h"
#include "processor.h"

namespace dav {
namespace {

uint8_t* room = nullptr;
bool stepping = false;

void on_step(int, siginfo_t*, void* raw) {
    auto& context = *static_cast<ucontext_t*>(raw);
    if (!stepping)
        fail(Outcome::LAUNCH_ERROR, program_counter(context), nullptr,
             "The kernel executed a breakpoint instruction.");
    stepping = false;
    run_on(context);
}

}  // namespace

bool is_low(const void* address) {
    return launch().true_offsets && reinterpret_cast<uint64_t>(address) < UB_BYTES;
}

void* true_address(const void* pointer) {
    if (current == nullptr || !is_low(pointer)) return const_cast<void*>(pointer);
    return current->ub + reinterpret_cast<uint64_t>(pointer);
}

void install_low_addresses() {
    if (!launch().true_offsets) return;
    void* memory =
        mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        fail(Outcome::LAUNCH_ERROR, nullptr, nullptr,
             "This computer allows no memory that is writable and executable, which kernels "
             "built against AscendC's own headers need for their scalar loads and stores.");
    room = static_cast<uint8_t*>(memory);
    struct sigaction action{};
    action.sa_sigaction = on_step;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigaction(SIGTRAP, &action, nullptr);
}

bool redirect(const void* address, ucontext_t* context) {
    if (current == nullptr || room == nullptr || stepping || !is_low(address)) return false;
    stepping = true;
    run_elsewhere(*context, address, true_address(address), room, current->ub, UB_BYTES);
    return true;
}

}  // namespace dav
