// Dtypes, formats, status codes, strings.
#pragma once

#include "detail/ge_shape.h"
#include "detail/types.h"
