// The hooks of kernels that are built to be watched.
#include "decisions.h"

#include "machine.h"

DECISIONS_HOOKS(dav::current)

namespace {
// What follows from a conversion or a shift that C++ leaves open differs between processors.
void undefined(const void* site, const char* what) {
    dav::warn(site, "undefined", what,
              "C++ leaves open what this %s gives: other compilers and "
              "processors give something else.",
              what);
}
}  // namespace

// The hooks of -fsanitize=signed-integer-overflow.
#define WRAPS(name, what, ...)                                                              \
    extern "C" void __ubsan_handle_##name##_overflow(void*, __VA_ARGS__) {                  \
        if (dav::current == nullptr) return;                                                \
        dav::warn(__builtin_return_address(0), "wrapped", what,                             \
                  "This " what " of signed integers is larger than their type: it wraps."); \
    }
WRAPS(add, "sum", void*, void*)
WRAPS(sub, "difference", void*, void*)
WRAPS(mul, "product", void*, void*)
WRAPS(negate, "negation", void*)

// The hooks of -fsanitize=float-cast-overflow,shift.
extern "C" void __ubsan_handle_float_cast_overflow(void*, void*) {
    undefined(__builtin_return_address(0), "conversion");
}
extern "C" void __ubsan_handle_shift_out_of_bounds(void*, void*, void*) {
    undefined(__builtin_return_address(0), "shift");
}

// The hook of -fsanitize=bounds.
extern "C" void __ubsan_handle_out_of_bounds(void*, void* index) {
    if (dav::current == nullptr) return;
    dav::warn(__builtin_return_address(0), "overrun", "array",
              "Index %lld lies outside of its array of C++.",
              static_cast<long long>(reinterpret_cast<intptr_t>(index)));
}
