// The base library of the ops-math layout.
#pragma once

#include "detail/small_floats.h"
