// Everything light that host sources include; precompiled once and included first.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "register/op_def_registry.h"
#include "detail/context.h"
#include "detail/library_tiling.h"
#include "detail/matmul_tiling.h"
#include "detail/op_impl.h"

// Some sources count on the toolkit's headers for these.
#ifndef unlikely
#define likely(condition) __builtin_expect(!!(condition), 1)
#define unlikely(condition) __builtin_expect(!!(condition), 0)
#endif
