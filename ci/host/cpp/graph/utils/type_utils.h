// Names and sizes of dtypes and formats.
#pragma once

#include "detail/types.h"
