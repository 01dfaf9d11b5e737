// The logging macros of host sources, by a short path.
#pragma once

#include "detail/ops_base.h"
