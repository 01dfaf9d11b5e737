// The dtypes and formats, and the base library.
#pragma once

#include "detail/types.h"
