// What a program sees that also splits its work by the library for tilings: the host side's headers
// of our own, which the sources of operators are compiled with (ci/host/cpp).
#pragma once

#define ASCENDOPT_LIBRARY_TYPES
#include "program.h"

#include "detail/platform.h"
#include "detail/shared_tiling.h"
#include "register/op_def_registry.h"

template <> constexpr const char* ascendopt::type_name<half> = "half";
