// Contexts of host functions.
#pragma once

#include "detail/context.h"
