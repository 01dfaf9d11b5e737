// The base library of the ops-math layout.
#pragma once

#include "detail/ops_base.h"
