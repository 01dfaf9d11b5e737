// Tiling data classes.
#pragma once

#include "detail/context.h"
#include "detail/op_impl.h"
#include "detail/tiling_data.h"
