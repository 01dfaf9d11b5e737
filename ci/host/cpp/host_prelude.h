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
#include <vector>

#include "register/op_def_registry.h"
#include "register/tilingdata_base.h"
#include "graph/operator.h"
#include "tiling/tiling_api.h"

// Some sources count on the toolkit's headers for these.
#ifndef unlikely
#define likely(condition) __builtin_expect(!!(condition), 1)
#define unlikely(condition) __builtin_expect(!!(condition), 0)
#endif
