// Dtypes, formats, status codes, strings.
#pragma once

#include "detail/types.h"
