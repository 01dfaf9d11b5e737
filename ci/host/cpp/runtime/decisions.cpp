// The hooks of host sources that are built to be watched.
#include "detail/decisions.h"

#include "runtime/runtime.h"

extern "C" const char __executable_start;

DECISIONS_HOOKS(nullptr)

extern "C" void __sanitizer_cov_trace_pc() {
    if (decisions::pending.seen != nullptr) decisions::went(__builtin_return_address(0), nullptr);
}

namespace host {
std::string decisions_seen() {
    return decisions::json([](const void* address) {
        return static_cast<const char*>(address) - &__executable_start;
    });
}
}  // namespace host

// The hooks of -fsanitize=float-cast-overflow,shift: what the language leaves open is refused.
extern "C" void __ubsan_handle_float_cast_overflow(void*, void*) { __builtin_trap(); }
extern "C" void __ubsan_handle_shift_out_of_bounds(void*, void*, void*) { __builtin_trap(); }
