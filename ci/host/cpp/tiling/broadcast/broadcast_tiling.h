// The base library of the ops-math layout.
#pragma once

#include "detail/library_tiling.h"
