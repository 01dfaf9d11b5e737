// Tiling of the high-level library.
#pragma once

#include "detail/log.h"
#include "detail/tiling_data.h"
