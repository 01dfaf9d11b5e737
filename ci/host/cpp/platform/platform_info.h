// What the chip has.
#pragma once

#include "detail/platform.h"
