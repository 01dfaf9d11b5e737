// Registration of tiling, parse and inference functions.
#pragma once

#include "detail/log.h"
#include "detail/op_impl.h"
