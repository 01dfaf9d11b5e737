// The dtypes and formats, and the base library.
#pragma once

#include "detail/ops_base.h"
